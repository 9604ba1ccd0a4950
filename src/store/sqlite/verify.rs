//! The check of a whole store: the file, every row against its checksum, and the rows of one
//! table against those of another.

use crate::store::between::BETWEEN_TABLES;
use crate::store::{Finding, StoreError};

use super::columns::Columns;
use super::transaction::SqliteTransaction;
use super::{attempts, decisions, info, migrate, revisions, runs, skips, workflows};

/// More findings than this are not gathered: the store is beyond them.
const FINDINGS_LIMIT: usize = 1_000;

const FILE: &str = "file";

/// What the rows that are sorted once more must hold: as in [`BETWEEN_TABLES`].
const SORTED_ONCE_MORE: &[(&str, &str, &str)] = &[
    (
        "queue",
        "has a turn and no place in the queue for it",
        "SELECT ref, NULL FROM progress JOIN workflow ON id = workflow_id
            WHERE turn_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM queue
                WHERE queue.turn_ms = progress.turn_ms AND queue.ref = workflow.ref
                    AND queue.due_ms = progress.due_ms
                    AND queue.workflow_id = progress.workflow_id)",
    ),
    (
        "queue",
        "has a place in the queue that is not its turn",
        "SELECT ref, NULL FROM queue WHERE NOT EXISTS (SELECT 1 FROM progress
            JOIN workflow ON id = progress.workflow_id
            WHERE progress.workflow_id = queue.workflow_id AND workflow.ref = queue.ref
                AND progress.turn_ms = queue.turn_ms AND progress.due_ms = queue.due_ms)",
    ),
    (
        "open_run",
        "is open and has no place among the open runs",
        "SELECT ref, occurrence_ms FROM run JOIN workflow ON id = workflow_id
            WHERE available_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM open_run
                WHERE open_run.state = run.state AND open_run.available_ms = run.available_ms
                    AND open_run.ref = workflow.ref AND open_run.request_id = run.request_id
                    AND open_run.occurrence_ms = run.occurrence_ms
                    AND open_run.workflow_id = run.workflow_id)",
    ),
    (
        "open_run",
        "has a place among the open runs that is not its own",
        "SELECT ref, occurrence_ms FROM open_run WHERE NOT EXISTS (SELECT 1 FROM run
            JOIN workflow ON id = run.workflow_id
            WHERE run.occurrence_ms = open_run.occurrence_ms
                AND run.workflow_id = open_run.workflow_id AND run.request_id = open_run.request_id
                AND run.state = open_run.state AND run.available_ms = open_run.available_ms
                AND workflow.ref = open_run.ref)",
    ),
];

/// What was found so far.
struct Check<'t, 's> {
    transaction: &'t SqliteTransaction<'s>,
    findings: Vec<Finding>,
}

/// Checks everything that `transaction` sees.
///
/// # Errors
/// What keeps the check from being carried out; what is wrong with the store is a finding.
pub(super) fn verify(transaction: &SqliteTransaction<'_>) -> Result<Vec<Finding>, StoreError> {
    let mut check = Check { transaction, findings: Vec::new() };
    check.file()?;
    check.schema()?;
    check.rows()?;
    for &(table, problem, sql) in BETWEEN_TABLES.iter().chain(SORTED_ONCE_MORE) {
        check.between(table, problem, sql)?;
    }
    Ok(check.findings)
}

/// The error as a finding, where it says something about the store and not about the way to it.
pub(super) fn finding_of(error: StoreError) -> Result<Finding, StoreError> {
    match error {
        StoreError::Corrupt { table, problem } => Ok(Finding { place: table, problem }),
        StoreError::Damaged { problem, .. } => Ok(Finding { place: FILE, problem }),
        other => Err(other),
    }
}

impl Check<'_, '_> {
    fn found(&mut self, place: &'static str, problem: String) {
        if self.findings.len() < FINDINGS_LIMIT {
            self.findings.push(Finding { place, problem });
        }
    }

    fn failed(&mut self, error: StoreError) -> Result<(), StoreError> {
        let Finding { place, problem } = finding_of(error)?;
        self.found(place, problem);
        Ok(())
    }

    /// The trees of the file, the constraints of its tables, and its foreign keys.
    fn file(&mut self) -> Result<(), StoreError> {
        let text = |columns: &mut Columns<'_>| columns.text();
        match self.transaction.rows(FILE, "PRAGMA integrity_check(100)", [], text) {
            Ok(lines) => lines
                .into_iter()
                .filter(|line| line != "ok")
                .for_each(|line| self.found(FILE, line)),
            Err(error) => self.failed(error)?,
        }
        let child = |columns: &mut Columns<'_>| {
            let table = columns.text()?;
            let _row_id: Option<i64> = columns.value()?;
            Ok(format!("a row of `{table}` belongs to a row of `{}` that is gone", columns.text()?))
        };
        match self.transaction.rows(FILE, "PRAGMA foreign_key_check", [], child) {
            Ok(lines) => lines.into_iter().for_each(|line| self.found(FILE, line)),
            Err(error) => self.failed(error)?,
        }
        Ok(())
    }

    /// The tables, indexes and views themselves.
    fn schema(&mut self) -> Result<(), StoreError> {
        const SELECT: &str = "SELECT coalesce(sql, type || ' ' || name) FROM sqlite_schema
            WHERE name NOT GLOB 'sqlite_stat*' ORDER BY 1";
        let expected = migrate::newest_schema(SELECT);
        let found =
            self.transaction.rows(FILE, SELECT, [], |columns: &mut Columns<'_>| columns.text());
        match (expected, found) {
            (Ok(expected), Ok(found)) if expected == found => {}
            (Ok(_), Ok(_)) => {
                self.found(
                    FILE,
                    "its tables, indexes or views are not as they were made".to_owned(),
                );
            }
            (_, Err(error)) => self.failed(error)?,
            (Err(error), _) => return Err(self.transaction.fault(FILE, error)),
        }
        Ok(())
    }

    /// Every row against its checksum.
    fn rows(&mut self) -> Result<(), StoreError> {
        self.each("store_info", info::SELECT, info::read_info)?;
        self.each("workflow", workflows::SELECT_ALL, workflows::read_workflow)?;
        self.each("revision", revisions::SELECT_ALL, revisions::read_revision)?;
        self.each("run", runs::SELECT_ALL, runs::read_run)?;
        self.each("attempt", attempts::SELECT_ALL, attempts::read_attempt)?;
        self.each("pause", decisions::SELECT_PAUSES, decisions::read_pause)?;
        self.each("request", decisions::SELECT_REQUESTS, decisions::read_request)?;
        self.each("skip", skips::SELECT_ALL, skips::read_skip)
    }

    fn each<T>(
        &mut self,
        table: &'static str,
        sql: &str,
        read: impl Fn(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<(), StoreError> {
        let transaction = self.transaction;
        let each = transaction.rows(table, sql, [], |columns| match read(columns) {
            Ok(_) => Ok(()),
            Err(error) => self.failed(error),
        });
        each.map(drop).or_else(|error| self.failed(error))
    }

    fn between(&mut self, table: &'static str, problem: &str, sql: &str) -> Result<(), StoreError> {
        let bounded = format!("SELECT * FROM ({sql}) LIMIT ?1");
        let name = |columns: &mut Columns<'_>| {
            let name: Option<String> = columns.value()?;
            let occurrence = columns.instant_or_none()?;
            let occurrence = occurrence.map_or(String::new(), |instant| format!("@{instant}"));
            Ok(format!("`{}{occurrence}` {problem}", name.unwrap_or_default()))
        };
        match self.transaction.rows(table, &bounded, [FINDINGS_LIMIT as i64], name) {
            Ok(problems) => problems.into_iter().for_each(|problem| self.found(table, problem)),
            Err(error) => self.failed(error)?,
        }
        Ok(())
    }
}
