//! The revisions of a workflow's schedule.

use rusqlite::params;

use crate::store::record::{RevisionRow, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::SqliteTransaction;

const TABLE: &str = "revision";

macro_rules! select {
    ($where:literal) => {
        concat!(
            "SELECT workflow_id, number, after_ms, schedule, made_ms, version, checksum
            FROM revision LEFT JOIN tzdb ON tzdb.id = tzdb_id ",
            $where
        )
    };
}

pub(super) const SELECT_ALL: &str = select!("");

/// Of one workflow all, or those from the newest one whose `after` is at or before an instant.
const SELECT: &str = select!(
    "WHERE workflow_id = ?1 AND number >= coalesce((SELECT max(number) FROM revision
        WHERE workflow_id = ?1 AND after_ms <= ?2), 1)
    ORDER BY number"
);

const INSERT: &str = "INSERT INTO revision (workflow_id, number, after_ms, schedule, made_ms,
    tzdb_id, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

impl SqliteTransaction<'_> {
    pub(super) fn revisions_of(
        &mut self,
        workflow: WorkflowId,
        instant: Option<Instant>,
    ) -> Result<Vec<RevisionRow>, StoreError> {
        let values = params![workflow.0, instant.map(Instant::as_ms)];
        self.rows(TABLE, SELECT, values, read_revision)
    }

    pub(super) fn add_revisions(&mut self, revisions: &[RevisionRow]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        for revision in revisions {
            let values = params![
                revision.workflow.0,
                revision.number,
                revision.after.map(Instant::as_ms),
                revision.schedule,
                revision.made.as_ms(),
                self.tzdb_id(&revision.tzdb)?,
                checksum::of_revision(revision),
            ];
            self.change_one(TABLE, INSERT, values)?;
        }
        Ok(())
    }
}

pub(super) fn read_revision(columns: &mut Columns<'_>) -> Result<RevisionRow, StoreError> {
    let revision = RevisionRow {
        workflow: WorkflowId(columns.number()?),
        number: columns.small()?,
        after: columns.instant_or_none()?,
        schedule: columns.value()?,
        made: columns.instant()?,
        tzdb: columns.text()?,
    };
    let name = || format!("revision {} of workflow {}", revision.number, revision.workflow.0);
    columns.check(checksum::of_revision(&revision), name)?;
    Ok(revision)
}
