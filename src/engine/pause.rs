//! Holds the scheduled runs of workflows back, and lets them go on.

use crate::clock::Clock;
use crate::plan::{self, SkipReason};
use crate::store::record::{
    Marks, PauseRecord, Resume, RunFilter, RunRecord, RunState, SkipRecord, Trigger, Workflow,
};
use crate::store::{Store, Transaction};
use crate::time::Instant;

use super::EngineError;
use super::store_info;
use super::workflow::{Planned, each_workflow};

/// Who asks for something, and why.
#[derive(Debug, Clone, Copy, Default)]
pub struct Note<'a> {
    /// Who.
    pub by: Option<&'a str>,
    /// Why.
    pub reason: Option<&'a str>,
}

/// What a pause or a resumption did with one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paused {
    /// The workflow.
    pub reference: String,
    /// The pause; `None` where a workflow that was not paused was to be resumed.
    pub pause: Option<PauseRecord>,
    /// What was skipped.
    pub skipped: Vec<SkipRecord>,
    /// The pending runs that were cancelled and the expired ones that were abandoned.
    pub ended: Vec<RunRecord>,
}

/// Holds back the scheduled runs of the workflows whose ref passes: owed ones, pending ones and
/// those whose lease expires. Live claims go on, and so do requested runs. What is paused already
/// stays so.
///
/// # Errors
/// [`EngineError::OtherClock`], [`EngineError::Store`]; nothing was changed.
pub fn pause(
    store: &mut dyn Store,
    clock: &dyn Clock,
    matches: &dyn Fn(&str) -> bool,
    note: Note<'_>,
) -> Result<Vec<Paused>, EngineError> {
    let mut tx = store.begin_write()?;
    let now = clock.now();
    store_info::for_write(&mut *tx, clock)?;
    let paused = each_workflow(&mut *tx, matches, |tx, workflow| {
        let reference = workflow.reference.clone();
        if let Some(from) = workflow.marks.paused {
            let pause = tx.pauses(workflow.id)?.into_iter().find(|pause| pause.from == from);
            return Ok(Paused { reference, pause, skipped: Vec::new(), ended: Vec::new() });
        }
        let pause = PauseRecord {
            workflow: workflow.id,
            from: now,
            to: None,
            by: note.by.map(str::to_owned),
            reason: note.reason.map(str::to_owned),
            resumed: None,
        };
        tx.put_pause(&pause)?;
        mark(tx, workflow, |marks| Marks { paused: Some(now), ..marks }, now)?;
        Ok(Paused { reference, pause: Some(pause), skipped: Vec::new(), ended: Vec::new() })
    })?;
    tx.commit()?;
    Ok(paused)
}

/// Lets the workflows whose ref passes go on. With [`Resume::CatchUp`] the catch-up rule decides
/// about what was missed. With [`Resume::Drop`] what is due and unsettled is skipped, pending
/// scheduled runs are cancelled, and scheduled runs whose lease has expired are abandoned; live
/// claims go on.
///
/// # Errors
/// [`EngineError::OtherClock`], [`EngineError::Store`]; nothing was changed.
pub fn resume(
    store: &mut dyn Store,
    clock: &dyn Clock,
    matches: &dyn Fn(&str) -> bool,
    policy: Resume,
) -> Result<Vec<Paused>, EngineError> {
    let mut tx = store.begin_write()?;
    let now = clock.now();
    store_info::for_write(&mut *tx, clock)?;
    let resumed =
        each_workflow(&mut *tx, matches, |tx, workflow| resume_one(tx, workflow, policy, now))?;
    tx.commit()?;
    Ok(resumed)
}

fn resume_one(
    tx: &mut dyn Transaction,
    workflow: Workflow,
    policy: Resume,
    now: Instant,
) -> Result<Paused, EngineError> {
    let reference = workflow.reference.clone();
    let Some(from) = workflow.marks.paused else {
        return Ok(Paused { reference, pause: None, skipped: Vec::new(), ended: Vec::new() });
    };
    let pauses = tx.pauses(workflow.id)?;
    let pause = pauses.into_iter().find(|pause| pause.from == from);
    let pause = pause.map(|pause| PauseRecord { to: Some(now), resumed: Some(policy), ..pause });
    if let Some(pause) = &pause {
        tx.put_pause(pause)?;
    }
    let (id, policies) = (workflow.id, workflow.policies);
    let mut planned = mark(tx, workflow, |marks| Marks { paused: None, ..marks }, now)?;
    if policy == Resume::CatchUp {
        return Ok(Paused { reference, pause, skipped: Vec::new(), ended: Vec::new() });
    }
    let position = planned.position();
    let skip = plan::unsettled_due(&planned.timeline, &policies, position, now, SkipReason::Paused);
    let skipped = planned.settle(tx, skip, now)?;
    planned.requeue(tx, now)?;
    let states = vec![RunState::Pending, RunState::Claimed];
    let open = tx.runs(&RunFilter { workflow: Some(id), states, ..RunFilter::default() })?;
    let scheduled = open.into_iter().filter(|run| run.trigger() == Trigger::Schedule);
    let ended: Vec<RunRecord> = scheduled.filter_map(|run| ended(run, now)).collect();
    tx.update_runs(&ended)?;
    Ok(Paused { reference, pause, skipped, ended })
}

/// A pending run cancelled, or a claimed one abandoned when its lease has expired.
pub(super) fn ended(run: RunRecord, now: Instant) -> Option<RunRecord> {
    match run.state {
        RunState::Pending => run.cancel().ok(),
        _ => match run.expire(now, 0).ok()? {
            crate::store::lifecycle::Expiry::Abandoned(run) => Some(run),
            crate::store::lifecycle::Expiry::Ready(_) => None,
        },
    }
}

/// Replaces the marks of a workflow, and gives it its new place in the queue.
pub(super) fn mark(
    tx: &mut dyn Transaction,
    workflow: Workflow,
    change: impl FnOnce(Marks) -> Marks,
    now: Instant,
) -> Result<Planned, EngineError> {
    let marks = change(workflow.marks);
    tx.update_marks(workflow.id, &marks)?;
    let mut planned = Planned::load_one(tx, Workflow { marks, ..workflow })?;
    planned.requeue(tx, now)?;
    Ok(planned)
}
