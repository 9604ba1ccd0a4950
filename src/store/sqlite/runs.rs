//! Runs, each with its last attempt.

use rusqlite::params;

use crate::plan::Run;
use crate::store::codes::Code;
use crate::store::record::{
    Attempt, OpenState, RunFilter, RunKey, RunRecord, RunState, WorkflowId,
};
use crate::store::{StoreError, checksum};
use crate::time::{Authored, Instant, Window};

use super::columns::Columns;
use super::transaction::{SqliteTransaction, limit};

const TABLE: &str = "run";
const OPEN: &str = "open_run";

/// The columns that [`read_run`] takes, in its order.
macro_rules! columns {
    () => {
        "run.occurrence_ms, run.workflow_id, run.request_id, workflow.ref, due_ms, delay_ms,
        window_ms, interval_ms, phase_ms, revision, local_ahead_ms, resolution, version, run.state,
        run.available_ms, attempts, attempt, token, name, claimed_ms, ended_ms, outcome, error,
        output, run.checksum"
    };
}

/// The tables that hold them. Outer joins: a name that is missing is damage, not an absent run.
macro_rules! names {
    () => {
        " LEFT JOIN workflow ON workflow.id = run.workflow_id LEFT JOIN tzdb ON tzdb.id = tzdb_id
        LEFT JOIN worker ON worker.id = worker_id "
    };
}

pub(super) const SELECT_ALL: &str = concat!("SELECT ", columns!(), " FROM run", names!());

const SELECT_WITH_KEY: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM run",
    names!(),
    "WHERE run.occurrence_ms = ?1 AND run.workflow_id = ?2 AND run.request_id = ?3"
);

/// `?4` holds one bit for each state that is wanted; `?5` to `?7` are the place to go on after.
const SELECT_MATCHING: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM run",
    names!(),
    "WHERE run.occurrence_ms >= ?1 AND run.occurrence_ms < ?2
        AND (?3 IS NULL OR run.workflow_id = ?3) AND ((?4 >> run.state) & 1)
        AND (?5 IS NULL OR run.occurrence_ms > ?5
            OR (workflow.ref, run.request_id) > (?6, ?7))
    ORDER BY run.occurrence_ms, workflow.ref, run.request_id LIMIT ?8"
);

const SELECT_OPEN: &str = concat!(
    "SELECT ",
    columns!(),
    ", open_run.state, open_run.available_ms FROM open_run LEFT JOIN run ON run.occurrence_ms = open_run.occurrence_ms
        AND run.workflow_id = open_run.workflow_id AND run.request_id = open_run.request_id",
    names!(),
    "WHERE open_run.state = ?1 AND open_run.available_ms <= ?2
        AND (open_run.available_ms, open_run.ref, open_run.occurrence_ms, open_run.request_id)
            > (?3, ?4, ?5, ?6)
    ORDER BY open_run.available_ms, open_run.ref, open_run.occurrence_ms, open_run.request_id
    LIMIT ?7"
);

const SELECT_NEXT_AVAILABLE: &str = "SELECT min(available_ms) FROM (
    SELECT min(available_ms) AS available_ms FROM open_run WHERE state = 0 AND available_ms > ?1
    UNION ALL
    SELECT min(available_ms) FROM open_run WHERE state = 1 AND available_ms > ?1)";

const INSERT: &str = "INSERT INTO run (occurrence_ms, workflow_id, request_id, due_ms, delay_ms,
    window_ms, interval_ms, phase_ms, revision, local_ahead_ms, resolution, tzdb_id, state,
    available_ms, attempts, attempt, token, worker_id, claimed_ms, ended_ms, outcome, error, output,
    checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
    ?18, ?19, ?20, ?21, ?22, ?23, ?24)";

const UPDATE: &str = "UPDATE run SET due_ms = ?4, delay_ms = ?5, window_ms = ?6, interval_ms = ?7,
    phase_ms = ?8, revision = ?9, local_ahead_ms = ?10, resolution = ?11, tzdb_id = ?12,
    state = ?13, available_ms = ?14, attempts = ?15, attempt = ?16, token = ?17, worker_id = ?18,
    claimed_ms = ?19, ended_ms = ?20, outcome = ?21, error = ?22, output = ?23, checksum = ?24
    WHERE occurrence_ms = ?1 AND workflow_id = ?2 AND request_id = ?3";

const DELETE: &str =
    "DELETE FROM run WHERE occurrence_ms = ?1 AND workflow_id = ?2 AND request_id = ?3";

const SELECT_PLACE: &str = "SELECT state, available_ms FROM run
    WHERE occurrence_ms = ?1 AND workflow_id = ?2 AND request_id = ?3";

const INSERT_OPEN: &str = "INSERT INTO open_run (state, available_ms, ref, occurrence_ms,
    request_id, workflow_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const DELETE_OPEN: &str = "DELETE FROM open_run WHERE state = ?1 AND available_ms = ?2
    AND ref = ?3 AND occurrence_ms = ?4 AND request_id = ?5";

/// The place of a run among those that can still be handed out.
type OpenPlace = (RunState, Instant);

impl SqliteTransaction<'_> {
    pub(super) fn run_with_key(&mut self, key: &RunKey) -> Result<Option<RunRecord>, StoreError> {
        let values = params![key.occurrence.as_ms(), key.workflow.0, key.request_id];
        self.row(TABLE, SELECT_WITH_KEY, values, read_run)
    }

    pub(super) fn runs_matching(
        &mut self,
        filter: &RunFilter,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let after = filter.after.as_ref().map(|(occurrence, ..)| *occurrence);
        let from = filter.from.max(after).unwrap_or(Instant::MIN);
        // Past the last instant, so that it is taken in too.
        let to_ms = filter.to.map_or(i64::MAX, Instant::as_ms);
        let place = filter.after.as_ref();
        let values = params![
            from.as_ms(),
            to_ms,
            filter.workflow.map(|workflow| workflow.0),
            state_bits(&filter.states),
            after.map(Instant::as_ms),
            place.map(|(_, reference, _)| reference),
            place.map(|(_, _, request_id)| request_id),
            limit(filter.limit),
        ];
        self.rows(TABLE, SELECT_MATCHING, values, read_run)
    }

    pub(super) fn queued_runs(
        &mut self,
        state: OpenState,
        now: Instant,
        after: Option<&RunRecord>,
        count: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let after_ms = after.and_then(|run| run.available).map_or(i64::MIN, Instant::as_ms);
        let values = params![
            RunState::from(state).code(),
            now.as_ms(),
            after_ms,
            after.map_or("", |run| &run.reference),
            after.map_or(0, |run| run.key.occurrence.as_ms()),
            after.map_or("", |run| &run.key.request_id),
            limit(Some(count)),
        ];
        self.rows(OPEN, SELECT_OPEN, values, read_open_run)
    }

    pub(super) fn next_queued_run(&mut self, now: Instant) -> Result<Option<Instant>, StoreError> {
        let next = self
            .row(OPEN, SELECT_NEXT_AVAILABLE, [now.as_ms()], |columns| columns.instant_or_none())?;
        Ok(next.flatten())
    }

    pub(super) fn add_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        for run in runs {
            self.write_run(INSERT, run)?;
            self.open(run)?;
        }
        Ok(())
    }

    pub(super) fn change_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        for run in runs {
            let stored = self.open_place(&run.key)?;
            self.write_run(UPDATE, run)?;
            if stored != place(run) {
                self.close(run, stored)?;
                self.open(run)?;
            }
        }
        Ok(())
    }

    pub(super) fn remove_runs(&mut self, keys: &[RunKey]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        for key in keys {
            let run = self.run_with_key(key)?.ok_or(StoreError::Missing { table: TABLE })?;
            self.close(&run, place(&run))?;
            let values = params![key.occurrence.as_ms(), key.workflow.0, key.request_id];
            self.change_one(TABLE, DELETE, values)?;
        }
        Ok(())
    }

    fn write_run(&mut self, sql: &str, run: &RunRecord) -> Result<(), StoreError> {
        let (plan, attempt) = (&run.plan, run.attempt.as_ref());
        let window_ms = plan.window.end.ms_since(plan.window.start);
        let tzdb_id = self.tzdb_id(&run.tzdb)?;
        let worker_id = attempt.map(|attempt| self.worker_id(&attempt.worker)).transpose()?;
        let values = params![
            run.key.occurrence.as_ms(),
            run.key.workflow.0,
            run.key.request_id,
            (plan.due.as_ms() != usual_due_ms(plan)).then_some(plan.due.as_ms()),
            plan.occurrence.ms_since(plan.window.end),
            (window_ms != plan.interval_ms).then_some(window_ms),
            plan.interval_ms,
            plan.phase_ms,
            plan.revision,
            plan.authored.local_ms - plan.occurrence.as_ms(),
            plan.authored.resolution.code(),
            tzdb_id,
            run.state.code(),
            run.available.map(Instant::as_ms),
            run.attempts,
            attempt.map(|attempt| attempt.number),
            attempt.map(|attempt| attempt.token),
            worker_id,
            attempt.map(|attempt| attempt.claimed.as_ms()),
            attempt.and_then(|attempt| attempt.ended).map(Instant::as_ms),
            attempt.and_then(|attempt| attempt.outcome).map(Code::code),
            attempt.and_then(|attempt| attempt.error.as_deref()),
            run.output,
            checksum::of_run(run),
        ];
        self.change_one(TABLE, sql, values)
    }

    /// Where the run stands on record.
    fn open_place(&self, key: &RunKey) -> Result<Option<OpenPlace>, StoreError> {
        let values = params![key.occurrence.as_ms(), key.workflow.0, key.request_id];
        let found = self.row(TABLE, SELECT_PLACE, values, |columns| {
            Ok((columns.code()?, columns.instant_or_none()?))
        })?;
        let (state, available) = found.ok_or(StoreError::Missing { table: TABLE })?;
        Ok(available.map(|available| (state, available)))
    }

    fn open(&self, run: &RunRecord) -> Result<(), StoreError> {
        let Some((state, available)) = place(run) else { return Ok(()) };
        let values = params![
            state.code(),
            available.as_ms(),
            run.reference,
            run.key.occurrence.as_ms(),
            run.key.request_id,
            run.key.workflow.0,
        ];
        self.change_one(OPEN, INSERT_OPEN, values)
    }

    fn close(&self, run: &RunRecord, place: Option<OpenPlace>) -> Result<(), StoreError> {
        let Some((state, available)) = place else { return Ok(()) };
        let values = params![
            state.code(),
            available.as_ms(),
            run.reference,
            run.key.occurrence.as_ms(),
            run.key.request_id,
        ];
        self.change_one(OPEN, DELETE_OPEN, values)
    }
}

fn place(run: &RunRecord) -> Option<OpenPlace> {
    run.available.map(|available| (run.state, available))
}

/// The due instant of every run that no later revision makes due earlier; it is not stored.
fn usual_due_ms(plan: &Run) -> i64 {
    plan.occurrence.as_ms() + plan.phase_ms
}

/// One bit for each state; all of them where none is named.
fn state_bits(states: &[RunState]) -> i64 {
    let bits = states.iter().fold(0, |bits, state| bits | 1 << state.code());
    if bits == 0 { !0 } else { bits }
}

pub(super) fn read_run(columns: &mut Columns<'_>) -> Result<RunRecord, StoreError> {
    let key = RunKey {
        occurrence: columns.instant()?,
        workflow: WorkflowId(columns.number()?),
        request_id: columns.text()?,
    };
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

/// A run whose place among the open runs is its own.
fn read_open_run(columns: &mut Columns<'_>) -> Result<RunRecord, StoreError> {
    let run = read_run(columns)?;
    if place(&run) == Some((columns.code()?, columns.instant()?)) {
        return Ok(run);
    }
    Err(columns.damage("the place among the open runs is not the run's".to_owned()))
}

fn read_plan(columns: &mut Columns<'_>, occurrence: Instant) -> Result<Run, StoreError> {
    let due = columns.instant_or_none()?;
    let delay_ms = columns.number()?;
    let window_ms: Option<i64> = columns.value()?;
    let interval_ms = columns.number()?;
    let phase_ms = columns.number()?;
    let revision = columns.small()?;
    let ahead_ms = columns.number()?;
    // Damaged columns may hold any number.
    let sum = |ms: i64, more_ms: i64| columns.in_range(ms.saturating_add(more_ms));
    let end = sum(occurrence.as_ms(), delay_ms.saturating_neg())?;
    let start = sum(end.as_ms(), window_ms.unwrap_or(interval_ms).saturating_neg())?;
    let due = due.map_or_else(|| sum(occurrence.as_ms(), phase_ms), Ok)?;
    let local_ms = occurrence.as_ms().saturating_add(ahead_ms);
    Ok(Run {
        occurrence,
        due,
        window: Window { start, end },
        interval_ms,
        phase_ms,
        revision,
        authored: Authored { local_ms, resolution: columns.code()? },
    })
}

fn read_attempt(columns: &mut Columns<'_>) -> Result<Option<Attempt>, StoreError> {
    let number: Option<u32> = columns.value()?;
    let token: Option<i64> = columns.value()?;
    let worker: Option<String> = columns.value()?;
    let claimed = columns.instant_or_none()?;
    let ended = columns.instant_or_none()?;
    let outcome = columns.code_or_none()?;
    let error = columns.value()?;
    match (number, token, worker, claimed) {
        (Some(number), Some(token), Some(worker), Some(claimed)) => {
            Ok(Some(Attempt { number, token, worker, claimed, ended, outcome, error }))
        }
        (None, None, None, None) => Ok(None),
        _ => Err(columns.damage("only a part of its attempt is there".to_owned())),
    }
}
