//! One transaction, and the few ways in which statements run inside it.

use rusqlite::{CachedStatement, Params, Row};

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
use super::names::LastName;

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// A transaction on the file; dropped, it is rolled back.
pub(super) struct SqliteTransaction<'s> {
    inner: rusqlite::Transaction<'s>,
    path: &'s str,
    access: Access,
    pub(super) last_tzdb: LastName,
    pub(super) last_worker: LastName,
}

impl<'s> SqliteTransaction<'s> {
    pub(super) fn new(
        inner: rusqlite::Transaction<'s>,
        path: &'s str,
        access: Access,
    ) -> Result<SqliteTransaction<'s>, StoreError> {
        let (last_tzdb, last_worker) = Default::default();
        let transaction = SqliteTransaction { inner, path, access, last_tzdb, last_worker };
        // SQLite takes the snapshot of a reader at its first read, not at BEGIN.
        transaction.number_or_none("store_info", "SELECT max(id) FROM store_info", [])?;
        Ok(transaction)
    }

    /// Refuses to go on in a transaction that only reads.
    pub(super) fn writing(&self, table: &'static str) -> Result<(), StoreError> {
        match self.access {
            Access::Read => Err(StoreError::ReadOnly { table }),
            Access::Write => Ok(()),
        }
    }

    pub(super) fn prepare(
        &self,
        table: &'static str,
        sql: &str,
    ) -> Result<CachedStatement<'_>, StoreError> {
        self.inner.prepare_cached(sql).map_err(|error| self.fault(table, error))
    }

    pub(super) fn fault(&self, table: &'static str, error: rusqlite::Error) -> StoreError {
        Fault::of_table(self.path, table, error)
    }

    /// Runs a statement that changes rows of `table`; how many it changed.
    pub(super) fn execute(
        &self,
        table: &'static str,
        sql: &str,
        params: impl Params,
    ) -> Result<usize, StoreError> {
        self.prepare(table, sql)?.execute(params).map_err(|error| self.fault(table, error))
    }

    /// Runs a statement that must change exactly one row of `table`.
    pub(super) fn change_one(
        &self,
        table: &'static str,
        sql: &str,
        params: impl Params,
    ) -> Result<(), StoreError> {
        match self.execute(table, sql, params)? {
            1 => Ok(()),
            _ => Err(StoreError::Missing { table }),
        }
    }

    /// The rows of a query on `table`, each read by `read`.
    pub(super) fn rows<T>(
        &self,
        table: &'static str,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.prepare(table, sql)?;
        let mut rows = statement.query(params).map_err(|error| self.fault(table, error))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.fault(table, error))? {
            found.push(read(&mut Columns::new(row, self.path, table))?);
        }
        Ok(found)
    }

    /// The first row of a query on `table`, if any.
    pub(super) fn row<T>(
        &self,
        table: &'static str,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.prepare(table, sql)?;
        let mut rows = statement.query(params).map_err(|error| self.fault(table, error))?;
        let row: Option<&Row<'_>> = rows.next().map_err(|error| self.fault(table, error))?;
        row.map(|row| read(&mut Columns::new(row, self.path, table))).transpose()
    }

    /// The number in the first row of a query on `table`; `None` for NULL or no row.
    pub(super) fn number_or_none(
        &self,
        table: &'static str,
        sql: &str,
        params: impl Params,
    ) -> Result<Option<i64>, StoreError> {
        Ok(self.row(table, sql, params, |columns| columns.value())?.flatten())
    }
}

/// A `LIMIT`: negative is none.
pub(super) fn limit(limit: Option<usize>) -> i64 {
    limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

impl Transaction for SqliteTransaction<'_> {
    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let path = self.path;
        self.inner.commit().map_err(|error| Fault::of_file(path, error))
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
        references.iter().map(|reference| self.workflow_named(reference)).collect()
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
        of.iter().map(|&(workflow, instant)| self.revisions_of(workflow, instant)).collect()
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
        keys.iter().map(|key| self.run_with_key(key)).collect()
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
