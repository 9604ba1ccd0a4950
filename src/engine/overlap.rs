//! At most one run of a workflow at a time, where its `overlap` says so.

use std::collections::{HashMap, HashSet};

use crate::plan::{self, Skip, SkipReason};
use crate::schedule::Overlap;
use crate::store::Transaction;
use crate::store::record::{
    OpenState, RunFilter, RunKey, RunRecord, RunState, SkipRecord, Trigger, Workflow, WorkflowId,
};
use crate::time::Instant;

use super::EngineError;
use super::workflow::Planned;

/// How many rows are read from the store at once.
const PAGE: usize = 1_000;

/// Until when each workflow has a run under a live lease; read from the store when first asked.
pub(super) struct LiveClaims {
    now: Instant,
    until: HashMap<WorkflowId, Instant>,
    is_read: bool,
    /// The occurrences that are just handed out and not in the store yet.
    taken: HashSet<(WorkflowId, Instant)>,
}

impl LiveClaims {
    pub(super) fn at(now: Instant) -> LiveClaims {
        LiveClaims { now, until: HashMap::new(), is_read: false, taken: HashSet::new() }
    }

    /// Reads them from the store again when next asked.
    pub(super) fn read_again(&mut self) {
        self.is_read = false;
    }

    /// Until when a workflow must wait for a run of its own; `None` when it need not.
    pub(super) fn hold(
        &mut self,
        tx: &mut dyn Transaction,
        workflow: &Workflow,
    ) -> Result<Option<Instant>, EngineError> {
        if workflow.policies.overlap == Overlap::Allow {
            return Ok(None);
        }
        if !self.is_read {
            self.read(tx)?;
            self.is_read = true;
        }
        Ok(self.until.get(&workflow.id).copied())
    }

    /// Whether another run of the same occurrence is under a live lease: an occurrence is under at
    /// most one, whatever caused it.
    pub(super) fn is_taken(
        &mut self,
        tx: &mut dyn Transaction,
        workflow: &Workflow,
        occurrence: Instant,
    ) -> Result<bool, EngineError> {
        if workflow.marks.requested.is_none() {
            return Ok(false);
        }
        if self.taken.contains(&(workflow.id, occurrence)) {
            return Ok(true);
        }
        let (from, to) = (Some(occurrence), occurrence.checked_add_ms(1));
        let states = vec![RunState::Claimed];
        let filter =
            RunFilter { workflow: Some(workflow.id), from, to, states, ..RunFilter::default() };
        Ok(tx.runs(&filter)?.iter().any(|run| run.available > Some(self.now)))
    }

    /// Whether an open run must wait for another one that is under a live lease.
    pub(super) fn keep_back(
        &mut self,
        tx: &mut dyn Transaction,
        workflow: &Workflow,
        run: &RunKey,
    ) -> Result<bool, EngineError> {
        Ok(self.hold(tx, workflow)?.is_some() || self.is_taken(tx, workflow, run.occurrence)?)
    }

    /// Notes a run that is just handed out and not in the store yet.
    pub(super) fn add(&mut self, workflow: WorkflowId, occurrence: Instant, until: Instant) {
        self.taken.insert((workflow, occurrence));
        self.note(workflow, until);
    }

    fn note(&mut self, workflow: WorkflowId, until: Instant) {
        let latest = self.until.entry(workflow).or_insert(until);
        *latest = until.max(*latest);
    }

    fn read(&mut self, tx: &mut dyn Transaction) -> Result<(), EngineError> {
        let mut last = None;
        loop {
            let page = tx.open_runs(OpenState::Claimed, Instant::MAX, last.as_ref(), PAGE)?;
            let now = self.now;
            for (id, until) in
                page.iter().filter_map(|run| Some((run.key.workflow, run.available?)))
            {
                if until > now {
                    self.note(id, until);
                }
            }
            if page.len() < PAGE {
                return Ok(());
            }
            last = page.into_iter().last();
        }
    }
}

/// What was due and unsettled before a scheduled run ended, where `overlap` is `skip`. The run ends
/// when it is finished or when its lease expires, whichever is earlier.
pub(super) fn overlapped(planned: &Planned, run: &RunRecord, end: Instant) -> Option<Skip> {
    let policies = planned.workflow.policies;
    if policies.overlap != Overlap::Skip || run.trigger() == Trigger::Request {
        return None;
    }
    let before = end.checked_add_ms(-1)?;
    let position = planned.position();
    plan::unsettled_due(&planned.timeline, &policies, position, before, SkipReason::Overlap)
}

/// Skips what a scheduled run overlapped that ended at `end`.
pub(super) fn skip_before_end(
    tx: &mut dyn Transaction,
    planned: &mut Planned,
    run: &RunRecord,
    end: Instant,
    now: Instant,
) -> Result<Vec<SkipRecord>, EngineError> {
    let skip = overlapped(planned, run, end);
    planned.settle(tx, skip, now)
}
