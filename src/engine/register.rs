//! A workflow's first rows.

use crate::plan::{self, Position, Revision, Timeline};
use crate::schedule::{Definition, Reference, Schedule};
use crate::store::record::{DueKey, NewWorkflow, RevisionRow, WorkflowId};
use crate::store::{StoreError, Transaction};
use crate::time::{Instant, tzdb_version};

/// Registers a workflow that is not known yet; what it owes is counted from `position`.
pub(super) fn register(
    tx: &mut dyn Transaction,
    now: Instant,
    source: &str,
    reference: &Reference,
    schedule: Option<&Schedule>,
    position: Position,
) -> Result<Vec<WorkflowId>, StoreError> {
    let policies = schedule.map(|schedule| schedule.policies).unwrap_or_default();
    let first =
        Revision::new(reference, 1, None, schedule.map(|schedule| schedule.definition.clone()));
    let timeline = Timeline::new(std::slice::from_ref(&first));
    let plan = plan::owed(&timeline, &policies, position, now);
    let turn = plan::turn(&timeline, position, None, &plan, now);
    let ids = tx.insert_workflows(&[NewWorkflow {
        reference: reference.to_string(),
        source: source.to_owned(),
        registered: position.registered,
        policies,
        due: turn.map(|turn| DueKey { turn: turn.turn, due: turn.due }),
    }])?;
    let rows: Vec<_> = ids.iter().map(|id| revision_row(*id, &first, now)).collect();
    tx.insert_revisions(&rows)?;
    Ok(ids)
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
