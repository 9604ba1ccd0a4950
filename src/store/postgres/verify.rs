//! The check of a whole store: every row against its checksum, and the rows of one table against
//! those of another.

use crate::store::between::BETWEEN_TABLES;
use crate::store::{Finding, StoreError};

use super::columns::Columns;
use super::transaction::PostgresTransaction;
use super::{attempts, decisions, info, revisions, runs, skips, workflows};

/// More findings than this are not gathered: the store is beyond them.
const FINDINGS_LIMIT: usize = 1_000;

/// What a table keeps of another beside what the other says itself.
const KEPT_TWICE: &[(&str, &str, &str)] = &[
    (
        "progress",
        "has another name where its progress is",
        "SELECT workflow.ref, CAST(NULL AS bigint) FROM progress JOIN workflow ON id = workflow_id
            WHERE progress.ref <> workflow.ref",
    ),
    (
        "run",
        "has another name where its run is",
        "SELECT workflow.ref, occurrence_ms FROM run JOIN workflow ON id = workflow_id
            WHERE run.ref <> workflow.ref",
    ),
];

/// Checks everything that `transaction` sees.
///
/// # Errors
/// What keeps the check from being carried out; what is wrong with the store is a finding.
pub(super) fn verify(
    transaction: &mut PostgresTransaction<'_>,
) -> Result<Vec<Finding>, StoreError> {
    let mut check = Check { transaction, findings: Vec::new() };
    check.rows()?;
    for &(table, problem, sql) in BETWEEN_TABLES.iter().chain(KEPT_TWICE) {
        check.between(table, problem, sql)?;
    }
    Ok(check.findings)
}

/// What was found so far.
struct Check<'t, 's> {
    transaction: &'t mut PostgresTransaction<'s>,
    findings: Vec<Finding>,
}

impl Check<'_, '_> {
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
        sql: &'static str,
        read: impl Fn(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<(), StoreError> {
        let findings = &mut self.findings;
        self.transaction.each_row(table, sql, |columns| match read(columns) {
            Err(StoreError::Corrupt { problem, .. }) => {
                found(findings, table, problem);
                Ok(())
            }
            other => other.map(drop),
        })
    }

    fn between(
        &mut self,
        table: &'static str,
        problem: &str,
        sql: &'static str,
    ) -> Result<(), StoreError> {
        let findings = &mut self.findings;
        self.transaction.each_row(table, sql, |columns| {
            let name = columns.text()?;
            let occurrence = columns.instant_or_none()?;
            let occurrence = occurrence.map_or(String::new(), |instant| format!("@{instant}"));
            found(findings, table, format!("`{name}{occurrence}` {problem}"));
            Ok(())
        })
    }
}

fn found(findings: &mut Vec<Finding>, place: &'static str, problem: String) {
    if findings.len() < FINDINGS_LIMIT {
        findings.push(Finding { place, problem });
    }
}
