//! What the holder of a lease may do with its run.

use crate::clock::Clock;
use crate::schedule::Overlap;
use crate::store::lifecycle::{Finish, Finished, LifecycleError};
use crate::store::record::{Outcome, RunRecord, RunState, Workflow};
use crate::store::{RunId, Store, Transaction};
use crate::time::Instant;

use super::EngineError;
use super::again::again;
use super::batch::Batch;
use super::overlap::{LiveClaims, skip_before_end};
use super::store_info;
use super::workflow::Planned;

/// A run, and the token of the claim that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The run.
    pub id: RunId,
    /// The token.
    pub token: i64,
}

/// What a heartbeat brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// The lease is extended to now + this many milliseconds, at least 1.
    pub lease_ms: i64,
    /// JSON text to keep.
    pub output: Option<String>,
}

/// Extends the lease of a run to now + `lease_ms` (at least 1), or revives it after expiry.
/// `output` is JSON text to keep.
///
/// # Errors
/// [`EngineError::Refused`] when the token is not current, or the lease has expired and another
/// run holds the occurrence (or the workflow, where its runs do not overlap);
/// [`EngineError::UnknownRun`],
/// [`EngineError::UnknownWorkflow`], [`EngineError::OtherClock`], [`EngineError::Store`].
pub fn heartbeat(
    store: &mut dyn Store,
    clock: &dyn Clock,
    id: &RunId,
    token: i64,
    lease_ms: i64,
    output: Option<&str>,
) -> Result<RunRecord, EngineError> {
    transition(store, clock, id, |run, _, now| {
        run.heartbeat(token, now, lease_ms, output.map(str::to_owned)).map(Step::Changed)
    })
}

/// Extends the leases of several runs, all or none.
///
/// # Errors
/// As [`heartbeat`], for the first that is refused; nothing was changed.
pub fn heartbeat_all(
    store: &mut dyn Store,
    clock: &dyn Clock,
    beats: &[(Held, Heartbeat)],
) -> Result<Vec<RunRecord>, EngineError> {
    transitions(
        store,
        clock,
        beats,
        |(held, _)| &held.id,
        |(held, beat), run, _, now| {
            run.heartbeat(held.token, now, beat.lease_ms, beat.output.clone()).map(Step::Changed)
        },
    )
}

/// Ends the present attempt of a run.
///
/// # Errors
/// As [`heartbeat`]; [`EngineError::Refused`] also when it was finished before with another
/// outcome.
pub fn finish(
    store: &mut dyn Store,
    clock: &dyn Clock,
    id: &RunId,
    token: i64,
    finish: &Finish,
) -> Result<RunRecord, EngineError> {
    transition(store, clock, id, |run, workflow, now| end(run, workflow, now, token, finish))
}

/// Ends the present attempts of several runs, all or none.
///
/// # Errors
/// As [`finish`], for the first that is refused; nothing was changed.
pub fn finish_all(
    store: &mut dyn Store,
    clock: &dyn Clock,
    ends: &[(Held, Finish)],
) -> Result<Vec<RunRecord>, EngineError> {
    transitions(
        store,
        clock,
        ends,
        |(held, _)| &held.id,
        |(held, finish), run, workflow, now| end(run, workflow, now, held.token, finish),
    )
}

fn end(
    run: RunRecord,
    workflow: &Workflow,
    now: Instant,
    token: i64,
    finish: &Finish,
) -> Result<Step, LifecycleError> {
    let max_attempts = workflow.policies.max_attempts;
    Ok(match run.finish(token, now, finish.clone(), max_attempts)? {
        Finished::Recorded(run) => Step::Changed(run),
        Finished::AlreadySo(run) => Step::Unchanged(run),
    })
}

/// Gives a run back; the attempt does not count.
///
/// # Errors
/// As [`heartbeat`].
pub fn release(
    store: &mut dyn Store,
    clock: &dyn Clock,
    id: &RunId,
    token: i64,
) -> Result<RunRecord, EngineError> {
    transition(store, clock, id, |run, _, now| run.release(token, now).map(Step::Changed))
}

/// Gives several runs back, all or none.
///
/// # Errors
/// As [`release`], for the first that is refused; nothing was changed.
pub fn release_all(
    store: &mut dyn Store,
    clock: &dyn Clock,
    helds: &[Held],
) -> Result<Vec<RunRecord>, EngineError> {
    transitions(
        store,
        clock,
        helds,
        |held| &held.id,
        |held, run, _, now| run.release(held.token, now).map(Step::Changed),
    )
}

/// What a transition leads to.
enum Step {
    Changed(RunRecord),
    /// There is nothing to write.
    Unchanged(RunRecord),
}

/// Carries out one transition of one run in a transaction of its own.
fn transition(
    store: &mut dyn Store,
    clock: &dyn Clock,
    id: &RunId,
    step: impl Fn(RunRecord, &Workflow, Instant) -> Result<Step, LifecycleError>,
) -> Result<RunRecord, EngineError> {
    write(store, clock, |tx, now| {
        let mut batch = Batch::load(tx, std::iter::once(id))?;
        let run = carry_out(tx, &mut batch, id, now, |run, workflow| step(run, workflow, now))?;
        batch.write(tx)?;
        Ok(run)
    })
}

/// Carries out one transition of each of several runs in one transaction.
fn transitions<T>(
    store: &mut dyn Store,
    clock: &dyn Clock,
    items: &[T],
    id: impl Fn(&T) -> &RunId,
    step: impl Fn(&T, RunRecord, &Workflow, Instant) -> Result<Step, LifecycleError>,
) -> Result<Vec<RunRecord>, EngineError> {
    write(store, clock, |tx, now| {
        let mut batch = Batch::load(tx, items.iter().map(&id))?;
        let mut runs = Vec::with_capacity(items.len());
        for item in items {
            let step = |run, workflow: &Workflow| step(item, run, workflow, now);
            runs.push(carry_out(tx, &mut batch, id(item), now, step)?);
        }
        batch.write(tx)?;
        Ok(runs)
    })
}

/// Does `work` in a transaction beside other writers, or alone where it has to be.
fn write<T>(
    store: &mut dyn Store,
    clock: &dyn Clock,
    work: impl Fn(&mut dyn Transaction, Instant) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    again(store, |store| {
        let mut tx = store.begin_beside()?;
        let info = store_info::for_write(&mut *tx, clock)?;
        if store_info::must_be_alone(&*tx, &info) {
            drop(tx);
            tx = store.begin_write()?;
            store_info::for_write(&mut *tx, clock)?;
        }
        let now = clock.now();
        let done = work(&mut *tx, now)?;
        tx.commit()?;
        Ok(done)
    })
}

fn carry_out(
    tx: &mut dyn Transaction,
    batch: &mut Batch,
    id: &RunId,
    now: Instant,
    step: impl FnOnce(RunRecord, &Workflow) -> Result<Step, LifecycleError>,
) -> Result<RunRecord, EngineError> {
    let (workflow, run) = batch.find(id)?;
    let expiry = run.available;
    let step =
        step(run, &workflow).map_err(|source| EngineError::Refused { id: id.clone(), source })?;
    match step {
        Step::Unchanged(run) => Ok(run),
        Step::Changed(run) => {
            // Of a retired workflow nothing is tried again.
            let run = match run.state {
                RunState::Pending if workflow.marks.retired.is_some() => run
                    .cancel()
                    .map_err(|source| EngineError::Refused { id: id.clone(), source })?,
                _ => run,
            };
            if run.state == RunState::Claimed && expiry <= Some(now) {
                // What takes its place may have ended just before.
                batch.write(tx)?;
                refuse_revival(tx, &workflow, &run, now)?;
            }
            batch.put(&run);
            if workflow.policies.overlap != Overlap::Allow && run.state != RunState::Claimed {
                batch.write(tx)?;
                make_room(tx, workflow, &run, expiry, now)?;
                batch.reload(tx, &id.reference)?;
            }
            Ok(run)
        }
    }
}

/// Refuses to revive a lease where another run took its place meanwhile.
fn refuse_revival(
    tx: &mut dyn Transaction,
    workflow: &Workflow,
    run: &RunRecord,
    now: Instant,
) -> Result<(), EngineError> {
    if !LiveClaims::at(now).keep_back(tx, workflow, &run.key)? {
        return Ok(());
    }
    let token = run.attempt.as_ref().map_or(0, |attempt| attempt.token);
    Err(EngineError::Refused { id: run.id(), source: LifecycleError::LostLease { token } })
}

/// Lets the next run of a workflow start that was held back by `run`, which ended.
fn make_room(
    tx: &mut dyn Transaction,
    workflow: Workflow,
    run: &RunRecord,
    expiry: Option<Instant>,
    now: Instant,
) -> Result<(), EngineError> {
    let mut planned = Planned::load_one(tx, workflow)?;
    let is_released =
        run.attempt.as_ref().is_some_and(|attempt| attempt.outcome == Some(Outcome::Released));
    if !is_released {
        let end = expiry.map_or(now, |expiry| expiry.min(now));
        skip_before_end(tx, &mut planned, run, end, now)?;
    }
    planned.requeue(tx, now)
}
