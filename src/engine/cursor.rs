//! Moves cursors by hand: forward past what need not run, or back where a clock ran ahead.

use crate::clock::Clock;
use crate::plan::{self, Skip, SkipReason, Timeline};
use crate::store::record::{Marks, Progress, SkipFilter, SkipRecord, StoreInfo, Workflow};
use crate::store::{Store, Transaction};
use crate::time::Instant;

use super::workflow::{Planned, each_workflow, read_revisions, skip_record};
use super::{EngineError, Mode, store_info};

/// What became of one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The workflow.
    pub reference: String,
    /// Where its cursor stood; `None` before its first run.
    pub before: Option<Instant>,
    /// Where it stands.
    pub cursor: Option<Instant>,
    /// What was settled by that without a run.
    pub skipped: Vec<SkipRecord>,
    /// How many skipped occurrences are unsettled again.
    pub restored: u64,
}

/// Sets the cursor of a workflow to the last occurrence at or before `to`.
///
/// Forward, what lies between is skipped, reason `cursor_set`, due or not. Back goes only a cursor
/// that is ahead of now: what was skipped after `to` is unsettled again, and occurrences that have
/// a scheduled run keep it and are passed over, so nothing runs twice.
///
/// # Errors
/// [`EngineError::CursorNotAhead`], [`EngineError::BehindHorizon`],
/// [`EngineError::UnknownWorkflow`], [`EngineError::OtherClock`], [`EngineError::Store`]; nothing
/// was changed.
pub fn set_cursor(
    store: &mut dyn Store,
    clock: &dyn Clock,
    reference: &str,
    to: Instant,
    mode: Mode,
) -> Result<Moved, EngineError> {
    let mut tx = store.begin_write()?;
    let now = clock.now();
    let info = store_info::for_write(&mut *tx, clock)?;
    let unknown = || EngineError::UnknownWorkflow { reference: reference.to_owned() };
    let workflow = tx.workflow(reference)?.ok_or_else(unknown)?;
    let moved = if to < settled(&workflow) {
        set_back(&mut *tx, workflow, to, now)?
    } else {
        set_forward(&mut *tx, workflow, to, now)?
    };
    if moved.cursor > info.set_ahead.max(Some(now)) {
        let info = tx.info()?.unwrap_or(info);
        tx.set_info(&StoreInfo { set_ahead: moved.cursor, ..info })?;
    }
    if mode == Mode::Write {
        tx.commit()?;
    }
    Ok(moved)
}

/// Sets every cursor that is ahead of now and of `to` back to the last occurrence at or before
/// `to`, as [`set_cursor`] does.
///
/// # Errors
/// [`EngineError::BehindHorizon`], [`EngineError::OtherClock`], [`EngineError::Store`]; nothing was
/// changed.
pub fn set_cursors_back(
    store: &mut dyn Store,
    clock: &dyn Clock,
    to: Instant,
    mode: Mode,
) -> Result<Vec<Moved>, EngineError> {
    let mut tx = store.begin_write()?;
    let now = clock.now();
    let info = store_info::for_write(&mut *tx, clock)?;
    let mut set_ahead = None;
    let moved = each_workflow(&mut *tx, &|_| true, |tx, workflow| {
        let settled = settled(&workflow);
        if settled <= now || settled <= to {
            set_ahead = set_ahead.max(workflow.progress.cursor.filter(|cursor| *cursor > now));
            // Its turn may have been kept while the clock ran ahead.
            if workflow.progress.due.is_some_and(|due| due.turn > now) {
                Planned::load_one(tx, workflow)?.requeue(tx, now)?;
            }
            return Ok(None);
        }
        let moved = set_back(tx, workflow, to, now)?;
        set_ahead = set_ahead.max(moved.cursor.filter(|cursor| *cursor > now));
        Ok(Some(moved))
    })?;
    // Nothing is kept at a later instant now, so claims need not look for it.
    let info = tx.info()?.unwrap_or(info);
    tx.set_info(&StoreInfo { last_planned: Some(now), set_ahead, ..info })?;
    if mode == Mode::Write {
        tx.commit()?;
    }
    Ok(moved.into_iter().flatten().collect())
}

/// The instant up to which everything is settled.
fn settled(workflow: &Workflow) -> Instant {
    workflow.progress.cursor.unwrap_or(workflow.registered)
}

fn set_forward(
    tx: &mut dyn Transaction,
    workflow: Workflow,
    to: Instant,
    now: Instant,
) -> Result<Moved, EngineError> {
    let before = workflow.progress.cursor;
    let mut planned = Planned::load_one(tx, workflow)?;
    let policies = planned.workflow.policies;
    let position = planned.position();
    let skip =
        plan::unsettled_until(&planned.timeline, &policies, position, to, SkipReason::CursorSet);
    let skipped = planned.settle(tx, skip, now)?;
    planned.requeue(tx, now)?;
    let Workflow { reference, progress, .. } = planned.workflow;
    Ok(Moved { reference, before, cursor: progress.cursor, skipped, restored: 0 })
}

fn set_back(
    tx: &mut dyn Transaction,
    workflow: Workflow,
    to: Instant,
    now: Instant,
) -> Result<Moved, EngineError> {
    let settled = settled(&workflow);
    let reference = workflow.reference.clone();
    if settled <= now {
        return Err(EngineError::CursorNotAhead { reference, cursor: settled, to });
    }
    if let Some(horizon) = workflow.marks.pruned_before.filter(|horizon| to < *horizon) {
        return Err(EngineError::BehindHorizon { reference, horizon, to });
    }
    let rows = tx.revisions(&[(workflow.id, None)])?.concat();
    let timeline = Timeline::new(&read_revisions(&reference, &rows)?);
    let before = workflow.progress.cursor;
    let marks = Marks { rewound_from: workflow.marks.rewound_from.max(before), ..workflow.marks };
    tx.update_marks(workflow.id, &marks)?;
    let restored = cut_skips(tx, &workflow, &timeline, to)?;
    let cursor =
        timeline.run_at_or_before(to).and_then(Result::ok).map_or(to, |run| run.occurrence);
    let mut planned = Planned { workflow: Workflow { marks, ..workflow }, timeline };
    let progress = planned.workflow.progress;
    let last_handed = progress.last_handed.map(|handed| handed.min(now));
    let progress = planned.settled_until(cursor, Progress { last_handed, ..progress });
    tx.update_progress(&[(&planned.workflow, progress)])?;
    planned.workflow.progress = progress;
    planned.requeue(tx, now)?;
    Ok(Moved { reference, before, cursor: Some(cursor), skipped: Vec::new(), restored })
}

/// Removes what was skipped after `to`, and tells how many occurrences that were.
fn cut_skips(
    tx: &mut dyn Transaction,
    workflow: &Workflow,
    timeline: &Timeline,
    to: Instant,
) -> Result<u64, EngineError> {
    let Some(after) = to.checked_add_ms(1) else { return Ok(0) };
    let later =
        SkipFilter { workflow: Some(workflow.id), from: Some(after), ..SkipFilter::default() };
    let skips = tx.skips(&later)?;
    let mut restored: u64 = skips.iter().map(|skip| skip.count).sum();
    tx.delete_skips(&skips)?;
    for skip in skips.iter().filter(|skip| skip.first <= to) {
        let SkipRecord { first, count, reason, revision, .. } = *skip;
        let whole = Skip { first, last: to, count, reason, revision };
        for part in plan::pass_over(timeline, whole, &[]) {
            restored -= part.count.min(restored);
            let kept = skip_record(workflow, &part, skip.skipped);
            tx.insert_skips(&[SkipRecord { tzdb: skip.tzdb.clone(), ..kept }])?;
        }
    }
    Ok(restored)
}
