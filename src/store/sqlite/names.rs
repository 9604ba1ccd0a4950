//! Names that many rows share, kept once: tz database versions and workers.

use rusqlite::OptionalExtension;

use crate::store::StoreError;

use super::transaction::SqliteTransaction;

/// A name and its number, as last used in a transaction: most rows of one share theirs.
#[derive(Debug, Default)]
pub(super) struct LastName(Option<(String, i64)>);

impl LastName {
    fn of(&self, name: &str) -> Option<i64> {
        self.0.as_ref().filter(|(last, _)| last == name).map(|&(_, id)| id)
    }
}

impl SqliteTransaction<'_> {
    /// The number of a tz database version, a new one where it has none.
    pub(super) fn tzdb_id(&mut self, version: &str) -> Result<i64, StoreError> {
        if let Some(id) = self.last_tzdb.of(version) {
            return Ok(id);
        }
        let id = self.intern(
            "tzdb",
            "SELECT id FROM tzdb WHERE version = ?1",
            "INSERT INTO tzdb (version) VALUES (?1)",
            version,
        )?;
        self.last_tzdb = LastName(Some((version.to_owned(), id)));
        Ok(id)
    }

    /// The number of a worker, a new one where it has none.
    pub(super) fn worker_id(&mut self, name: &str) -> Result<i64, StoreError> {
        if let Some(id) = self.last_worker.of(name) {
            return Ok(id);
        }
        let id = self.intern(
            "worker",
            "SELECT id FROM worker WHERE name = ?1",
            "INSERT INTO worker (name) VALUES (?1)",
            name,
        )?;
        self.last_worker = LastName(Some((name.to_owned(), id)));
        Ok(id)
    }

    fn intern(
        &mut self,
        table: &'static str,
        select: &str,
        insert: &str,
        name: &str,
    ) -> Result<i64, StoreError> {
        let found = self.prepare(table, select)?.query_row([name], |row| row.get(0)).optional();
        if let Some(id) = found.map_err(|error| self.fault(table, error))? {
            return Ok(id);
        }
        let inserted = self.prepare(table, insert)?.insert([name]);
        inserted.map_err(|error| self.fault(table, error))
    }
}
