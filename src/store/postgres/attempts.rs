//! Attempts before the last one of a run.

use crate::store::codes::Code;
use crate::store::record::{Attempt, RunKey, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::runs::KeyLists;
use super::transaction::PostgresTransaction;

const TABLE: &str = "attempt";

macro_rules! select {
    ($where:literal) => {
        concat!(
            "SELECT occurrence_ms, workflow_id, request_id, number, token, worker, claimed_ms,
            ended_ms, outcome, error, checksum FROM attempt ",
            $where
        )
    };
}

pub(super) const SELECT_ALL: &str = select!("");

const SELECT: &str =
    select!("WHERE occurrence_ms = $1 AND workflow_id = $2 AND request_id = $3 ORDER BY token");

const SELECT_OF_ALL: &str = select!(
    "JOIN unnest($1::bigint[], $2::bigint[], $3::text[])
        AS given (occurrence_ms, workflow_id, request_id)
    USING (occurrence_ms, workflow_id, request_id)
    ORDER BY occurrence_ms, workflow_id, request_id, token"
);

const INSERT: &str = "INSERT INTO attempt (occurrence_ms, workflow_id, request_id, token, number,
    worker, claimed_ms, ended_ms, outcome, error, checksum)
    SELECT given.* FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[],
        $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bytea[], $11::bigint[])
        AS given (occurrence_ms, workflow_id, request_id, token, number, worker, claimed_ms,
        ended_ms, outcome, error, checksum)
    JOIN run USING (occurrence_ms, workflow_id, request_id)
    ON CONFLICT DO NOTHING RETURNING occurrence_ms, workflow_id, request_id, token";

impl PostgresTransaction<'_> {
    pub(super) fn attempts_before(&mut self, key: &RunKey) -> Result<Vec<Attempt>, StoreError> {
        let (occurrence_ms, id) = (key.occurrence.as_ms(), key.workflow.0);
        self.rows(TABLE, SELECT, &[&occurrence_ms, &id, &key.request_id], read_attempt)
    }

    pub(super) fn attempts_before_all(
        &mut self,
        keys: &[RunKey],
    ) -> Result<Vec<(RunKey, Attempt)>, StoreError> {
        let KeyLists { occurrences, workflows, request_ids } = KeyLists::of(keys);
        let values: super::transaction::Values<'_> = &[&occurrences, &workflows, &request_ids];
        self.rows(TABLE, SELECT_OF_ALL, values, read_with_key)
    }

    pub(super) fn add_attempts(
        &mut self,
        attempts: &[(RunKey, Attempt)],
    ) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        if attempts.is_empty() {
            return Ok(());
        }
        let of = |value: &dyn Fn(&RunKey, &Attempt) -> i64| {
            attempts.iter().map(|(key, attempt)| value(key, attempt)).collect::<Vec<_>>()
        };
        let or_none = |value: &dyn Fn(&Attempt) -> Option<i64>| {
            attempts.iter().map(|(_, attempt)| value(attempt)).collect::<Vec<_>>()
        };
        let request_ids: Vec<&str> =
            attempts.iter().map(|(key, _)| key.request_id.as_str()).collect();
        let workers: Vec<&str> =
            attempts.iter().map(|(_, attempt)| attempt.worker.as_str()).collect();
        let errors: Vec<Option<&[u8]>> =
            attempts.iter().map(|(_, attempt)| error_of(attempt)).collect();
        let added = self.rows(
            TABLE,
            INSERT,
            &[
                &of(&|key, _| key.occurrence.as_ms()),
                &of(&|key, _| key.workflow.0),
                &request_ids,
                &of(&|_, attempt| attempt.token),
                &of(&|_, attempt| i64::from(attempt.number)),
                &workers,
                &of(&|_, attempt| attempt.claimed.as_ms()),
                &or_none(&|attempt| attempt.ended.map(Instant::as_ms)),
                &or_none(&|attempt| attempt.outcome.map(Code::code)),
                &errors,
                &of(&checksum::of_attempt),
            ],
            |columns| Ok((read_key(columns)?, columns.number()?)),
        )?;
        let mut left = added;
        for (key, attempt) in attempts {
            let place = left.iter().position(|(of, token)| of == key && *token == attempt.token);
            match place {
                Some(place) => drop(left.swap_remove(place)),
                None if self.runs_with(std::slice::from_ref(key))? == [None] => {
                    return Err(StoreError::Missing { table: "run" });
                }
                None => return Err(StoreError::Conflict { table: TABLE }),
            }
        }
        Ok(())
    }
}

/// What a worker said may hold any character, NUL included.
pub(super) fn error_of(attempt: &Attempt) -> Option<&[u8]> {
    attempt.error.as_deref().map(str::as_bytes)
}

pub(super) fn read_key(columns: &mut Columns<'_>) -> Result<RunKey, StoreError> {
    Ok(RunKey {
        occurrence: columns.instant()?,
        workflow: WorkflowId(columns.number()?),
        request_id: columns.text()?,
    })
}

pub(super) fn read_attempt(columns: &mut Columns<'_>) -> Result<Attempt, StoreError> {
    read_with_key(columns).map(|(_, attempt)| attempt)
}

fn read_with_key(columns: &mut Columns<'_>) -> Result<(RunKey, Attempt), StoreError> {
    let key = read_key(columns)?;
    let attempt = Attempt {
        number: columns.small()?,
        token: columns.number()?,
        worker: columns.text()?,
        claimed: columns.instant()?,
        ended: columns.instant_or_none()?,
        outcome: columns.code_or_none()?,
        error: columns.text_from_bytes()?,
    };
    columns.check(checksum::of_attempt(&key, &attempt), || {
        format!("{} of workflow {}, token {}", key.occurrence, key.workflow.0, attempt.token)
    })?;
    Ok((key, attempt))
}
