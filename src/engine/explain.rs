//! What became, or will become, of each occurrence.
//!
//! Records come first: what was settled is told from them and never computed anew, so a change of
//! the tz database changes no past. What is not settled is told as a claim would decide it now.

use std::collections::VecDeque;

use crate::clock::Clock;
use crate::plan::{Plan, Revision, Run, Skip, Timeline};
use crate::schedule::FirstRun;
use crate::store::fate::{Explained, Fate};
use crate::store::record::{
    Attempt, PauseRecord, RunFilter, RunRecord, SkipFilter, SkipRecord, Trigger, Workflow,
};
use crate::store::{Store, Transaction};
use crate::time::Instant;

use super::pages::Pages;
use super::workflow::{Planned, read_revisions};
use super::{EngineError, store_info};

/// Tells for each occurrence in `[from, to)` of the workflow `reference` what became of its
/// scheduled run, in the order of occurrences, and after each what became of the runs requested for
/// it. A skipped range that meets the span is told whole, once.
///
/// Cost and memory grow with what is told and with the skip records of the span, not with what
/// the skips contain.
///
/// # Errors
/// [`EngineError::UnknownWorkflow`], [`EngineError::Plan`], [`EngineError::Store`], and what `each`
/// reports.
pub fn explain<E: From<EngineError>>(
    store: &mut dyn Store,
    clock: &dyn Clock,
    reference: &str,
    (from, to): (Instant, Instant),
    each: impl FnMut(Explained) -> Result<(), E>,
) -> Result<(), E> {
    let mut tx = store.begin_read().map_err(EngineError::from)?;
    let tx = &mut *tx;
    store_info::for_read(tx)?;
    let now = clock.now();
    let mut walk = Walk::new(tx, reference, (from, to), now, each)?;
    let workflow = &walk.known.planned.workflow;
    let mut requests = pruned_requests(tx, workflow, from, to)?;
    let workflow = Some(workflow.id);
    let filter = RunFilter { workflow, from: Some(from), to: Some(to), ..RunFilter::default() };
    let mut runs = Pages::new();
    loop {
        runs.fill(|last, page| tx.runs(&filter.page_after(last, page)), |_| true)?;
        let next = runs.pop();
        let is_before = |(occurrence, id): &(Instant, String)| match &next {
            None => true,
            Some(RunRecord { key, .. }) => (occurrence, id) < (&key.occurrence, &key.request_id),
        };
        while let Some((occurrence, request_id)) = pop_if(&mut requests, is_before) {
            walk.advance(occurrence.just_after())?;
            let fate = Fate::PrunedRequest { occurrence, request_id };
            (walk.each)(Explained { fate, pause: None })?;
        }
        let Some(run) = next else { break };
        let past = tx.past_attempts(&run.key).map_err(EngineError::from)?;
        walk.record(run, past)?;
    }
    walk.advance(to)
}

/// The walk along the timeline between the runs on record.
struct Walk<F> {
    known: Known,
    /// Everything before is told.
    at: Instant,
    /// The stretches to tell, by their first instant.
    stretches: VecDeque<Stretch>,
    each: F,
}

/// What the fates are told from, beside the runs.
struct Known {
    planned: Planned,
    plan: Plan,
    pauses: Vec<PauseRecord>,
    now: Instant,
    /// The first occurrence that may ever have been owed: of those up to the registration only the
    /// newest that was due, and that only where it is a first run.
    oldest_owed: Option<Instant>,
}

/// Several occurrences that share a fate.
struct Stretch {
    first: Instant,
    last: Instant,
    fate: Fate,
}

impl<E: From<EngineError>, F: FnMut(Explained) -> Result<(), E>> Walk<F> {
    fn new(
        tx: &mut dyn Transaction,
        reference: &str,
        (from, to): (Instant, Instant),
        now: Instant,
        each: F,
    ) -> Result<Self, EngineError> {
        let unknown = || EngineError::UnknownWorkflow { reference: reference.to_owned() };
        let workflow = tx.workflow(reference)?.ok_or_else(unknown)?;
        let rows = tx.revisions(&[(workflow.id, None)])?.concat();
        let revisions = read_revisions(reference, &rows)?;
        let planned = Planned { workflow, timeline: Timeline::new(&revisions) };
        let known = Known::of(tx, planned, now)?;
        let workflow = Some(known.planned.workflow.id);
        let within =
            SkipFilter { workflow, from: Some(from), to: Some(to), ..SkipFilter::default() };
        let mut stretches: Vec<Stretch> =
            tx.skips(&within)?.into_iter().map(Stretch::skipped).collect();
        let to_be_skipped = known.planned.pass_over(tx, known.plan.skipped.clone())?;
        let to_be_skipped = to_be_skipped.into_iter().map(Stretch::to_be_skipped);
        stretches.extend(to_be_skipped.filter(|skip| skip.first < to && skip.last >= from));
        stretches.extend(without_schedule(&revisions, from, to));
        stretches.retain(|_| from < to);
        stretches.sort_by_key(|stretch| stretch.first);
        Ok(Walk { known, at: from, stretches: stretches.into(), each })
    }

    /// Tells of a run on record, after everything before it.
    fn record(&mut self, run: RunRecord, past: Vec<Attempt>) -> Result<(), E> {
        let occurrence = run.key.occurrence;
        let mut pause = None;
        if run.trigger() == Trigger::Schedule {
            self.advance(occurrence)?;
            self.at = occurrence.just_after();
            pause = self.known.pause_at(run.plan.due);
        } else {
            self.advance(occurrence.just_after())?;
        }
        (self.each)(Explained { fate: Fate::Recorded { run: Box::new(run), past }, pause })
    }

    /// Tells of everything before `until` that has no run on record.
    fn advance(&mut self, until: Instant) -> Result<(), E> {
        while let Some(next) = pop_if(&mut self.stretches, |next| next.first < until) {
            self.compute(next.first)?;
            self.at = self.at.max(next.last.just_after());
            let pause = match &next.fate {
                Fate::Skipped(skip) => self.known.pause_that_ended(skip.skipped),
                _ => None,
            };
            (self.each)(Explained { fate: next.fate, pause })?;
        }
        self.compute(until)
    }

    /// Tells of the occurrences before `until` whose fate is not on record.
    fn compute(&mut self, until: Instant) -> Result<(), E> {
        let Workflow { reference, registered, marks, progress, .. } = &self.known.planned.workflow;
        let recorded_from =
            registered.just_after().max(marks.pruned_before.unwrap_or(Instant::MIN));
        let unsettled_from =
            progress.cursor.map_or(Instant::MIN, Instant::just_after).max(recorded_from);
        // Between the two only the records know.
        for (from, to) in [(Instant::MIN, recorded_from), (unsettled_from, Instant::MAX)] {
            let (from, to) = (from.max(self.at), to.min(until));
            for run in self.known.planned.timeline.runs(from, to.max(from)) {
                let run = run.map_err(|source| plan_error(reference, source))?;
                let pause = self.known.pause_at(run.due);
                (self.each)(Explained { fate: self.known.fate(run), pause })?;
            }
        }
        self.at = self.at.max(until);
        Ok(())
    }
}

impl Known {
    fn of(tx: &mut dyn Transaction, planned: Planned, now: Instant) -> Result<Known, EngineError> {
        let Workflow { reference, registered, policies, .. } = &planned.workflow;
        let oldest_owed = match policies.first_run {
            FirstRun::Next => Some(registered.just_after()),
            FirstRun::Newest => {
                let newest = planned.timeline.run_due(*registered).transpose();
                let newest = newest.map_err(|source| plan_error(reference, source))?;
                newest.map(|run| run.occurrence)
            }
        };
        Ok(Known {
            plan: planned.plan(now),
            pauses: tx.pauses(planned.workflow.id)?,
            oldest_owed,
            now,
            planned,
        })
    }

    /// The fate of an occurrence that has no record.
    fn fate(&self, run: Run) -> Fate {
        let Workflow { registered, policies, progress, marks, .. } = &self.planned.workflow;
        let settled = progress.cursor.or(match policies.first_run {
            FirstRun::Newest => None,
            FirstRun::Next => Some(*registered),
        });
        let occurrence = run.occurrence;
        if settled.is_none_or(|settled| occurrence > settled) {
            if run.due > self.now {
                return Fate::NotYetDue(run);
            }
            let owed =
                self.plan.owed.is_some_and(|owed| (owed.first..=owed.last).contains(&occurrence));
            if owed {
                return Fate::Owed(run);
            }
        } else if marks.pruned_before.is_some_and(|horizon| occurrence < horizon)
            && self.oldest_owed.is_none_or(|oldest| occurrence >= oldest)
        {
            return Fate::Pruned(run);
        }
        Fate::BeforeRegistration(run)
    }

    /// The pause that lasted at an instant.
    fn pause_at(&self, instant: Instant) -> Option<PauseRecord> {
        let lasted =
            |pause: &&PauseRecord| pause.from <= instant && pause.to.is_none_or(|to| instant < to);
        self.pauses.iter().find(lasted).cloned()
    }

    /// The pause that ended at an instant, and skipped what it had held back.
    fn pause_that_ended(&self, instant: Instant) -> Option<PauseRecord> {
        self.pauses.iter().find(|pause| pause.to == Some(instant)).cloned()
    }
}

impl Stretch {
    fn skipped(skip: SkipRecord) -> Stretch {
        Stretch { first: skip.first, last: skip.last, fate: Fate::Skipped(skip) }
    }

    fn to_be_skipped(skip: Skip) -> Stretch {
        Stretch { first: skip.first, last: skip.last, fate: Fate::ToBeSkipped(skip) }
    }
}

/// The spans of revisions without a definition, cut to `[from, to)`.
fn without_schedule(
    revisions: &[Revision],
    from: Instant,
    to: Instant,
) -> impl Iterator<Item = Stretch> + '_ {
    let ends = revisions.iter().skip(1).map(Revision::after).chain([None]);
    revisions.iter().zip(ends).filter(|(revision, _)| revision.definition().is_none()).filter_map(
        move |(revision, end)| {
            let begin = revision.after().map_or(from, |after| after.max(from));
            let end = end.map_or(to, |end| end.min(to));
            let fate = Fate::NoSchedule { from: begin, to: end, revision: revision.number() };
            // The occurrence at the edit itself belongs to the revision before.
            let first = revision.after().map_or(from, |edit| edit.just_after().max(from));
            (begin < end).then_some(Stretch { first, last: first, fate })
        },
    )
}

/// The requested runs in `[from, to)` whose records were pruned, in order.
fn pruned_requests(
    tx: &mut dyn Transaction,
    workflow: &Workflow,
    from: Instant,
    to: Instant,
) -> Result<VecDeque<(Instant, String)>, EngineError> {
    let mut pruned = Vec::new();
    if workflow.marks.requested.is_some() {
        for request in tx.requests(workflow.id)? {
            let within = request.pruned.iter().filter(|&&at| (from..to).contains(&at));
            pruned.extend(within.map(|&at| (at, request.id.clone())));
        }
    }
    pruned.sort();
    Ok(pruned.into())
}

fn plan_error(reference: &str, source: crate::plan::PlanError) -> EngineError {
    EngineError::Plan { reference: reference.to_owned(), source }
}

/// The first of a queue, where it passes.
fn pop_if<T>(queue: &mut VecDeque<T>, passes: impl Fn(&T) -> bool) -> Option<T> {
    if queue.front().is_some_and(passes) { queue.pop_front() } else { None }
}
