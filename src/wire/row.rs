//! What a row is: named columns, and a value for each.

use std::io;

use crate::time::{Instant, InstantTexts};

/// A row that leaves the process. Its columns and values are written down together, once, with
/// the macro `row!`; every printer goes through [`Row::visit`].
pub trait Row {
    /// The columns, in order.
    const COLUMNS: &'static [Column];

    /// Gives every cell to `cells`, one for each column and in their order.
    ///
    /// # Errors
    /// What `cells` reports.
    fn visit(&self, cells: &mut impl Cells) -> io::Result<()>;
}

/// What takes the cells of a row: a printer.
pub trait Cells {
    /// Takes the next cell.
    ///
    /// # Errors
    /// As its output reports.
    fn cell(&mut self, column: &Column, value: Value<'_>) -> io::Result<()>;
}

/// The name of a column and where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in JSON and CSV; what counts milliseconds ends in `_ms`.
    pub name: &'static str,
    /// Its name as a JSON key: quoted, with the colon.
    pub key: &'static str,
    /// Where it is shown.
    pub shown: Shown,
}

/// Where a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In every form.
    Everywhere,
    /// Not in tables: people read it off the other columns, programs should not have to.
    Data,
}

/// One value of a row.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// Nothing: `null`, or an empty cell.
    Absent,
    /// Text.
    Text(&'a str),
    /// Text of any length, which a table cuts short.
    Prose(&'a str),
    /// A run id.
    Id(IdParts<'a>),
    /// An instant.
    Instant(Instant),
    /// A number.
    Number(i64),
    /// A span in milliseconds; a table shows it as a duration.
    Millis(i64),
    /// JSON text, passed on as it is.
    Json(&'a str),
    /// Some words of this program's own.
    Words(&'a [&'static str]),
}

/// The parts that a run id is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdParts<'a> {
    /// The workflow.
    pub reference: &'a str,
    /// The occurrence.
    pub occurrence: Instant,
    /// Empty for scheduled runs.
    pub request_id: &'a str,
}

impl IdParts<'_> {
    /// Appends the id as text: `<ref>@<occurrence>`, and `#<request id>` for a requested run.
    pub fn write_to(&self, buffer: &mut Vec<u8>, instants: &mut InstantTexts) {
        buffer.extend_from_slice(self.reference.as_bytes());
        buffer.push(b'@');
        instants.of(self.occurrence).append_to(buffer);
        if !self.request_id.is_empty() {
            buffer.push(b'#');
            buffer.extend_from_slice(self.request_id.as_bytes());
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Value<'a> {
        Value::Text(text)
    }
}

/// A span in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Millis(pub i64);

/// Text of any length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prose<'a>(pub &'a str);

/// JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<'a>(pub &'a str);

impl From<Millis> for Value<'_> {
    fn from(span: Millis) -> Self {
        Value::Millis(span.0)
    }
}

impl<'a> From<Prose<'a>> for Value<'a> {
    fn from(prose: Prose<'a>) -> Value<'a> {
        Value::Prose(prose.0)
    }
}

impl<'a> From<Json<'a>> for Value<'a> {
    fn from(json: Json<'a>) -> Value<'a> {
        Value::Json(json.0)
    }
}

impl<'a> From<IdParts<'a>> for Value<'a> {
    fn from(id: IdParts<'a>) -> Value<'a> {
        Value::Id(id)
    }
}

impl From<Instant> for Value<'_> {
    fn from(instant: Instant) -> Self {
        Value::Instant(instant)
    }
}

impl<'a> From<&'a [&'static str]> for Value<'a> {
    fn from(words: &'a [&'static str]) -> Value<'a> {
        Value::Words(words)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Number(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Value::Number(i64::from(number))
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        // No count of occurrences comes near: the range holds 3.2e14 milliseconds.
        Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Value<'a> {
        value.map_or(Value::Absent, Into::into)
    }
}

/// Two lists of columns as one; of the first, tables show those that are named.
pub(crate) const fn join<const N: usize>(
    head: &[Column],
    shown: &[&str],
    tail: &[Column],
) -> [Column; N] {
    let mut joined = [Column { name: "", key: "", shown: Shown::Data }; N];
    let mut at = 0;
    while at < N {
        if at < head.len() {
            joined[at] = head[at];
            let is_shown = contains(shown, head[at].name);
            joined[at].shown = if is_shown { Shown::Everywhere } else { Shown::Data };
        } else {
            joined[at] = tail[at - head.len()];
        }
        at += 1;
    }
    joined
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        if is_same(names[at].as_bytes(), name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Writes down the columns of a row type: `shown` or `data` (not in tables), the name, and the
/// value. A first line `..Other = expression, tables show [names]` takes over all columns of another
/// row, of which tables show those named.
macro_rules! row {
    ($type:ty: $row:ident => { $($shown:ident $name:literal = $value:expr,)+ }) => {
        impl $crate::wire::Row for $type {
            const COLUMNS: &'static [$crate::wire::Column] = &[$(row!(@column $shown $name)),+];

            #[inline]
            fn visit(&self, cells: &mut impl $crate::wire::Cells) -> std::io::Result<()> {
                let $row = self;
                $(cells.cell(&const { row!(@column $shown $name) }, $value.into())?;)+
                Ok(())
            }
        }
    };
    ($type:ty: $row:ident => {
        ..$other:ty = $base:expr, tables show $names:tt,
        $($shown:ident $name:literal = $value:expr,)+
    }) => {
        impl $crate::wire::Row for $type {
            const COLUMNS: &'static [$crate::wire::Column] = {
                const HEAD: &[$crate::wire::Column] = <$other as $crate::wire::Row>::COLUMNS;
                const TAIL: &[$crate::wire::Column] = &[$(row!(@column $shown $name)),+];
                &$crate::wire::row::join::<{ HEAD.len() + TAIL.len() }>(HEAD, &$names, TAIL)
            };

            #[inline]
            fn visit(&self, cells: &mut impl $crate::wire::Cells) -> std::io::Result<()> {
                let $row = self;
                $crate::wire::Row::visit($base, cells)?;
                $(cells.cell(&const { row!(@column $shown $name) }, $value.into())?;)+
                Ok(())
            }
        }
    };
    (@column shown $name:literal) => {
        row!(@column $name, $crate::wire::Shown::Everywhere)
    };
    (@column data $name:literal) => {
        row!(@column $name, $crate::wire::Shown::Data)
    };
    (@column $name:literal, $shown:expr) => {
        $crate::wire::Column {
            name: $name,
            key: concat!("\"", $name, "\":"),
            shown: $shown,
        }
    };
}
pub(crate) use row;
