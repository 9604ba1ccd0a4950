//! Reading the columns of one row in their order, and rows that match their checksum.

use rusqlite::Row;
use rusqlite::types::FromSql;

use crate::store::StoreError;
use crate::store::codes::Code;
use crate::time::Instant;

use super::fault::Fault;

/// The columns of one row, read from left to right.
pub(super) struct Columns<'r> {
    row: &'r Row<'r>,
    path: &'r str,
    table: &'static str,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(super) fn new(row: &'r Row<'r>, path: &'r str, table: &'static str) -> Columns<'r> {
        Columns { row, path, table, next: 0 }
    }

    /// The next column as SQLite holds it.
    pub(super) fn value<T: FromSql>(&mut self) -> Result<T, StoreError> {
        let value = self.row.get(self.next);
        self.next += 1;
        value.map_err(|error| Fault::of_table(self.path, self.table, error))
    }

    pub(super) fn number(&mut self) -> Result<i64, StoreError> {
        self.value()
    }

    pub(super) fn text(&mut self) -> Result<String, StoreError> {
        self.value()
    }

    pub(super) fn small(&mut self) -> Result<u32, StoreError> {
        self.value()
    }

    pub(super) fn instant(&mut self) -> Result<Instant, StoreError> {
        let ms = self.value()?;
        self.in_range(ms)
    }

    pub(super) fn instant_or_none(&mut self) -> Result<Option<Instant>, StoreError> {
        let ms: Option<i64> = self.value()?;
        ms.map(|ms| self.in_range(ms)).transpose()
    }

    pub(super) fn code<T: Code>(&mut self) -> Result<T, StoreError> {
        let code = self.value()?;
        T::from_code(code).ok_or_else(|| self.damage(format!("`{code}` stands for nothing")))
    }

    pub(super) fn code_or_none<T: Code>(&mut self) -> Result<Option<T>, StoreError> {
        let code: Option<i64> = self.value()?;
        let known = |code| {
            T::from_code(code).ok_or_else(|| self.damage(format!("`{code}` stands for nothing")))
        };
        code.map(known).transpose()
    }

    /// The instant of a sum or a column.
    pub(super) fn in_range(&self, ms: i64) -> Result<Instant, StoreError> {
        Instant::from_ms(ms).map_err(|error| self.damage(error.to_string()))
    }

    /// Compares the next column, the checksum, with that of the record just read.
    pub(super) fn check(
        &mut self,
        computed: i64,
        what: impl FnOnce() -> String,
    ) -> Result<(), StoreError> {
        if self.number()? == computed {
            return Ok(());
        }
        Err(self.damage(format!("`{}` does not match its checksum", what())))
    }

    pub(super) fn damage(&self, problem: String) -> StoreError {
        StoreError::Corrupt { table: self.table, problem }
    }
}
