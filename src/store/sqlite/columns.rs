//! Reading the columns of one row in their order, and rows that match their checksum.

use rusqlite::Row;
use rusqlite::types::{FromSql, ValueRef};

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
        value.map_err(|error| match Fault::of_table(self.path, self.table, error) {
            StoreError::Corrupt { problem, .. } => self.damage(problem),
            other => other,
        })
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
        let problem = format!("`{}` does not match its checksum", what());
        Err(StoreError::Corrupt { table: self.table, problem })
    }

    /// The error for a row that cannot be read; its first columns say which one that is.
    pub(super) fn damage(&self, problem: String) -> StoreError {
        let problem = format!("{problem}, in the row that begins with {}", self.beginning());
        StoreError::Corrupt { table: self.table, problem }
    }

    fn beginning(&self) -> String {
        let column = |index| match self.row.get_ref(index) {
            Ok(ValueRef::Integer(number)) => number.to_string(),
            Ok(ValueRef::Text(text)) => format!("`{}`", String::from_utf8_lossy(text)),
            _ => "?".to_owned(),
        };
        format!("{}, {}, {}", column(0), column(1), column(2))
    }
}
