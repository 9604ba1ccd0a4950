//! Occurrences that were settled without a run.

use crate::store::codes::Code;
use crate::store::record::{SkipFilter, SkipRecord, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::{PostgresTransaction, limit};

const TABLE: &str = "skip";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT skip.workflow_id, ref, first_ms, last_ms, count, reason, skipped_ms, revision,
            tzdb, skip.checksum FROM skip JOIN workflow ON workflow.id = skip.workflow_id ",
            $rest
        )
    };
}

pub(super) const SELECT_ALL: &str = select!("");

/// `$5` to `$7` are the place to go on after.
const SELECT: &str = select!(
    "WHERE last_ms >= $1 AND first_ms < $2 AND ($4::bigint IS NULL OR skip.workflow_id = $4)
        AND ($5::bigint IS NULL OR (first_ms, ref, last_ms) > ($5, $6::text, $7::bigint))
    ORDER BY first_ms, ref, last_ms, skip.id LIMIT $3"
);

/// In the order in which they are given: their ids tell which came first.
const INSERT: &str = "INSERT INTO skip (workflow_id, first_ms, last_ms, count, reason, skipped_ms,
    revision, tzdb, checksum)
    SELECT given.workflow_id, first_ms, last_ms, count, reason, skipped_ms, revision, tzdb,
        given.checksum
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::bigint[], $8::text[], $9::bigint[]) WITH ORDINALITY AS given (workflow_id, first_ms,
        last_ms, count, reason, skipped_ms, revision, tzdb, checksum, place)
    JOIN workflow ON workflow.id = given.workflow_id ORDER BY place";

/// Of rows that are alike in everything, one.
const DELETE: &str = "DELETE FROM skip WHERE id = (SELECT min(id) FROM skip WHERE workflow_id = $1
    AND first_ms = $2 AND last_ms = $3 AND checksum = $4)";

impl PostgresTransaction<'_> {
    pub(super) fn remove_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        for skip in skips {
            let values =
                [skip.workflow.0, skip.first.as_ms(), skip.last.as_ms(), checksum::of_skip(skip)];
            let [workflow, first_ms, last_ms, checksum] = &values;
            self.change(TABLE, DELETE, &[workflow, first_ms, last_ms, checksum], 1)?;
        }
        Ok(())
    }

    pub(super) fn skips_matching(
        &mut self,
        filter: &SkipFilter,
    ) -> Result<Vec<SkipRecord>, StoreError> {
        let from_ms = filter.from.map_or(i64::MIN, Instant::as_ms);
        let to_ms = filter.to.map_or(i64::MAX, Instant::as_ms);
        let (count, workflow) = (limit(filter.limit), filter.workflow.map(|id| id.0));
        let after = filter.after.as_ref();
        let first_ms = after.map(|(first, ..)| first.as_ms());
        let reference = after.map(|(_, reference, _)| reference.as_str());
        let last_ms = after.map(|(.., last)| last.as_ms());
        self.rows(
            TABLE,
            SELECT,
            &[&from_ms, &to_ms, &count, &workflow, &first_ms, &reference, &last_ms],
            read_skip,
        )
    }

    pub(super) fn add_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        if skips.is_empty() {
            return Ok(());
        }
        let of = |value: fn(&SkipRecord) -> i64| skips.iter().map(value).collect::<Vec<_>>();
        let tzdbs: Vec<&str> = skips.iter().map(|skip| skip.tzdb.as_str()).collect();
        let added = self.execute(
            TABLE,
            INSERT,
            &[
                &of(|skip| skip.workflow.0),
                &of(|skip| skip.first.as_ms()),
                &of(|skip| skip.last.as_ms()),
                &of(|skip| skip.count.cast_signed()),
                &of(|skip| skip.reason.code()),
                &of(|skip| skip.skipped.as_ms()),
                &of(|skip| i64::from(skip.revision)),
                &tzdbs,
                &of(checksum::of_skip),
            ],
        )?;
        if added == skips.len() as u64 {
            return Ok(());
        }
        Err(StoreError::Missing { table: "workflow" })
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
