//! One transaction, and the few ways in which statements run inside it.

use std::collections::HashMap;

use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;
use postgres::{Client, Row, Statement};

use crate::schedule::Policies;
use crate::store::record::{
    Attempt, Counts, Marks, NewWorkflow, OpenState, PauseRecord, Progress, RequestRecord,
    RevisionRow, RunFilter, RunKey, RunRecord, SkipFilter, SkipRecord, StoreInfo, Workflow,
    WorkflowId,
};
use crate::store::{StoreError, Transaction};
use crate::time::Instant;

use super::columns::Columns;
use super::fault::Fault;
use super::open::Server;
use super::outcome::Writer;

/// What a transaction may do, and beside whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Read, on one snapshot.
    Read,
    /// Write the records of workflows that it has taken, while others write those of others.
    Beside,
    /// Write anything, while nobody else writes.
    Alone,
}

/// The statements that a connection has prepared, by their text.
pub(super) type Statements = HashMap<&'static str, Statement>;

/// The values of a statement.
pub(super) type Values<'v> = &'v [&'v (dyn ToSql + Sync)];

/// Wakes those who wait for work; they hear it only if the transaction commits.
const COMMIT_AND_WAKE: &str = "SELECT pg_notify('windowpane', current_schema()); COMMIT";

/// A transaction on the database; dropped, it is rolled back.
pub(super) struct PostgresTransaction<'s> {
    server: &'s Server,
    client: &'s mut Client,
    statements: &'s mut Statements,
    writer: &'s mut Writer,
    pub(super) access: Access,
    state: State,
    /// Whether something was left out that another writer holds.
    pub(super) has_passed_over: bool,
    /// Whether something may be due earlier than anybody knows.
    pub(super) wakes_others: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// A statement failed, so nothing of it can be kept.
    Failed,
    Ended,
}

impl<'s> PostgresTransaction<'s> {
    /// What was begun on this connection just now.
    pub(super) fn new(
        server: &'s Server,
        client: &'s mut Client,
        statements: &'s mut Statements,
        writer: &'s mut Writer,
        access: Access,
    ) -> PostgresTransaction<'s> {
        PostgresTransaction {
            server,
            client,
            statements,
            writer,
            access,
            state: State::Open,
            has_passed_over: false,
            wakes_others: false,
        }
    }

    /// Refuses to go on in a transaction that only reads.
    pub(super) fn writing(&self, table: &'static str) -> Result<(), StoreError> {
        match self.access {
            Access::Read => Err(StoreError::ReadOnly { table }),
            Access::Beside | Access::Alone => Ok(()),
        }
    }

    /// Runs a statement that changes rows of `table`; how many it changed.
    pub(super) fn execute(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: Values<'_>,
    ) -> Result<u64, StoreError> {
        let statement = self.prepare(table, sql)?;
        let done = self.client.execute(&statement, values);
        done.map_err(|error| self.fault(table, &error))
    }

    /// Runs a statement that must change so many rows of `table`.
    pub(super) fn change(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: Values<'_>,
        rows: usize,
    ) -> Result<(), StoreError> {
        match self.execute(table, sql, values)? {
            changed if changed == rows as u64 => Ok(()),
            _ => Err(StoreError::Missing { table }),
        }
    }

    /// The rows of a query on `table`, each read by `read`.
    pub(super) fn rows<T>(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: Values<'_>,
        mut read: impl FnMut(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.query(table, sql, values)?;
        rows.iter().map(|row| read(&mut Columns::new(row, table))).collect()
    }

    /// Does something with each row of a query on `table`, of which few are in memory at a time.
    pub(super) fn each_row(
        &mut self,
        table: &'static str,
        sql: &'static str,
        mut work: impl FnMut(&mut Columns<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let statement = self.prepare(table, sql)?;
        let none: [&(dyn ToSql + Sync); 0] = [];
        let ended = match self.client.query_raw(&statement, none) {
            Err(error) => Err(error),
            Ok(mut rows) => loop {
                match rows.next() {
                    Ok(Some(row)) => work(&mut Columns::new(&row, table))?,
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            },
        };
        ended.map_err(|error| self.fault(table, &error))
    }

    /// The first row of a query on `table`, if any.
    pub(super) fn row<T>(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: Values<'_>,
        read: impl FnOnce(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let rows = self.query(table, sql, values)?;
        rows.first().map(|row| read(&mut Columns::new(row, table))).transpose()
    }

    /// The number in the first row of a query on `table`; `None` for NULL or no row.
    pub(super) fn number_or_none(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: Values<'_>,
    ) -> Result<Option<i64>, StoreError> {
        Ok(self.row(table, sql, values, |columns| columns.value())?.flatten())
    }

    /// Finds the first of the rows `given` to a statement that was not `added`, and says why: its
    /// workflow is missing, or its key is taken.
    pub(super) fn check_added<K: PartialEq>(
        &mut self,
        table: &'static str,
        given: impl ExactSizeIterator<Item = K>,
        added: Vec<K>,
        workflow: impl Fn(&K) -> WorkflowId,
    ) -> Result<(), StoreError> {
        if added.len() == given.len() {
            return Ok(());
        }
        let mut left = added;
        for key in given {
            let Some(place) = left.iter().position(|added| *added == key) else {
                let known = "SELECT id FROM workflow WHERE id = $1";
                return Err(
                    match self.number_or_none("workflow", known, &[&workflow(&key).0])? {
                        None => StoreError::Missing { table: "workflow" },
                        Some(_) => StoreError::Conflict { table },
                    },
                );
            };
            left.swap_remove(place);
        }
        Ok(())
    }

    /// Notes which transaction this is, in case its connection is lost; false where it has written
    /// nothing.
    fn note(&mut self) -> Result<bool, StoreError> {
        let (sql, [connection, number, hour_ms, old_ms]) = self.writer.note();
        let values: Values<'_> = &[&connection, &number, &hour_ms, &old_ms];
        Ok(self.execute(Writer::TABLE, sql, values)? > 0)
    }

    fn query(
        &mut self,
        table: &'static str,
        sql: &'static str,
        values: Values<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepare(table, sql)?;
        self.client.query(&statement, values).map_err(|error| self.fault(table, &error))
    }

    fn prepare(&mut self, table: &'static str, sql: &'static str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let prepared = self.client.prepare(sql);
        let statement = prepared.map_err(|error| self.fault(table, &error))?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    fn name(&self) -> &'s str {
        &self.server.address.name
    }

    fn fault(&mut self, table: &'static str, error: &postgres::Error) -> StoreError {
        self.state = State::Failed;
        Fault::of_table(self.name(), table, error)
    }
}

impl Drop for PostgresTransaction<'_> {
    fn drop(&mut self) {
        if self.state != State::Ended {
            // Where that fails the connection is gone, and the server rolls back by itself.
            let _ = self.client.batch_execute("ROLLBACK");
        }
    }
}

/// A `LIMIT`: NULL is none.
pub(super) fn limit(limit: Option<usize>) -> Option<i64> {
    limit.and_then(|limit| i64::try_from(limit).ok())
}

impl Transaction for PostgresTransaction<'_> {
    fn commit(mut self: Box<Self>) -> Result<(), StoreError> {
        if self.state == State::Failed {
            let problem = "a transaction in which a statement failed cannot be kept".to_owned();
            return Err(StoreError::Unavailable { path: self.name().to_owned(), problem });
        }
        let has_written = match self.access {
            Access::Read => false,
            Access::Beside | Access::Alone => self.note()?,
        };
        let end = if self.wakes_others { COMMIT_AND_WAKE } else { "COMMIT" };
        let done = self.client.batch_execute(end);
        self.state = State::Ended;
        match done.map_err(|error| Fault::of_server(self.name(), &error)) {
            Err(lost @ StoreError::Unreachable { .. }) if has_written => {
                self.statements.clear();
                self.writer.settle(self.server, self.client, lost)
            }
            done => done,
        }
    }

    fn is_alone(&self) -> bool {
        self.access != Access::Beside
    }

    fn has_passed_over(&self) -> bool {
        self.has_passed_over
    }

    fn take_due_workflows(
        &mut self,
        after: Option<(Instant, &str)>,
        turn: Instant,
        due: Instant,
        limit: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        self.taken_workflows(after, turn, due, limit)
    }

    fn take_open_runs(
        &mut self,
        state: OpenState,
        now: Instant,
        after: Option<&RunRecord>,
        limit: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.taken_runs(state, now, after, limit)
    }

    fn info(&mut self) -> Result<Option<StoreInfo>, StoreError> {
        self.find_info()
    }

    fn counts(&mut self) -> Result<Counts, StoreError> {
        self.count_records()
    }

    fn set_info(&mut self, info: &StoreInfo) -> Result<(), StoreError> {
        self.write_info(info)
    }

    fn workflows_named(
        &mut self,
        references: &[&str],
    ) -> Result<Vec<Option<Workflow>>, StoreError> {
        self.workflows_with_names(references)
    }

    fn workflows(
        &mut self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        self.workflows_after(after, limit)
    }

    fn insert_workflows(
        &mut self,
        workflows: &[NewWorkflow],
    ) -> Result<Vec<WorkflowId>, StoreError> {
        self.add_workflows(workflows)
    }

    fn restore_workflows(&mut self, workflows: &[Workflow]) -> Result<(), StoreError> {
        self.add_workflows_as_they_stand(workflows)
    }

    fn update_policies(
        &mut self,
        workflow: WorkflowId,
        policies: &Policies,
    ) -> Result<(), StoreError> {
        self.change_policies(workflow, policies)
    }

    fn update_marks(&mut self, workflow: WorkflowId, marks: &Marks) -> Result<(), StoreError> {
        self.change_marks(workflow, marks)
    }

    fn update_progress(&mut self, changes: &[(&Workflow, Progress)]) -> Result<(), StoreError> {
        self.change_progress(changes)
    }

    fn revisions(
        &mut self,
        of: &[(WorkflowId, Option<Instant>)],
    ) -> Result<Vec<Vec<RevisionRow>>, StoreError> {
        self.revisions_of(of)
    }

    fn insert_revisions(&mut self, revisions: &[RevisionRow]) -> Result<(), StoreError> {
        self.add_revisions(revisions)
    }

    fn due_workflows(
        &mut self,
        after: Option<(Instant, &str)>,
        turn: Instant,
        due: Instant,
        limit: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        self.queued_workflows(after, turn, due, limit)
    }

    fn next_due_after(&mut self, now: Instant) -> Result<Option<Instant>, StoreError> {
        self.next_queued_due(now)
    }

    fn open_runs(
        &mut self,
        state: OpenState,
        now: Instant,
        after: Option<&RunRecord>,
        limit: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.queued_runs(state, now, after, limit)
    }

    fn next_available_after(&mut self, now: Instant) -> Result<Option<Instant>, StoreError> {
        self.next_queued_run(now)
    }

    fn runs_with_keys(&mut self, keys: &[RunKey]) -> Result<Vec<Option<RunRecord>>, StoreError> {
        self.runs_with(keys)
    }

    fn runs(&mut self, filter: &RunFilter) -> Result<Vec<RunRecord>, StoreError> {
        self.runs_matching(filter)
    }

    fn insert_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        self.add_runs(runs)
    }

    fn update_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        self.change_runs(runs)
    }

    fn past_attempts(&mut self, key: &RunKey) -> Result<Vec<Attempt>, StoreError> {
        self.attempts_before(key)
    }

    fn past_attempts_of(&mut self, keys: &[RunKey]) -> Result<Vec<(RunKey, Attempt)>, StoreError> {
        self.attempts_before_all(keys)
    }

    fn insert_past_attempts(&mut self, attempts: &[(RunKey, Attempt)]) -> Result<(), StoreError> {
        self.add_attempts(attempts)
    }

    fn skips(&mut self, filter: &SkipFilter) -> Result<Vec<SkipRecord>, StoreError> {
        self.skips_matching(filter)
    }

    fn insert_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError> {
        self.add_skips(skips)
    }

    fn pauses(&mut self, workflow: WorkflowId) -> Result<Vec<PauseRecord>, StoreError> {
        self.pauses_of(workflow)
    }

    fn put_pause(&mut self, pause: &PauseRecord) -> Result<(), StoreError> {
        self.write_pause(pause)
    }

    fn request(
        &mut self,
        workflow: WorkflowId,
        id: &str,
    ) -> Result<Option<RequestRecord>, StoreError> {
        self.request_with_id(workflow, id)
    }

    fn requests(&mut self, workflow: WorkflowId) -> Result<Vec<RequestRecord>, StoreError> {
        self.requests_of(workflow)
    }

    fn put_request(&mut self, request: &RequestRecord) -> Result<(), StoreError> {
        self.write_request(request)
    }

    fn delete_runs(&mut self, keys: &[RunKey]) -> Result<(), StoreError> {
        self.remove_runs(keys)
    }

    fn delete_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError> {
        self.remove_skips(skips)
    }
}
