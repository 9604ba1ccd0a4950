//! Attempts before the last one of a run.

use rusqlite::params;

use crate::store::codes::Code;
use crate::store::record::{Attempt, RunKey};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::transaction::SqliteTransaction;

const TABLE: &str = "attempt";

const SELECT: &str = "SELECT number, token, name, claimed_ms, ended_ms, outcome, error, checksum
    FROM attempt LEFT JOIN worker ON worker.id = worker_id
    WHERE occurrence_ms = ?1 AND workflow_id = ?2 AND request_id = ?3 ORDER BY token";

const INSERT: &str = "INSERT INTO attempt (occurrence_ms, workflow_id, request_id, token, number,
    worker_id, claimed_ms, ended_ms, outcome, error, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

impl SqliteTransaction<'_> {
    pub(super) fn attempts_before(&mut self, key: &RunKey) -> Result<Vec<Attempt>, StoreError> {
        let values = params![key.occurrence.as_ms(), key.workflow.0, key.request_id];
        self.rows(TABLE, SELECT, values, |columns| {
            let attempt = Attempt {
                number: columns.small()?,
                token: columns.number()?,
                worker: columns.text()?,
                claimed: columns.instant()?,
                ended: columns.instant_or_none()?,
                outcome: columns.code_or_none()?,
                error: columns.value()?,
            };
            let name = || format!("token {} of {key:?}", attempt.token);
            columns.check(checksum::of_attempt(key, &attempt), name)?;
            Ok(attempt)
        })
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
