//! The queue of workflows: who has the next turn, and when the next one is due.

use rusqlite::params;

use crate::store::StoreError;
use crate::store::record::{DueKey, Workflow};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::{SqliteTransaction, limit};
use super::workflows::{read_workflow, workflow_columns};

const TABLE: &str = "queue";

const SELECT: &str = concat!(
    "SELECT ",
    workflow_columns!(),
    ", queue.turn_ms, queue.due_ms FROM queue LEFT JOIN workflow ON workflow.id = queue.workflow_id
    LEFT JOIN progress ON progress.workflow_id = queue.workflow_id
    WHERE (queue.turn_ms, queue.ref) > (?1, ?2) AND queue.turn_ms <= ?3 AND queue.due_ms <= ?4
    ORDER BY queue.turn_ms, queue.ref LIMIT ?5"
);

/// Where the turn is the due instant, the queue itself is in the order of due instants; the
/// others, which are few, have an index.
const SELECT_NEXT_DUE: &str = "SELECT min(due_ms) FROM (
    SELECT due_ms FROM (SELECT due_ms FROM queue WHERE turn_ms > ?1 AND due_ms = turn_ms
        ORDER BY turn_ms LIMIT 1)
    UNION ALL
    SELECT due_ms FROM (SELECT due_ms FROM queue WHERE due_ms > ?1 AND due_ms <> turn_ms
        ORDER BY due_ms LIMIT 1))";

const INSERT: &str =
    "INSERT INTO queue (turn_ms, ref, due_ms, workflow_id) VALUES (?1, ?2, ?3, ?4)";

const DELETE: &str = "DELETE FROM queue WHERE turn_ms = ?1 AND ref = ?2";

/// A workflow whose place in the queue is the one that its progress gives it.
fn read_queued_workflow(columns: &mut Columns<'_>) -> Result<Workflow, StoreError> {
    let workflow = read_workflow(columns)?;
    let place = DueKey { turn: columns.instant()?, due: columns.instant()? };
    if workflow.progress.due == Some(place) {
        return Ok(workflow);
    }
    Err(columns.damage("the place in the queue is not the workflow's".to_owned()))
}

impl SqliteTransaction<'_> {
    pub(super) fn queued_workflows(
        &mut self,
        after: Option<(Instant, &str)>,
        turn: Instant,
        due: Instant,
        count: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        // No ref is empty, so nothing stands before this place.
        let (after_turn, after_ref) = after.unwrap_or((Instant::MIN, ""));
        let values =
            params![after_turn.as_ms(), after_ref, turn.as_ms(), due.as_ms(), limit(Some(count)),];
        self.rows(TABLE, SELECT, values, read_queued_workflow)
    }

    pub(super) fn next_queued_due(&mut self, now: Instant) -> Result<Option<Instant>, StoreError> {
        let next =
            self.row(TABLE, SELECT_NEXT_DUE, [now.as_ms()], |columns| columns.instant_or_none())?;
        Ok(next.flatten())
    }

    /// Moves a workflow from one place in the queue to another.
    pub(super) fn move_in_queue(
        &self,
        workflow: &Workflow,
        from: Option<DueKey>,
        to: Option<DueKey>,
    ) -> Result<(), StoreError> {
        if from == to {
            return Ok(());
        }
        if let Some(from) = from {
            let values = params![from.turn.as_ms(), workflow.reference];
            self.change_one(TABLE, DELETE, values)?;
        }
        if let Some(to) = to {
            let values =
                params![to.turn.as_ms(), workflow.reference, to.due.as_ms(), workflow.id.0];
            self.change_one(TABLE, INSERT, values)?;
        }
        Ok(())
    }
}
