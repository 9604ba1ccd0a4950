//! Attempts before the last one of a run.

use rusqlite::params;

use crate::store::codes::Code;
use crate::store::record::{Attempt, RunKey, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::SqliteTransaction;

const TABLE: &str = "attempt";

macro_rules! select {
    ($where:literal) => {
        concat!(
            "SELECT occurrence_ms, workflow_id, request_id, number, token, name, claimed_ms,
            ended_ms, outcome, error, checksum
            FROM attempt LEFT JOIN worker ON worker.id = worker_id ",
            $where
        )
    };
}

pub(super) const SELECT_ALL: &str = select!("");

const SELECT: &str =
    select!("WHERE occurrence_ms = ?1 AND workflow_id = ?2 AND request_id = ?3 ORDER BY token");

const INSERT: &str = "INSERT INTO attempt (occurrence_ms, workflow_id, request_id, token, number,
    worker_id, claimed_ms, ended_ms, outcome, error, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

impl SqliteTransaction<'_> {
    pub(super) fn attempts_before(&mut self, key: &RunKey) -> Result<Vec<Attempt>, StoreError> {
        let values = params![key.occurrence.as_ms(), key.workflow.0, key.request_id];
        self.rows(TABLE, SELECT, values, read_attempt)
    }

    pub(super) fn add_attempts(
        &mut self,
        attempts: &[(RunKey, Attempt)],
    ) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        for (key, attempt) in attempts {
            let values = params![
                key.occurrence.as_ms(),
                key.workflow.0,
                key.request_id,
                attempt.token,
                attempt.number,
                self.worker_id(&attempt.worker)?,
                attempt.claimed.as_ms(),
                attempt.ended.map(Instant::as_ms),
                attempt.outcome.map(Code::code),
                attempt.error,
                checksum::of_attempt(key, attempt),
            ];
            self.change_one(TABLE, INSERT, values)?;
        }
        Ok(())
    }
}

pub(super) fn read_attempt(columns: &mut Columns<'_>) -> Result<Attempt, StoreError> {
    let key = RunKey {
        occurrence: columns.instant()?,
        workflow: WorkflowId(columns.number()?),
        request_id: columns.text()?,
    };
    let attempt = Attempt {
        number: columns.small()?,
        token: columns.number()?,
        worker: columns.text()?,
        claimed: columns.instant()?,
        ended: columns.instant_or_none()?,
        outcome: columns.code_or_none()?,
        error: columns.value()?,
    };
    columns.check(checksum::of_attempt(&key, &attempt), || {
        format!("{} of workflow {}, token {}", key.occurrence, key.workflow.0, attempt.token)
    })?;
    Ok(attempt)
}
