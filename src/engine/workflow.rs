//! A workflow as the engine plans it: its record, its timeline, and what it owes.

use crate::plan::{self, Plan, Position, Revision, Skip, Timeline};
use crate::schedule::{Definition, FirstRun, Reference};
use crate::store::Transaction;
use crate::store::record::{
    DueKey, Progress, RevisionRow, RunFilter, SkipRecord, Trigger, Workflow, WorkflowId,
};
use crate::time::{Instant, tzdb_version};

use super::EngineError;
use super::store_info;

/// A workflow with the part of its timeline that is not settled.
pub(super) struct Planned {
    pub(super) workflow: Workflow,
    pub(super) timeline: Timeline,
}

impl Planned {
    /// Loads the unsettled timelines of workflows, in their order.
    pub(super) fn load(
        tx: &mut dyn Transaction,
        workflows: Vec<Workflow>,
    ) -> Result<Vec<Planned>, EngineError> {
        let wanted: Vec<_> =
            workflows.iter().map(|workflow| (workflow.id, settled(workflow))).collect();
        let revisions = tx.revisions(&wanted)?;
        workflows
            .into_iter()
            .zip(revisions)
            .map(|(workflow, rows)| {
                let timeline = Timeline::new(&read_revisions(&workflow.reference, &rows)?);
                Ok(Planned { workflow, timeline })
            })
            .collect()
    }

    /// Loads the unsettled timeline of one workflow.
    pub(super) fn load_one(
        tx: &mut dyn Transaction,
        workflow: Workflow,
    ) -> Result<Planned, EngineError> {
        let mut timeline = Timeline::new(&[]);
        for rows in tx.revisions(&[(workflow.id, settled(&workflow))])? {
            timeline = Timeline::new(&read_revisions(&workflow.reference, &rows)?);
        }
        Ok(Planned { workflow, timeline })
    }

    /// What it owes at `now`.
    pub(super) fn plan(&self, now: Instant) -> Plan {
        plan::owed(&self.timeline, &self.workflow.policies, self.position(), now)
    }

    /// Puts it into its right place in the queue, where it stands elsewhere.
    pub(super) fn requeue(
        &mut self,
        tx: &mut dyn Transaction,
        now: Instant,
    ) -> Result<(), EngineError> {
        let progress = self.workflow.progress;
        let due = self.due_key(progress, now);
        if due != progress.due {
            let progress = Progress { due, ..progress };
            tx.update_progress(&[(&self.workflow, progress)])?;
            self.workflow.progress = progress;
            if let Some(info) = tx.info()? {
                store_info::note_planned(tx, &info, now)?;
            }
        }
        Ok(())
    }

    /// Its place in the queue once it has come as far as `progress`.
    pub(super) fn due_key(&self, progress: Progress, now: Instant) -> Option<DueKey> {
        if self.workflow.marks.paused.is_some() {
            return None;
        }
        let position = Position { cursor: progress.cursor, ..self.position() };
        let plan = plan::owed(&self.timeline, &self.workflow.policies, position, now);
        let turn = plan::turn(&self.timeline, position, progress.last_handed, &plan, now)?;
        Some(DueKey { turn: turn.turn, due: turn.due })
    }

    /// Settles a range without a run, if there is one, and moves the cursor over it.
    pub(super) fn settle(
        &mut self,
        tx: &mut dyn Transaction,
        skip: Option<Skip>,
        now: Instant,
    ) -> Result<Vec<SkipRecord>, EngineError> {
        let Some(skip) = skip else { return Ok(Vec::new()) };
        let parts = self.pass_over(tx, vec![skip])?;
        let records: Vec<SkipRecord> =
            parts.iter().map(|part| skip_record(&self.workflow, part, now)).collect();
        tx.insert_skips(&records)?;
        let progress = self.settled_until(skip.last, self.workflow.progress);
        tx.update_progress(&[(&self.workflow, progress)])?;
        self.workflow.progress = progress;
        Ok(records)
    }

    /// Skipped ranges without the occurrences that have a run already. There are such after the
    /// cursor only where it was set back.
    pub(super) fn pass_over(
        &self,
        tx: &mut dyn Transaction,
        skips: Vec<Skip>,
    ) -> Result<Vec<Skip>, EngineError> {
        let Some(rewound_from) = self.workflow.marks.rewound_from else { return Ok(skips) };
        let mut parts = Vec::with_capacity(skips.len());
        for skip in skips {
            let last = skip.last.min(rewound_from);
            let kept = scheduled_runs(tx, self.workflow.id, skip.first, last)?;
            parts.extend(plan::pass_over(&self.timeline, skip, &kept));
        }
        Ok(parts)
    }

    /// Whether an occurrence that is owed has a run already, from before the cursor was set back.
    pub(super) fn is_passed_over(
        &self,
        tx: &mut dyn Transaction,
        occurrence: Instant,
    ) -> Result<bool, EngineError> {
        let may_have_run = self.workflow.marks.rewound_from.is_some_and(|from| occurrence <= from);
        Ok(may_have_run && self.has_run(tx, occurrence)?)
    }

    /// Whether there is a scheduled run of an occurrence.
    pub(super) fn has_run(
        &self,
        tx: &mut dyn Transaction,
        occurrence: Instant,
    ) -> Result<bool, EngineError> {
        Ok(!scheduled_runs(tx, self.workflow.id, occurrence, occurrence)?.is_empty())
    }

    /// `progress` once everything up to an occurrence is settled.
    pub(super) fn settled_until(&self, occurrence: Instant, progress: Progress) -> Progress {
        let cursor_local_ms = self.timeline.zoned_local_ms(occurrence);
        Progress { cursor: Some(occurrence), cursor_local_ms, ..progress }
    }

    /// The due instant of its first unsettled occurrence that is not due at `now` yet.
    pub(super) fn next_due(&self, now: Instant) -> Option<Instant> {
        plan::next_due(&self.timeline, self.position(), now)
    }

    pub(super) fn position(&self) -> Position {
        Position { cursor: self.workflow.progress.cursor, registered: self.workflow.registered }
    }
}

/// The occurrences from `first` to `last` that have a scheduled run, in order.
fn scheduled_runs(
    tx: &mut dyn Transaction,
    workflow: WorkflowId,
    first: Instant,
    last: Instant,
) -> Result<Vec<Instant>, EngineError> {
    if last < first {
        return Ok(Vec::new());
    }
    let (from, to) = (Some(first), last.checked_add_ms(1));
    let filter = RunFilter { workflow: Some(workflow), from, to, ..RunFilter::default() };
    let runs = tx.runs(&filter)?;
    let scheduled = runs.iter().filter(|run| run.trigger() == Trigger::Schedule);
    Ok(scheduled.map(|run| run.key.occurrence).collect())
}

/// The record of a skipped range.
pub(super) fn skip_record(workflow: &Workflow, skip: &Skip, now: Instant) -> SkipRecord {
    SkipRecord {
        workflow: workflow.id,
        reference: workflow.reference.clone(),
        first: skip.first,
        last: skip.last,
        count: skip.count,
        reason: skip.reason,
        skipped: now,
        revision: skip.revision,
        tzdb: tzdb_version().to_owned(),
    }
}

/// The instant up to which nothing of the timeline is needed any more.
fn settled(workflow: &Workflow) -> Option<Instant> {
    match (workflow.progress.cursor, workflow.policies.first_run) {
        (None, FirstRun::Newest) => None,
        (None, FirstRun::Next) => Some(workflow.registered),
        (cursor, _) => cursor,
    }
}

/// The revisions that rows of the store describe.
pub(super) fn read_revisions(
    reference: &str,
    rows: &[RevisionRow],
) -> Result<Vec<Revision>, EngineError> {
    rows.iter()
        .map(|row| {
            let unreadable = || EngineError::UnreadableRevision {
                reference: reference.to_owned(),
                number: row.number,
            };
            let name = Reference::new(reference).map_err(|_| unreadable())?;
            let definition = match &row.schedule {
                None => None,
                Some(text) => Some(Definition::from_canonical(text).ok_or_else(unreadable)?),
            };
            Ok(Revision::new(&name, row.number, row.after, definition))
        })
        .collect()
}

/// How many workflows are read from the store at once.
const PAGE: usize = 1_000;

/// Does something with every workflow whose ref passes, in the order of refs.
pub(super) fn each_workflow<T>(
    tx: &mut dyn Transaction,
    matches: &dyn Fn(&str) -> bool,
    mut work: impl FnMut(&mut dyn Transaction, Workflow) -> Result<T, EngineError>,
) -> Result<Vec<T>, EngineError> {
    let mut done = Vec::new();
    let mut last: Option<String> = None;
    loop {
        let page = tx.workflows(last.as_deref(), PAGE)?;
        let is_last = page.len() < PAGE;
        last = page.last().map(|workflow| workflow.reference.clone());
        for workflow in page.into_iter().filter(|workflow| matches(&workflow.reference)) {
            done.push(work(tx, workflow)?);
        }
        if is_last {
            return Ok(done);
        }
    }
}
