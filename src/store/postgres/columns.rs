//! Reading the columns of one row in their order, and rows that match their checksum.

use postgres::Row;
use postgres::types::FromSqlOwned;

use crate::store::StoreError;
use crate::store::codes::Code;
use crate::time::Instant;

/// The columns of one row, read from left to right.
pub(super) struct Columns<'r> {
    row: &'r Row,
    table: &'static str,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(super) fn new(row: &'r Row, table: &'static str) -> Columns<'r> {
        Columns { row, table, next: 0 }
    }

    /// The next column as PostgreSQL holds it.
    pub(super) fn value<T: FromSqlOwned>(&mut self) -> Result<T, StoreError> {
        let value = self.row.try_get(self.next);
        self.next += 1;
        value.map_err(|error| self.damage(error.to_string()))
    }

    pub(super) fn number(&mut self) -> Result<i64, StoreError> {
        self.value()
    }

    pub(super) fn text(&mut self) -> Result<String, StoreError> {
        self.value()
    }

    /// A text that is kept as its bytes, since it may hold a NUL character.
    pub(super) fn text_from_bytes(&mut self) -> Result<Option<String>, StoreError> {
        let bytes: Option<Vec<u8>> = self.value()?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_| self.damage("a text is not UTF-8".to_owned()))
    }

    pub(super) fn small(&mut self) -> Result<u32, StoreError> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.damage(format!("`{number}` is out of range")))
    }

    pub(super) fn small_or_none(&mut self) -> Result<Option<u32>, StoreError> {
        let number: Option<i64> = self.value()?;
        let small = number.map(u32::try_from).transpose();
        small.map_err(|_| self.damage(format!("`{number:?}` is out of range")))
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
        self.known(code)
    }

    pub(super) fn code_or_none<T: Code>(&mut self) -> Result<Option<T>, StoreError> {
        let code: Option<i64> = self.value()?;
        code.map(|code| self.known(code)).transpose()
    }

    /// The instant of a column.
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

    /// The error for a row that cannot be read.
    pub(super) fn damage(&self, problem: String) -> StoreError {
        StoreError::Corrupt { table: self.table, problem }
    }

    fn known<T: Code>(&self, code: i64) -> Result<T, StoreError> {
        T::from_code(code).ok_or_else(|| self.damage(format!("`{code}` stands for nothing")))
    }
}
