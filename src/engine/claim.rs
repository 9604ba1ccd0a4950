//! Hands out owed runs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::clock::Clock;
use crate::plan::Run;
use crate::schedule::Overlap;
use crate::store::lifecycle::{self, Expiry};
use crate::store::record::{
    Attempt, Progress, RunKey, RunRecord, RunState, SkipRecord, StoreInfo, Trigger, Workflow,
    WorkflowId,
};
use crate::store::{Store, Transaction};
use crate::time::{Instant, tzdb_version};

use super::EngineError;
use super::again::again;
use super::incidents::cursors_ahead;
use super::overlap::{LiveClaims, skip_before_end};
use super::queue::{Next, PLANNED_AT_MOST, Queue, Visited, Wanted};
use super::store_info;
use super::workflow::{Planned, skip_record};

/// What a worker asks for.
pub struct ClaimRequest<'a> {
    /// The worker's name.
    pub worker: &'a str,
    /// At most this many runs.
    pub limit: usize,
    /// How long each lease lasts, in milliseconds, at least 1.
    pub lease_ms: i64,
    /// Only workflows whose ref passes.
    pub matches: &'a dyn Fn(&str) -> bool,
    /// Only runs with this trigger.
    pub trigger: Option<Trigger>,
}

/// What a claim did.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The instant at which it was done.
    pub now: Instant,
    /// The runs handed out, in the order of their turns.
    pub runs: Vec<RunRecord>,
    /// What was settled without a run.
    pub skipped: Vec<SkipRecord>,
    /// The earliest instant after `now` at which an occurrence becomes due of a workflow that owes
    /// nothing. What the limit left is due already.
    pub next_due: Option<Instant>,
    /// The earliest instant after `now` at which an open run becomes available: the end of a
    /// delay or of a lease.
    pub next_available: Option<Instant>,
    /// The workflows whose cursor lies ahead of `now` by more than clocks differ, ordered by ref:
    /// the clock was set back, and until then they owe nothing.
    pub cursors_ahead: Vec<String>,
}

/// The default length of a lease: 5 minutes.
pub const DEFAULT_LEASE_MS: i64 = 5 * 60 * 1_000;

/// Hands out at most `limit` owed runs: expired leases first, then in the order of turns, then of
/// refs. Each hand-out settles its occurrence and everything before it that does not run, in one
/// transaction. What the limit leaves stays owed.
///
/// A run whose lease expired is handed out again until its workflow's `max_attempts`, then it is
/// abandoned.
///
/// # Errors
/// [`EngineError::Store`] and [`EngineError::OtherClock`]; nothing was changed.
pub fn claim(
    store: &mut dyn Store,
    clock: &dyn Clock,
    request: &ClaimRequest<'_>,
) -> Result<Claimed, EngineError> {
    let mut claimed = Claimed {
        now: clock.now(),
        runs: Vec::new(),
        skipped: Vec::new(),
        next_due: None,
        next_available: None,
        cursors_ahead: Vec::new(),
    };
    let mut beside = Beside::Others;
    loop {
        let once = again(store, |store| claim_once(store, clock, request, beside, claimed.clone()));
        let (reach, so_far) = match once {
            // What was handed out before has to reach its worker.
            Err(_) if !claimed.runs.is_empty() => return Ok(claimed),
            once => once?,
        };
        claimed = so_far;
        match reach {
            Reach::Everything => return Ok(claimed),
            Reach::NotAlone => beside = Beside::Nobody,
            Reach::PlannedAtMost => {}
        }
    }
}

/// One transaction of a claim, which adds to what was `claimed` before it.
fn claim_once(
    store: &mut dyn Store,
    clock: &dyn Clock,
    request: &ClaimRequest<'_>,
    beside: Beside,
    mut claimed: Claimed,
) -> Result<(Reach, Claimed), EngineError> {
    let mut tx = match beside {
        Beside::Others => store.begin_beside()?,
        Beside::Nobody => store.begin_write()?,
    };
    claimed.now = clock.now();
    let info = store_info::for_write(&mut *tx, clock)?;
    if store_info::must_be_alone(&*tx, &info) {
        return Ok((Reach::NotAlone, claimed));
    }
    let reach = HandOut::new(request, claimed.now).carry_out(&mut *tx, &info, &mut claimed)?;
    // Others may leave what they hold, and nobody would look for it before long.
    let is_passed_over = tx.has_passed_over() && claimed.runs.is_empty();
    if reach == Reach::Everything {
        claimed.cursors_ahead = cursors_ahead(&mut *tx, &info, claimed.now)?;
    }
    claimed.next_due = tx.next_due_after(claimed.now)?;
    claimed.next_available = tx.next_available_after(claimed.now)?;
    tx.commit()?;
    Ok(match reach {
        Reach::Everything if is_passed_over => (Reach::NotAlone, claimed),
        reach => (reach, claimed),
    })
}

/// Beside whom a claim looks for runs.
#[derive(Clone, Copy)]
enum Beside {
    /// Other claims, whose workflows it passes over.
    Others,
    /// No other writer.
    Nobody,
}

/// How far one transaction came.
#[derive(PartialEq, Eq)]
enum Reach {
    /// The limit, or the last owed run.
    Everything,
    /// Nothing yet: others hold what there may be, or it takes nobody else.
    NotAlone,
    /// As many workflows as one transaction may plan.
    PlannedAtMost,
}

/// The hand-outs of one transaction.
struct HandOut<'a> {
    request: &'a ClaimRequest<'a>,
    now: Instant,
    handing: HashMap<WorkflowId, Handing>,
    inserted: Vec<RunRecord>,
    updated: Vec<RunRecord>,
    /// The attempts that the updated runs leave behind.
    past: Vec<(RunKey, Attempt)>,
}

impl<'a> HandOut<'a> {
    fn new(request: &'a ClaimRequest<'a>, now: Instant) -> HandOut<'a> {
        HandOut {
            request,
            now,
            handing: HashMap::new(),
            inserted: Vec::new(),
            updated: Vec::new(),
            past: Vec::new(),
        }
    }

    fn carry_out(
        mut self,
        tx: &mut dyn Transaction,
        info: &StoreInfo,
        claimed: &mut Claimed,
    ) -> Result<Reach, EngineError> {
        let wanted = Wanted { matches: self.request.matches, trigger: self.request.trigger };
        let mut queue = Queue::new(self.now, info.last_planned, wanted, PLANNED_AT_MOST);
        let mut reach = Reach::Everything;
        while claimed.runs.len() < self.request.limit {
            match queue.next(tx)? {
                Next::Nothing => break,
                Next::Unknown => {
                    reach = Reach::PlannedAtMost;
                    break;
                }
                Next::Open(run) => {
                    let handed = self.retry(tx, *run, &mut queue.live, &mut claimed.skipped)?;
                    if let Some(run) = handed {
                        queue.note_handed(&run.key, run.available.unwrap_or(self.now));
                        claimed.runs.push(run);
                    }
                }
                Next::Owed { index, run } => {
                    let run = self.create(&queue.visited[index].planned.workflow, run)?;
                    let until = run.available.unwrap_or(self.now);
                    queue.live.add(run.key.workflow, run.key.occurrence, until);
                    claimed.runs.push(run);
                }
            }
        }
        self.write(tx, info, queue.visited, &mut claimed.skipped)?;
        Ok(reach)
    }

    /// Hands out an open run again, or abandons it.
    fn retry(
        &mut self,
        tx: &mut dyn Transaction,
        run: RunRecord,
        live: &mut LiveClaims,
        skipped: &mut Vec<SkipRecord>,
    ) -> Result<Option<RunRecord>, EngineError> {
        let handing = match self.handing.entry(run.key.workflow) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let unknown = || EngineError::UnknownWorkflow { reference: run.reference.clone() };
                place.insert(Handing::new(tx.workflow(&run.reference)?.ok_or_else(unknown)?))
            }
        };
        if run.state == RunState::Claimed {
            skipped.extend(handing.skip_before_expiry(tx, &run, self.now)?);
        }
        match reopen(run, &handing.workflow, self.now)? {
            Reopened::Held => Ok(None),
            Reopened::Abandoned(run) => {
                self.updated.push(run);
                Ok(None)
            }
            Reopened::Ready(run) if live.keep_back(tx, &handing.workflow, &run.key)? => Ok(None),
            Reopened::Ready(run) => {
                let handed = self.hand_out(run)?;
                self.past.extend(handed.past.map(|past| (handed.run.key.clone(), past)));
                self.updated.push(handed.run.clone());
                Ok(Some(handed.run))
            }
        }
    }

    /// Hands out an owed run for the first time.
    fn create(&mut self, workflow: &Workflow, plan: Run) -> Result<RunRecord, EngineError> {
        self.handing.entry(workflow.id).or_insert_with(|| Handing::new(workflow.clone()));
        let key = RunKey {
            occurrence: plan.occurrence,
            workflow: workflow.id,
            request_id: String::new(),
        };
        let tzdb = tzdb_version().to_owned();
        let run = RunRecord::pending(key, workflow.reference.clone(), plan, tzdb, plan.due);
        let handed = self.hand_out(run)?.run;
        self.inserted.push(handed.clone());
        Ok(handed)
    }

    fn hand_out(&mut self, run: RunRecord) -> Result<lifecycle::HandOut, EngineError> {
        let (trigger, id) = (run.trigger(), run.id());
        let handing = self.handing.get_mut(&run.key.workflow);
        let token = handing.map_or(0, |handing| handing.next_token(trigger, self.now));
        let workflow = run.key.workflow;
        let handed = run
            .hand_out(self.request.worker, token, self.now, self.request.lease_ms)
            .map_err(|source| EngineError::Refused { id, source })?;
        if let Some(handing) = self.handing.get_mut(&workflow) {
            handing.leased_until = handed.run.available;
        }
        Ok(handed)
    }

    /// Writes everything that was decided.
    fn write(
        mut self,
        tx: &mut dyn Transaction,
        info: &StoreInfo,
        visited: Vec<Visited>,
        skipped: &mut Vec<SkipRecord>,
    ) -> Result<(), EngineError> {
        let mut skips = Vec::new();
        let mut changes = Vec::with_capacity(visited.len());
        for Visited { planned, plan, given, held_until } in visited {
            let handing = self.handing.remove(&planned.workflow.id);
            let alone_until = handing.as_ref().and_then(Handing::alone_until);
            let mut progress =
                handing.map_or(planned.workflow.progress, |handing| handing.progress);
            // Ranges are settled with the run behind them, or alone where none is owed.
            if given.is_some() || plan.owed.is_none() {
                let settled =
                    given.map(|run| run.occurrence).or(plan.skipped.last().map(|skip| skip.last));
                if let Some(settled) = settled {
                    progress = planned.settled_until(settled, progress);
                }
                let parts = planned.pass_over(tx, plan.skipped)?;
                skips.extend(
                    parts.iter().map(|skip| skip_record(&planned.workflow, skip, self.now)),
                );
            }
            changes.push((planned, progress, held_until.max(alone_until)));
        }
        let others: Vec<_> = self.handing.into_values().collect();
        let after: Vec<_> =
            others.iter().map(|handing| (handing.progress, handing.alone_until())).collect();
        let workflows = others.into_iter().map(|handing| handing.workflow).collect();
        let loaded = Planned::load(tx, workflows)?.into_iter().zip(after);
        changes.extend(loaded.map(|(planned, (progress, until))| (planned, progress, until)));
        let has_planned = update_progress(tx, changes, self.now)?;
        tx.insert_runs(&self.inserted)?;
        tx.update_runs(&self.updated)?;
        tx.insert_past_attempts(&self.past)?;
        tx.insert_skips(&skips)?;
        skipped.append(&mut skips);
        if has_planned {
            store_info::note_planned(tx, info, self.now)?;
        }
        Ok(())
    }
}

/// An open run as a claim finds it.
pub(super) enum Reopened {
    /// It can be handed out.
    Ready(RunRecord),
    /// Its lease expired, and no attempt is left or wanted.
    Abandoned(RunRecord),
    /// Its workflow is paused.
    Held,
}

/// What becomes of an open run that is available. Of a retired workflow nothing is tried again.
pub(super) fn reopen(
    run: RunRecord,
    workflow: &Workflow,
    now: Instant,
) -> Result<Reopened, EngineError> {
    if workflow.marks.paused.is_some() && run.trigger() == Trigger::Schedule {
        return Ok(Reopened::Held);
    }
    if run.state == RunState::Pending {
        return Ok(Reopened::Ready(run));
    }
    let max_attempts =
        if workflow.marks.retired.is_some() { 0 } else { workflow.policies.max_attempts };
    let id = run.id();
    match run.expire(now, max_attempts).map_err(|source| EngineError::Refused { id, source })? {
        Expiry::Ready(run) => Ok(Reopened::Ready(run)),
        Expiry::Abandoned(run) => Ok(Reopened::Abandoned(run)),
    }
}

/// A workflow that hands out a run, with its progress so far.
struct Handing {
    workflow: Workflow,
    progress: Progress,
    /// The end of the lease that it is given.
    leased_until: Option<Instant>,
}

impl Handing {
    fn new(workflow: Workflow) -> Handing {
        Handing { progress: workflow.progress, workflow, leased_until: None }
    }

    /// Skips what the expired `run` overlapped.
    fn skip_before_expiry(
        &mut self,
        tx: &mut dyn Transaction,
        run: &RunRecord,
        now: Instant,
    ) -> Result<Vec<SkipRecord>, EngineError> {
        if self.workflow.policies.overlap != Overlap::Skip {
            return Ok(Vec::new());
        }
        let mut planned = Planned::load_one(tx, self.workflow.clone())?;
        let skipped = skip_before_end(tx, &mut planned, run, run.available.unwrap_or(now), now)?;
        let Progress { cursor, cursor_local_ms, .. } = planned.workflow.progress;
        self.progress = Progress { cursor, cursor_local_ms, ..self.progress };
        self.workflow = planned.workflow;
        Ok(skipped)
    }

    /// The end of the lease, where no other run may start before it.
    fn alone_until(&self) -> Option<Instant> {
        self.leased_until.filter(|_| self.workflow.policies.overlap != Overlap::Allow)
    }

    fn next_token(&mut self, trigger: Trigger, now: Instant) -> i64 {
        self.progress.last_token += 1;
        if trigger == Trigger::Schedule {
            self.progress.last_handed = Some(now);
        }
        self.progress.last_token
    }
}

/// Writes the progress of workflows and their new places in the queue, where anything changed.
/// True when anything did.
fn update_progress(
    tx: &mut dyn Transaction,
    changes: Vec<(Planned, Progress, Option<Instant>)>,
    now: Instant,
) -> Result<bool, EngineError> {
    let changes: Vec<(Planned, Progress)> = changes
        .into_iter()
        .map(|(planned, progress, held_until)| {
            let due = planned.due_key(progress, now).map(|key| key.held_until(held_until));
            (planned, Progress { due, ..progress })
        })
        .filter(|(planned, progress)| *progress != planned.workflow.progress)
        .collect();
    let changed: Vec<_> =
        changes.iter().map(|(planned, progress)| (&planned.workflow, *progress)).collect();
    tx.update_progress(&changed)?;
    Ok(!changed.is_empty())
}
