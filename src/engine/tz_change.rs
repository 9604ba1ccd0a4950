//! Follows a change of the tz database: no local time runs twice, and none is lost silently.
//!
//! A new tz database moves the instants of authored local times. What was settled stays settled;
//! what stands around each cursor is held against the local time that the cursor had when it was
//! settled. All workflows are followed at once, at the first write under the new version, so every
//! place in the queue is right from then on.

use crate::clock::Clock;
use crate::plan::{self, Run, SkipReason};
use crate::store::record::{Marks, SkipFilter, StoreInfo, Workflow};
use crate::store::{Store, Transaction};
use crate::time::{Instant, Resolution, tzdb_version};

use super::EngineError;
use super::workflow::{Planned, each_workflow, read_revisions, skip_record};

/// No zone moves its clocks by more than this, in milliseconds.
const MOVED_AT_MOST_MS: i64 = 3 * 86_400_000;

/// Takes the tz database of this program for a store that has seen a newer one, and records that:
/// the store follows it as it followed the newer one.
///
/// # Errors
/// [`EngineError::OtherClock`], [`EngineError::Store`]; nothing was changed.
pub fn accept_older_tzdb(store: &mut dyn Store, clock: &dyn Clock) -> Result<(), EngineError> {
    let mut tx = store.begin_write()?;
    match tx.info()? {
        Some(info) if info.clock != clock.kind() => {
            Err(EngineError::OtherClock { store: info.clock })
        }
        Some(info) if is_other(&info) => {
            follow(&mut *tx, info, clock.now())?;
            Ok(tx.commit()?)
        }
        _ => Ok(()),
    }
}

/// Whether a store was last written under another version.
pub(super) fn is_other(info: &StoreInfo) -> bool {
    info.tzdb != tzdb_version()
}

/// Refuses to work on calendar cadences with an older tz database than the store has seen.
pub(super) fn refuse_older(tx: &mut dyn Transaction, info: &StoreInfo) -> Result<(), EngineError> {
    if info.tzdb.as_str() <= tzdb_version() {
        return Ok(());
    }
    let depends = each_workflow(tx, &|_| true, |tx, workflow| {
        Ok(Planned::load_one(tx, workflow)?.timeline.has_calendar())
    })?;
    if depends.contains(&true) {
        return Err(EngineError::OlderTzdb { store: info.tzdb.clone() });
    }
    Ok(())
}

/// Follows a change to the version of this program.
pub(super) fn follow(
    tx: &mut dyn Transaction,
    info: StoreInfo,
    now: Instant,
) -> Result<StoreInfo, EngineError> {
    each_workflow(tx, &|_| true, |tx, workflow| follow_one(tx, workflow, now))?;
    let info = StoreInfo { tzdb: tzdb_version().to_owned(), ..tx.info()?.unwrap_or(info) };
    tx.set_info(&info)?;
    Ok(info)
}

fn follow_one(
    tx: &mut dyn Transaction,
    workflow: Workflow,
    now: Instant,
) -> Result<(), EngineError> {
    let rows = tx.revisions(&[(workflow.id, None)])?.concat();
    let timeline = plan::Timeline::new(&read_revisions(&workflow.reference, &rows)?);
    if !timeline.has_calendar() {
        return Ok(());
    }
    let mut planned = Planned { workflow, timeline };
    let progress = planned.workflow.progress;
    if let Some((cursor, local_ms)) = progress.cursor.zip(progress.cursor_local_ms) {
        note_passed(tx, &mut planned, cursor, local_ms, now)?;
        skip_repeated(tx, &mut planned, cursor, local_ms, now)?;
    }
    planned.requeue(tx, now)
}

/// Skips the occurrences after the cursor whose local time was settled before.
fn skip_repeated(
    tx: &mut dyn Transaction,
    planned: &mut Planned,
    cursor: Instant,
    local_ms: i64,
    now: Instant,
) -> Result<(), EngineError> {
    let is_repeated = |run: &Run| {
        // The second pass of a fold names a local time again, and is meant to.
        run.authored.local_ms <= local_ms && run.authored.resolution != Resolution::FoldLast
    };
    let until = cursor.checked_add_ms(MOVED_AT_MOST_MS).unwrap_or(Instant::MAX);
    let revision = planned.timeline.revision_at(cursor);
    let after = planned.timeline.runs(cursor.just_after(), until).map_while(Result::ok);
    let repeated = after
        .take_while(|run| Some(run.revision) == revision && is_repeated(run))
        .last()
        .map(|run| run.occurrence);
    if let Some(last) = repeated {
        let (policies, position) = (planned.workflow.policies, planned.position());
        let reason = SkipReason::TzChange;
        let skip = plan::unsettled_until(&planned.timeline, &policies, position, last, reason);
        planned.settle(tx, skip, now)?;
    }
    Ok(())
}

/// Records the occurrences that moved behind the cursor and were never settled.
fn note_passed(
    tx: &mut dyn Transaction,
    planned: &mut Planned,
    cursor: Instant,
    local_ms: i64,
    now: Instant,
) -> Result<(), EngineError> {
    let Workflow { id, registered, marks, .. } = planned.workflow;
    let from = cursor.checked_add_ms(-MOVED_AT_MOST_MS).unwrap_or(Instant::MIN);
    // From before the registration or the horizon nothing is owed.
    let from = from.max(registered.just_after()).max(marks.pruned_before.unwrap_or(Instant::MIN));
    let revision = planned.timeline.revision_at(cursor);
    let end = cursor.just_after().max(from);
    let moved: Vec<Instant> = planned
        .timeline
        .runs(from, end)
        .map_while(Result::ok)
        .filter(|run| Some(run.revision) == revision && run.authored.local_ms > local_ms)
        .map(|run| run.occurrence)
        .collect();
    for occurrence in moved {
        let (from, to) = (Some(occurrence), Some(occurrence.just_after()));
        let meets = SkipFilter { workflow: Some(id), from, to, ..SkipFilter::default() };
        if planned.has_run(tx, occurrence)? || !tx.skips(&meets)?.is_empty() {
            continue;
        }
        let position = plan::Position { cursor: Some(occurrence.just_before()), registered };
        let policies = planned.workflow.policies;
        let skip = plan::unsettled_until(
            &planned.timeline,
            &policies,
            position,
            occurrence,
            SkipReason::TzPassed,
        );
        let passed = skip.map(|skip| skip_record(&planned.workflow, &skip, now));
        tx.insert_skips(passed.as_slice())?;
        let marks = Marks { tz_passed: Some(occurrence), ..planned.workflow.marks };
        tx.update_marks(id, &marks)?;
        planned.workflow.marks = marks;
    }
    Ok(())
}
