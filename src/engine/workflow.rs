//! A workflow as the engine plans it: its record, its timeline, and what it owes.

use crate::plan::{self, Plan, Position, Revision, Timeline};
use crate::schedule::{Definition, FirstRun, Reference};
use crate::store::Transaction;
use crate::store::record::{DueKey, Progress, RevisionRow, Workflow};
use crate::time::Instant;

use super::EngineError;

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

    /// What it owes at `now`.
    pub(super) fn plan(&self, now: Instant) -> Plan {
        plan::owed(&self.timeline, &self.workflow.policies, self.position(), now)
    }

    /// Puts it into its right place in the queue, where it stands elsewhere.
    pub(super) fn requeue(
        &self,
        tx: &mut dyn Transaction,
        now: Instant,
    ) -> Result<(), EngineError> {
        let progress = self.workflow.progress;
        let due = self.due_key(progress, now);
        if due != progress.due {
            tx.update_progress(&[(&self.workflow, Progress { due, ..progress })])?;
        }
        Ok(())
    }

    /// Its place in the queue once it has come as far as `progress`.
    pub(super) fn due_key(&self, progress: Progress, now: Instant) -> Option<DueKey> {
        let position = Position { cursor: progress.cursor, ..self.position() };
        let plan = plan::owed(&self.timeline, &self.workflow.policies, position, now);
        let turn = plan::turn(&self.timeline, position, progress.last_handed, &plan, now)?;
        Some(DueKey { turn: turn.turn, due: turn.due })
    }

    /// The due instant of its first unsettled occurrence that is not due at `now` yet.
    pub(super) fn next_due(&self, now: Instant) -> Option<Instant> {
        plan::next_due(&self.timeline, self.position(), now)
    }

    fn position(&self) -> Position {
        Position { cursor: self.workflow.progress.cursor, registered: self.workflow.registered }
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
