//! The queue of workflows: who has the next turn, and when the next one is due.

use crate::store::StoreError;
use crate::store::record::Workflow;
use crate::time::Instant;

use super::transaction::{Access, PostgresTransaction, limit};
use super::workflows::{read_workflow, workflow_columns};

const TABLE: &str = "progress";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            workflow_columns!(),
            " FROM progress JOIN workflow ON workflow.id = progress.workflow_id
            WHERE (progress.turn_ms, progress.ref) > ($1, $2)
                AND progress.turn_ms <= $3 AND progress.due_ms <= $4
            ORDER BY progress.turn_ms, progress.ref LIMIT $5",
            $rest
        )
    };
}

const SELECT: &str = select!("");

/// A row that another writer has changed meanwhile is looked at again before it is taken.
const TAKE: &str = select!(" FOR UPDATE OF progress SKIP LOCKED");

/// Where the turn is the due instant, the index on turns is in the order of due instants; the
/// others, which are few, have an index of their own.
const SELECT_NEXT_DUE: &str = "SELECT min(due_ms) FROM (
    (SELECT due_ms FROM progress WHERE turn_ms > $1 AND due_ms = turn_ms ORDER BY turn_ms LIMIT 1)
    UNION ALL
    (SELECT due_ms FROM progress WHERE due_ms > $1 AND due_ms <> turn_ms ORDER BY due_ms LIMIT 1))
    AS next";

impl PostgresTransaction<'_> {
    pub(super) fn queued_workflows(
        &mut self,
        after: Option<(Instant, &str)>,
        turn: Instant,
        due: Instant,
        count: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        self.select_workflows(SELECT, after, turn, due, count)
    }

    /// The same, and nobody else has them until this transaction ends.
    pub(super) fn taken_workflows(
        &mut self,
        after: Option<(Instant, &str)>,
        turn: Instant,
        due: Instant,
        count: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        if self.access != Access::Beside {
            return self.queued_workflows(after, turn, due, count);
        }
        let taken = self.select_workflows(TAKE, after, turn, due, count)?;
        if taken.len() < count {
            let all = self.queued_workflows(after, turn, due, taken.len() + 1)?;
            self.has_passed_over |= all.len() > taken.len();
        }
        Ok(taken)
    }

    fn select_workflows(
        &mut self,
        sql: &'static str,
        after: Option<(Instant, &str)>,
        turn: Instant,
        due: Instant,
        count: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        // No ref is empty, so nothing stands before this place.
        let (after_turn, after_ref) = after.unwrap_or((Instant::MIN, ""));
        let count = limit(Some(count));
        self.rows(
            TABLE,
            sql,
            &[&after_turn.as_ms(), &after_ref, &turn.as_ms(), &due.as_ms(), &count],
            read_workflow,
        )
    }

    pub(super) fn next_queued_due(&mut self, now: Instant) -> Result<Option<Instant>, StoreError> {
        let read = |columns: &mut super::columns::Columns<'_>| columns.instant_or_none();
        Ok(self.row(TABLE, SELECT_NEXT_DUE, &[&now.as_ms()], read)?.flatten())
    }
}
