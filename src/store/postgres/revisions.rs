//! The revisions of workflows' schedules.

use std::collections::HashMap;

use crate::store::record::{RevisionRow, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::PostgresTransaction;

const TABLE: &str = "revision";

macro_rules! columns {
    () => {
        "revision.workflow_id, number, after_ms, schedule, made_ms, tzdb, checksum"
    };
}

pub(super) const SELECT_ALL: &str = concat!("SELECT ", columns!(), " FROM revision");

/// Of each workflow all, or those from the newest one whose `after` is at or before an instant.
const SELECT: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM unnest($1::bigint[], $2::bigint[]) AS given (workflow_id, instant_ms)
    JOIN revision ON revision.workflow_id = given.workflow_id
        AND number >= coalesce((SELECT max(number) FROM revision AS earlier
            WHERE earlier.workflow_id = given.workflow_id AND earlier.after_ms <= instant_ms), 1)
    ORDER BY revision.workflow_id, number"
);

const INSERT: &str = "INSERT INTO revision (workflow_id, number, after_ms, schedule, made_ms, tzdb,
    checksum)
    SELECT given.* FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[],
        $6::text[], $7::bigint[]) AS given (workflow_id, number, after_ms, schedule, made_ms, tzdb,
        checksum) JOIN workflow ON workflow.id = given.workflow_id
    ON CONFLICT DO NOTHING RETURNING workflow_id, number";

impl PostgresTransaction<'_> {
    pub(super) fn revisions_of(
        &mut self,
        of: &[(WorkflowId, Option<Instant>)],
    ) -> Result<Vec<Vec<RevisionRow>>, StoreError> {
        let ids: Vec<i64> = of.iter().map(|(id, _)| id.0).collect();
        let instants: Vec<Option<i64>> =
            of.iter().map(|(_, instant)| instant.map(Instant::as_ms)).collect();
        let mut rows: HashMap<WorkflowId, Vec<RevisionRow>> = HashMap::new();
        for row in self.rows(TABLE, SELECT, &[&ids, &instants], read_revision)? {
            rows.entry(row.workflow).or_default().push(row);
        }
        Ok(of.iter().map(|(id, _)| rows.remove(id).unwrap_or_default()).collect())
    }

    pub(super) fn add_revisions(&mut self, revisions: &[RevisionRow]) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        if revisions.is_empty() {
            return Ok(());
        }
        let of = |value: fn(&RevisionRow) -> i64| revisions.iter().map(value).collect::<Vec<_>>();
        let after: Vec<Option<i64>> =
            revisions.iter().map(|row| row.after.map(Instant::as_ms)).collect();
        let schedules: Vec<Option<&str>> =
            revisions.iter().map(|row| row.schedule.as_deref()).collect();
        let tzdbs: Vec<&str> = revisions.iter().map(|row| row.tzdb.as_str()).collect();
        let added = self.rows(
            TABLE,
            INSERT,
            &[
                &of(|row| row.workflow.0),
                &of(|row| i64::from(row.number)),
                &after,
                &schedules,
                &of(|row| row.made.as_ms()),
                &tzdbs,
                &of(checksum::of_revision),
            ],
            |columns| Ok((columns.number()?, columns.number()?)),
        )?;
        let given = revisions.iter().map(|row| (row.workflow.0, i64::from(row.number)));
        self.check_added(TABLE, given, added, |(workflow, _)| WorkflowId(*workflow))
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
