//! What windows run now, without changing anything.

use crate::clock::Clock;
use crate::plan::{Run, Skip};
use crate::schedule::Overlap;
use crate::store::record::{RunRecord, RunState, Trigger};
use crate::store::{Store, Transaction};
use crate::time::Instant;

use super::claim::{Reopened, reopen};
use super::overlap::overlapped;
use super::queue::{Next, Queue, Visited, Wanted};
use super::workflow::Planned;
use super::{EngineError, store_info};

/// What a claim without a limit would do now.
#[derive(Debug, Clone)]
pub struct Due {
    /// The instant that was asked about.
    pub now: Instant,
    /// The owed and open runs, in the order in which claims would hand them out.
    pub runs: Vec<DueRun>,
    /// What would be settled without a run.
    pub skipped: Vec<(String, Skip)>,
    /// The earliest instant after `now` at which an occurrence becomes due.
    pub next_due: Option<Instant>,
}

/// One run that would be handed out now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRun {
    /// The workflow.
    pub reference: String,
    /// The run.
    pub plan: Run,
    /// What caused it.
    pub trigger: Trigger,
    /// Empty for scheduled runs.
    pub request_id: String,
    /// The number that its next attempt would have, from 1.
    pub attempt: u32,
}

/// What windows run now.
///
/// # Errors
/// [`EngineError::Store`].
pub fn due(store: &mut dyn Store, clock: &dyn Clock) -> Result<Due, EngineError> {
    let mut tx = store.begin_read()?;
    store_info::for_read(&mut *tx)?;
    let now = clock.now();
    let last_planned = tx.info()?.and_then(|info| info.last_planned);
    let everything = Wanted { matches: &|_| true, trigger: None };
    let mut queue = Queue::new(now, last_planned, everything, usize::MAX);
    let mut runs = Vec::new();
    let mut skipped: Vec<(String, Skip)> = Vec::new();
    loop {
        match queue.next(&mut *tx)? {
            Next::Nothing | Next::Unknown => break,
            Next::Open(run) => {
                runs.extend(again(&mut *tx, *run, &mut queue, &mut skipped)?);
            }
            Next::Owed { index, run } => {
                let workflow = &queue.visited[index].planned.workflow;
                let (id, reference) = (workflow.id, workflow.reference.clone());
                queue.live.add(id, run.occurrence, Instant::MAX);
                runs.push(DueRun {
                    reference,
                    plan: run,
                    trigger: Trigger::Schedule,
                    request_id: String::new(),
                    attempt: 1,
                });
            }
        }
    }
    let mut next_due = tx.next_due_after(now)?;
    for Visited { planned, plan, .. } in queue.visited {
        let to_come = planned.next_due(now);
        next_due = [next_due, to_come].into_iter().flatten().min();
        let parts = planned.pass_over(&mut *tx, plan.skipped)?;
        skipped.extend(parts.into_iter().map(|skip| (planned.workflow.reference.clone(), skip)));
    }
    Ok(Due { now, runs, skipped, next_due })
}

/// The next attempt of an open run, if it has any left. What it overlapped is skipped once its
/// lease has expired.
fn again(
    tx: &mut dyn Transaction,
    run: RunRecord,
    queue: &mut Queue<'_>,
    skipped: &mut Vec<(String, Skip)>,
) -> Result<Option<DueRun>, EngineError> {
    let unknown = || EngineError::UnknownWorkflow { reference: run.reference.clone() };
    let workflow = queue.as_settled(tx.workflow(&run.reference)?.ok_or_else(unknown)?);
    if run.state == RunState::Claimed && workflow.policies.overlap == Overlap::Skip {
        let planned = Planned::load_one(tx, workflow.clone())?;
        if let Some(skip) = overlapped(&planned, &run, run.available.unwrap_or(queue.now())) {
            queue.note_settled(workflow.id, skip.last);
            let parts = planned.pass_over(tx, vec![skip])?;
            skipped.extend(parts.into_iter().map(|skip| (run.reference.clone(), skip)));
        }
    }
    Ok(match reopen(run, &workflow, queue.now())? {
        Reopened::Abandoned(_) | Reopened::Held => None,
        Reopened::Ready(run) if queue.live.keep_back(tx, &workflow, &run.key)? => None,
        Reopened::Ready(run) => {
            queue.note_handed(&run.key, Instant::MAX);
            Some(DueRun {
                plan: run.plan,
                trigger: run.trigger(),
                attempt: run.attempts + 1,
                reference: run.reference,
                request_id: run.key.request_id,
            })
        }
    })
}
