//! The row about the store itself.

use crate::store::codes::Code;
use crate::store::record::{Counts, StoreInfo};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::{Access, PostgresTransaction};

const TABLE: &str = "store_info";

pub(super) const SELECT: &str =
    "SELECT clock, tzdb, definition_writes, last_planned_ms, set_ahead_ms, checksum
    FROM store_info ORDER BY id";

const UPSERT: &str = "INSERT INTO store_info (id, clock, tzdb, definition_writes, last_planned_ms,
    set_ahead_ms, checksum) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO UPDATE
    SET clock = $2, tzdb = $3, definition_writes = $4, last_planned_ms = $5, set_ahead_ms = $6,
    checksum = $7";

/// A row that no other claim is writing, or a new number.
const SELECT_FREE: &str =
    "SELECT id FROM store_info WHERE id > 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";
const SELECT_NEW: &str = "SELECT coalesce(max(id), 0) + 1 + pg_backend_pid() FROM store_info";

impl PostgresTransaction<'_> {
    pub(super) fn count_records(&mut self) -> Result<Counts, StoreError> {
        let mut count = |sql| self.number_or_none(TABLE, sql, &[]).map(|count| count.unwrap_or(0));
        Ok(Counts {
            workflows: count("SELECT count(*) FROM workflow")?.cast_unsigned(),
            runs: count("SELECT count(*) FROM run")?.cast_unsigned(),
        })
    }

    /// What row 0 says, and how far any claim has planned.
    pub(super) fn find_info(&mut self) -> Result<Option<StoreInfo>, StoreError> {
        let rows = self.rows(TABLE, SELECT, &[], read_info)?;
        let last_planned = rows.iter().filter_map(|info| info.last_planned).max();
        Ok(rows.into_iter().next().map(|info| StoreInfo { last_planned, ..info }))
    }

    pub(super) fn write_info(&mut self, info: &StoreInfo) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        if self.access == Access::Alone {
            self.execute(TABLE, "DELETE FROM store_info WHERE id > 0", &[])?;
            return self.put_info(0, info);
        }
        let before = self.find_info()?;
        let is_further_only = before
            .is_some_and(|before| StoreInfo { last_planned: info.last_planned, ..before } == *info);
        if !is_further_only {
            // Beside other claims nothing but the tz database version can change, and to the same.
            return self.put_info(0, info);
        }
        let free = self.number_or_none(TABLE, SELECT_FREE, &[])?;
        let id = match free {
            Some(id) => id,
            None => self.number_or_none(TABLE, SELECT_NEW, &[])?.unwrap_or(1),
        };
        self.put_info(id, info)
    }

    fn put_info(&mut self, id: i64, info: &StoreInfo) -> Result<(), StoreError> {
        let values: [&(dyn postgres::types::ToSql + Sync); 7] = [
            &id,
            &info.clock.code(),
            &info.tzdb,
            &info.definition_writes,
            &info.last_planned.map(Instant::as_ms),
            &info.set_ahead.map(Instant::as_ms),
            &checksum::of_info(info),
        ];
        self.execute(TABLE, UPSERT, &values).map(drop)
    }
}

pub(super) fn read_info(columns: &mut Columns<'_>) -> Result<StoreInfo, StoreError> {
    let info = StoreInfo {
        clock: columns.code()?,
        tzdb: columns.text()?,
        definition_writes: columns.number()?,
        last_planned: columns.instant_or_none()?,
        set_ahead: columns.instant_or_none()?,
    };
    columns.check(checksum::of_info(&info), || TABLE.to_owned())?;
    Ok(info)
}
