//! Occurrences that were settled without a run.

use rusqlite::params;

use crate::store::codes::Code;
use crate::store::record::{SkipFilter, SkipRecord, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::{SqliteTransaction, limit};

const TABLE: &str = "skip";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT skip.workflow_id, ref, first_ms, last_ms, count, reason, skipped_ms, revision,
            version, skip.checksum FROM skip LEFT JOIN workflow ON workflow.id = skip.workflow_id
            LEFT JOIN tzdb ON tzdb.id = tzdb_id ",
            $rest
        )
    };
}

pub(super) const SELECT_ALL: &str = select!("");

/// `?3` to `?5` are the place to go on after.
const SELECT: &str = select!(
    "WHERE last_ms >= ?1 AND first_ms < ?2 AND first_ms >= ?3
        AND (first_ms > ?3 OR (ref, last_ms) > (?4, ?5))
    ORDER BY first_ms, ref, last_ms, skip.id LIMIT ?6"
);

const SELECT_OF_WORKFLOW: &str = select!(
    "WHERE last_ms >= ?1 AND first_ms < ?2 AND first_ms >= ?3
        AND (first_ms > ?3 OR (ref, last_ms) > (?4, ?5)) AND skip.workflow_id = ?7
    ORDER BY first_ms, ref, last_ms, skip.id LIMIT ?6"
);

const INSERT: &str = "INSERT INTO skip (workflow_id, first_ms, last_ms, count, reason, skipped_ms,
    revision, tzdb_id, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// Of rows that are alike in everything, one.
const DELETE: &str = "DELETE FROM skip WHERE id = (SELECT min(id) FROM skip WHERE workflow_id = ?1
    AND first_ms = ?2 AND last_ms = ?3 AND checksum = ?4)";

impl SqliteTransaction<'_> {
    pub(super) fn remove_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        for skip in skips {
            let values = params![
                skip.workflow.0,
                skip.first.as_ms(),
                skip.last.as_ms(),
                checksum::of_skip(skip),
            ];
            self.change_one(TABLE, DELETE, values)?;
        }
        Ok(())
    }

    pub(super) fn skips_matching(
        &mut self,
        filter: &SkipFilter,
    ) -> Result<Vec<SkipRecord>, StoreError> {
        let from_ms = filter.from.map_or(i64::MIN, Instant::as_ms);
        let to_ms = filter.to.map_or(i64::MAX, Instant::as_ms);
        let (first_ms, reference, last_ms) =
            filter.after.as_ref().map_or((i64::MIN, "", i64::MIN), |(first, reference, last)| {
                (first.as_ms(), reference.as_str(), last.as_ms())
            });
        let count = limit(filter.limit);
        match filter.workflow {
            None => {
                let values = params![from_ms, to_ms, first_ms, reference, last_ms, count];
                self.rows(TABLE, SELECT, values, read_skip)
            }
            Some(workflow) => {
                let values =
                    params![from_ms, to_ms, first_ms, reference, last_ms, count, workflow.0];
                self.rows(TABLE, SELECT_OF_WORKFLOW, values, read_skip)
            }
        }
    }

    pub(super) fn add_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        for skip in skips {
            let values = params![
                skip.workflow.0,
                skip.first.as_ms(),
                skip.last.as_ms(),
                skip.count.cast_signed(),
                skip.reason.code(),
                skip.skipped.as_ms(),
                skip.revision,
                self.tzdb_id(&skip.tzdb)?,
                checksum::of_skip(skip),
            ];
            self.change_one(TABLE, INSERT, values)?;
        }
        Ok(())
    }
}

pub(super) fn read_skip(columns: &mut Columns<'_>) -> Result<SkipRecord, StoreError> {
    let skip = SkipRecord {
        workflow: WorkflowId(columns.number()?),
        reference: columns.text()?,
        first: columns.instant()?,
        last: columns.instant()?,
        count: columns.number()?.cast_unsigned(),
        reason: columns.code()?,
        skipped: columns.instant()?,
        revision: columns.small()?,
        tzdb: columns.text()?,
    };
    columns.check(checksum::of_skip(&skip), || {
        format!("{} to {} of {}", skip.first, skip.last, skip.reference)
    })?;
    Ok(skip)
}
