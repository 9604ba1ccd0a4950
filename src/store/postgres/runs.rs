//! Runs, each with its last attempt.

use std::collections::HashMap;

use crate::plan::Run;
use crate::store::codes::Code;
use crate::store::record::{Attempt, OpenState, RunFilter, RunKey, RunRecord, RunState};
use crate::store::{StoreError, checksum};
use crate::time::{Authored, Instant, Window};

use super::attempts::{error_of, read_key};
use super::columns::Columns;
use super::transaction::{Access, PostgresTransaction, limit};

const TABLE: &str = "run";

/// The columns that [`read_run`] takes, in its order.
macro_rules! columns {
    () => {
        "run.occurrence_ms, run.workflow_id, run.request_id, run.ref, run.due_ms, window_start_ms,
        window_end_ms, interval_ms, phase_ms, revision, local_ms, resolution, tzdb, run.state,
        run.available_ms, attempts, attempt, token, worker, claimed_ms, ended_ms, outcome, error,
        output, run.checksum"
    };
}

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", columns!(), " FROM run ", $rest)
    };
}

pub(super) const SELECT_ALL: &str = select!("");

const SELECT_WITH_KEYS: &str = select!(
    "JOIN unnest($1::bigint[], $2::bigint[], $3::text[])
        AS given (occurrence_ms, workflow_id, request_id)
    ON run.occurrence_ms = given.occurrence_ms AND run.workflow_id = given.workflow_id
        AND run.request_id = given.request_id"
);

/// `$3` holds the states that are wanted; `$4` to `$6` are the place to go on after.
const SELECT_MATCHING: &str = select!(
    "WHERE occurrence_ms >= $1 AND occurrence_ms < $2 AND state = ANY($3)
        AND ($4::bigint IS NULL OR (occurrence_ms, ref, request_id) > ($4, $5::text, $6::text))
    ORDER BY occurrence_ms, ref, request_id LIMIT $7"
);

const SELECT_MATCHING_OF: &str = select!(
    "WHERE occurrence_ms >= $1 AND occurrence_ms < $2 AND state = ANY($3)
        AND ($4::bigint IS NULL OR (occurrence_ms, ref, request_id) > ($4, $5::text, $6::text))
        AND workflow_id = $8
    ORDER BY occurrence_ms, ref, request_id LIMIT $7"
);

macro_rules! select_open {
    ($tables:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM run ",
            $tables,
            " WHERE run.state = $1 AND run.available_ms <= $2
                AND (run.available_ms, run.ref, run.occurrence_ms, run.request_id)
                    > ($3, $4, $5, $6)
            ORDER BY run.available_ms, run.ref, run.occurrence_ms, run.request_id LIMIT $7",
            $rest
        )
    };
}

const SELECT_OPEN: &str = select_open!("", "");

/// Both rows are looked at again before they are taken, if somebody has changed them meanwhile.
const TAKE_OPEN: &str = select_open!(
    "JOIN progress ON progress.workflow_id = run.workflow_id",
    " FOR UPDATE OF run, progress SKIP LOCKED"
);

const SELECT_NEXT_AVAILABLE: &str = "SELECT least(
    (SELECT min(available_ms) FROM run WHERE state = 0 AND available_ms > $1),
    (SELECT min(available_ms) FROM run WHERE state = 1 AND available_ms > $1))";

/// The rows given as one list for each column.
macro_rules! given {
    () => {
        "unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
            $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
            $13::text[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
            $19::text[], $20::bigint[], $21::bigint[], $22::bigint[], $23::bytea[], $24::text[],
            $25::bigint[]) AS given (occurrence_ms, workflow_id, request_id, ref, due_ms,
            window_start_ms, window_end_ms, interval_ms, phase_ms, revision, local_ms, resolution,
            tzdb, state, available_ms, attempts, attempt, token, worker, claimed_ms, ended_ms,
            outcome, error, output, checksum)"
    };
}

const INSERT: &str = concat!(
    "INSERT INTO run (occurrence_ms, workflow_id, request_id, ref, due_ms, window_start_ms,
        window_end_ms, interval_ms, phase_ms, revision, local_ms, resolution, tzdb, state,
        available_ms, attempts, attempt, token, worker, claimed_ms, ended_ms, outcome, error,
        output, checksum) SELECT given.* FROM ",
    given!(),
    " JOIN workflow ON workflow.id = given.workflow_id ON CONFLICT DO NOTHING
    RETURNING occurrence_ms, workflow_id, request_id"
);

const UPDATE: &str = concat!(
    "UPDATE run SET ref = given.ref, due_ms = given.due_ms,
        window_start_ms = given.window_start_ms, window_end_ms = given.window_end_ms,
        interval_ms = given.interval_ms, phase_ms = given.phase_ms, revision = given.revision,
        local_ms = given.local_ms, resolution = given.resolution, tzdb = given.tzdb,
        state = given.state, available_ms = given.available_ms, attempts = given.attempts,
        attempt = given.attempt, token = given.token, worker = given.worker,
        claimed_ms = given.claimed_ms, ended_ms = given.ended_ms, outcome = given.outcome,
        error = given.error, output = given.output, checksum = given.checksum FROM ",
    given!(),
    " WHERE run.occurrence_ms = given.occurrence_ms AND run.workflow_id = given.workflow_id
        AND run.request_id = given.request_id"
);

const DELETE: &str = "DELETE FROM run USING unnest($1::bigint[], $2::bigint[], $3::text[])
    AS given (occurrence_ms, workflow_id, request_id)
    WHERE run.occurrence_ms = given.occurrence_ms AND run.workflow_id = given.workflow_id
        AND run.request_id = given.request_id";

impl PostgresTransaction<'_> {
    pub(super) fn runs_with(
        &mut self,
        keys: &[RunKey],
    ) -> Result<Vec<Option<RunRecord>>, StoreError> {
        let KeyLists { occurrences, workflows, request_ids } = KeyLists::of(keys);
        let values: super::transaction::Values<'_> = &[&occurrences, &workflows, &request_ids];
        let found = self.rows(TABLE, SELECT_WITH_KEYS, values, read_run)?;
        let found: HashMap<RunKey, RunRecord> =
            found.into_iter().map(|run| (run.key.clone(), run)).collect();
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    pub(super) fn runs_matching(
        &mut self,
        filter: &RunFilter,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let after = filter.after.as_ref().map(|(occurrence, ..)| *occurrence);
        let from_ms = filter.from.max(after).unwrap_or(Instant::MIN).as_ms();
        // Past the last instant, so that it is taken in too.
        let to_ms = filter.to.map_or(i64::MAX, Instant::as_ms);
        let all = RunState::ALL;
        let states = if filter.states.is_empty() { all } else { &filter.states };
        let states: Vec<i64> = states.iter().map(|state| state.code()).collect();
        let after_ms = after.map(Instant::as_ms);
        let reference = filter.after.as_ref().map(|(_, reference, _)| reference);
        let request_id = filter.after.as_ref().map(|(.., request_id)| request_id);
        let count = limit(filter.limit);
        let workflow = filter.workflow.map(|workflow| workflow.0);
        let values: [&(dyn postgres::types::ToSql + Sync); 8] =
            [&from_ms, &to_ms, &states, &after_ms, &reference, &request_id, &count, &workflow];
        match workflow {
            None => self.rows(TABLE, SELECT_MATCHING, &values[..7], read_run),
            Some(_) => self.rows(TABLE, SELECT_MATCHING_OF, &values, read_run),
        }
    }

    pub(super) fn queued_runs(
        &mut self,
        state: OpenState,
        now: Instant,
        after: Option<&RunRecord>,
        count: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.select_open(SELECT_OPEN, state, now, after, count)
    }

    /// The same, and nobody else has them or their workflows until this transaction ends.
    pub(super) fn taken_runs(
        &mut self,
        state: OpenState,
        now: Instant,
        after: Option<&RunRecord>,
        count: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        if self.access != Access::Beside {
            return self.queued_runs(state, now, after, count);
        }
        let taken = self.select_open(TAKE_OPEN, state, now, after, count)?;
        if taken.len() < count {
            let all = self.queued_runs(state, now, after, taken.len() + 1)?;
            self.has_passed_over |= all.len() > taken.len();
        }
        Ok(taken)
    }

    fn select_open(
        &mut self,
        sql: &'static str,
        state: OpenState,
        now: Instant,
        after: Option<&RunRecord>,
        count: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let after_ms = after.and_then(|run| run.available).map_or(i64::MIN, Instant::as_ms);
        let reference = after.map_or("", |run| &run.reference);
        let occurrence_ms = after.map_or(0, |run| run.key.occurrence.as_ms());
        let request_id = after.map_or("", |run| &run.key.request_id);
        let (state, count) = (RunState::from(state).code(), limit(Some(count)));
        self.rows(
            TABLE,
            sql,
            &[&state, &now.as_ms(), &after_ms, &reference, &occurrence_ms, &request_id, &count],
            read_run,
        )
    }

    pub(super) fn next_queued_run(&mut self, now: Instant) -> Result<Option<Instant>, StoreError> {
        let read = |columns: &mut Columns<'_>| columns.instant_or_none();
        Ok(self.row(TABLE, SELECT_NEXT_AVAILABLE, &[&now.as_ms()], read)?.flatten())
    }

    pub(super) fn add_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        if runs.is_empty() {
            return Ok(());
        }
        let added = Lists::of(runs, |values| self.rows(TABLE, INSERT, values, read_key))?;
        self.wakes_others |= runs.iter().any(|run| run.state == RunState::Pending);
        let given = runs.iter().map(|run| run.key.clone());
        self.check_added(TABLE, given, added, |key| key.workflow)
    }

    pub(super) fn change_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        if runs.is_empty() {
            return Ok(());
        }
        self.wakes_others |= runs.iter().any(|run| run.state == RunState::Pending);
        Lists::of(runs, |values| self.change(TABLE, UPDATE, values, runs.len()))
    }

    pub(super) fn remove_runs(&mut self, keys: &[RunKey]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        let KeyLists { occurrences, workflows, request_ids } = KeyLists::of(keys);
        self.change(TABLE, DELETE, &[&occurrences, &workflows, &request_ids], keys.len())
    }
}

/// The columns of several keys, one list for each.
pub(super) struct KeyLists<'k> {
    pub(super) occurrences: Vec<i64>,
    pub(super) workflows: Vec<i64>,
    pub(super) request_ids: Vec<&'k str>,
}

impl<'k> KeyLists<'k> {
    pub(super) fn of(keys: &'k [RunKey]) -> KeyLists<'k> {
        KeyLists {
            occurrences: keys.iter().map(|key| key.occurrence.as_ms()).collect(),
            workflows: keys.iter().map(|key| key.workflow.0).collect(),
            request_ids: keys.iter().map(|key| key.request_id.as_str()).collect(),
        }
    }
}

/// The columns of several runs, one list for each.
struct Lists;

impl Lists {
    /// Lends the lists of `runs` to a statement, in the order of its parameters.
    fn of<T>(
        runs: &[RunRecord],
        statement: impl FnOnce(super::transaction::Values<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let of = |value: fn(&RunRecord) -> i64| runs.iter().map(value).collect::<Vec<_>>();
        let or_none =
            |value: fn(&RunRecord) -> Option<i64>| runs.iter().map(value).collect::<Vec<_>>();
        let attempted = |value: fn(&Attempt) -> Option<i64>| {
            runs.iter().map(|run| run.attempt.as_ref().and_then(value)).collect::<Vec<_>>()
        };
        let request_ids: Vec<&str> = runs.iter().map(|run| run.key.request_id.as_str()).collect();
        let names: Vec<&str> = runs.iter().map(|run| run.reference.as_str()).collect();
        let tzdbs: Vec<&str> = runs.iter().map(|run| run.tzdb.as_str()).collect();
        let attempts = || runs.iter().map(|run| run.attempt.as_ref());
        let workers: Vec<Option<&str>> =
            attempts().map(|attempt| attempt.map(|attempt| attempt.worker.as_str())).collect();
        let errors: Vec<Option<&[u8]>> =
            attempts().map(|attempt| attempt.and_then(error_of)).collect();
        let outputs: Vec<Option<&str>> = runs.iter().map(|run| run.output.as_deref()).collect();
        statement(&[
            &of(|run| run.key.occurrence.as_ms()),
            &of(|run| run.key.workflow.0),
            &request_ids,
            &names,
            &of(|run| run.plan.due.as_ms()),
            &of(|run| run.plan.window.start.as_ms()),
            &of(|run| run.plan.window.end.as_ms()),
            &of(|run| run.plan.interval_ms),
            &of(|run| run.plan.phase_ms),
            &of(|run| i64::from(run.plan.revision)),
            &of(|run| run.plan.authored.local_ms),
            &of(|run| run.plan.authored.resolution.code()),
            &tzdbs,
            &of(|run| run.state.code()),
            &or_none(|run| run.available.map(Instant::as_ms)),
            &of(|run| i64::from(run.attempts)),
            &attempted(|attempt| Some(i64::from(attempt.number))),
            &attempted(|attempt| Some(attempt.token)),
            &workers,
            &attempted(|attempt| Some(attempt.claimed.as_ms())),
            &attempted(|attempt| attempt.ended.map(Instant::as_ms)),
            &attempted(|attempt| attempt.outcome.map(Code::code)),
            &errors,
            &outputs,
            &of(checksum::of_run),
        ])
    }
}

pub(super) fn read_run(columns: &mut Columns<'_>) -> Result<RunRecord, StoreError> {
    let key = read_key(columns)?;
    let run = RunRecord {
        reference: columns.text()?,
        plan: read_plan(columns, key.occurrence)?,
        key,
        tzdb: columns.text()?,
        state: columns.code()?,
        available: columns.instant_or_none()?,
        attempts: columns.small()?,
        attempt: read_attempt(columns)?,
        output: columns.value()?,
    };
    columns.check(checksum::of_run(&run), || run.id().to_string())?;
    Ok(run)
}

fn read_plan(columns: &mut Columns<'_>, occurrence: Instant) -> Result<Run, StoreError> {
    Ok(Run {
        occurrence,
        due: columns.instant()?,
        window: Window { start: columns.instant()?, end: columns.instant()? },
        interval_ms: columns.number()?,
        phase_ms: columns.number()?,
        revision: columns.small()?,
        authored: Authored { local_ms: columns.number()?, resolution: columns.code()? },
    })
}

fn read_attempt(columns: &mut Columns<'_>) -> Result<Option<Attempt>, StoreError> {
    let number = columns.small_or_none()?;
    let token: Option<i64> = columns.value()?;
    let worker: Option<String> = columns.value()?;
    let claimed = columns.instant_or_none()?;
    let ended = columns.instant_or_none()?;
    let outcome = columns.code_or_none()?;
    let error = columns.text_from_bytes()?;
    match (number, token, worker, claimed) {
        (Some(number), Some(token), Some(worker), Some(claimed)) => {
            Ok(Some(Attempt { number, token, worker, claimed, ended, outcome, error }))
        }
        (None, None, None, None) => Ok(None),
        _ => Err(columns.damage("only a part of its attempt is there".to_owned())),
    }
}
