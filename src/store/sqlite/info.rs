//! The row about the store itself.

use rusqlite::params;

use crate::store::codes::Code;
use crate::store::record::{Counts, StoreInfo};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::SqliteTransaction;

const TABLE: &str = "store_info";

pub(super) const SELECT: &str =
    "SELECT clock, version, definition_writes, last_planned_ms, set_ahead_ms, checksum
    FROM store_info LEFT JOIN tzdb ON tzdb.id = tzdb_id";

const REPLACE: &str = "REPLACE INTO store_info (id, clock, tzdb_id, definition_writes,
    last_planned_ms, set_ahead_ms, checksum) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)";

impl SqliteTransaction<'_> {
    pub(super) fn count_records(&mut self) -> Result<Counts, StoreError> {
        let count = |sql| self.number_or_none(TABLE, sql, []).map(|count| count.unwrap_or(0));
        Ok(Counts {
            workflows: count("SELECT count(*) FROM workflow")?.cast_unsigned(),
            runs: count("SELECT count(*) FROM run")?.cast_unsigned(),
        })
    }

    pub(super) fn find_info(&mut self) -> Result<Option<StoreInfo>, StoreError> {
        self.row(TABLE, SELECT, [], read_info)
    }

    pub(super) fn write_info(&mut self, info: &StoreInfo) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        let values = params![
            info.clock.code(),
            self.tzdb_id(&info.tzdb)?,
            info.definition_writes,
            info.last_planned.map(Instant::as_ms),
            info.set_ahead.map(Instant::as_ms),
            checksum::of_info(info),
        ];
        self.change_one(TABLE, REPLACE, values)
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
