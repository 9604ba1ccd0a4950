//! The first rows of workflows that are not known yet.

use crate::plan::{self, Position, Revision, Timeline};
use crate::schedule::{Definition, Reference, Schedule};
use crate::store::record::{DueKey, NewWorkflow, RevisionRow, WorkflowId};
use crate::store::{StoreError, Transaction};
use crate::time::{Instant, tzdb_version};

/// A workflow to be registered.
pub(super) struct Registration<'a> {
    pub(super) reference: &'a Reference,
    /// `None` while it is `false`.
    pub(super) schedule: Option<&'a Schedule>,
    /// Where it begins.
    pub(super) position: Position,
}

/// Registers workflows that are not known yet; their ids, in their order.
pub(super) fn register(
    tx: &mut dyn Transaction,
    now: Instant,
    source: &str,
    registrations: &[Registration<'_>],
) -> Result<Vec<WorkflowId>, StoreError> {
    let firsts: Vec<Revision> = registrations.iter().map(Registration::first_revision).collect();
    let rows: Vec<NewWorkflow> = registrations
        .iter()
        .zip(&firsts)
        .map(|(registration, first)| registration.row(source, first, now))
        .collect();
    let ids = tx.insert_workflows(&rows)?;
    let revisions: Vec<RevisionRow> =
        ids.iter().zip(&firsts).map(|(id, first)| revision_row(*id, first, now)).collect();
    tx.insert_revisions(&revisions)?;
    Ok(ids)
}

impl Registration<'_> {
    fn first_revision(&self) -> Revision {
        let definition = self.schedule.map(|schedule| schedule.definition.clone());
        Revision::new(self.reference, 1, None, definition)
    }

    fn row(&self, source: &str, first: &Revision, now: Instant) -> NewWorkflow {
        let policies = self.schedule.map(|schedule| schedule.policies).unwrap_or_default();
        let timeline = Timeline::new(std::slice::from_ref(first));
        let plan = plan::owed(&timeline, &policies, self.position, now);
        let turn = plan::turn(&timeline, self.position, None, &plan, now);
        NewWorkflow {
            reference: self.reference.to_string(),
            source: source.to_owned(),
            registered: self.position.registered,
            policies,
            due: turn.map(|turn| DueKey { turn: turn.turn, due: turn.due }),
        }
    }
}

/// The row of a revision that is made at `now`.
pub(super) fn revision_row(workflow: WorkflowId, revision: &Revision, now: Instant) -> RevisionRow {
    RevisionRow {
        workflow,
        number: revision.number(),
        after: revision.after(),
        schedule: revision.definition().map(Definition::to_canonical),
        made: now,
        tzdb: tzdb_version().to_owned(),
    }
}
