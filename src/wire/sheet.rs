//! A sheet: the rows that one command prints, in the form that was asked for.

use std::io::{self, Write};

use crate::time::InstantTexts;

use super::csv;
use super::json;
use super::row::{Column, Row, Value};
use super::table::Table;

/// The forms of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns for people.
    Table,
    /// JSON Lines: one object for each row.
    Jsonl,
    /// One JSON object.
    Json,
    /// A header, then one line for each row.
    Csv,
}

/// Output goes out in pieces of about this many bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// The rows that one command prints: one list, and around it, as JSON, the members of the object
/// that holds it.
///
/// Rows are printed as they come; none is kept.
pub struct Sheet<W: Write> {
    printer: Printer<W>,
}

enum Printer<W: Write> {
    Table(Table<W>),
    Jsonl(Lines<W>),
    Json { lines: Lines<W>, members: usize },
    Csv(Lines<W>),
}

/// Bytes on their way out.
struct Lines<W: Write> {
    out: W,
    buffer: Vec<u8>,
    instants: InstantTexts,
}

impl<W: Write> Lines<W> {
    fn new(out: W) -> Lines<W> {
        let buffer = Vec::with_capacity(BUFFER_BYTES + BUFFER_BYTES / 8);
        Lines { out, buffer, instants: InstantTexts::default() }
    }

    #[inline]
    fn json(&mut self, row: &impl Row) {
        json::write_row_with(&mut self.buffer, &mut self.instants, row);
    }

    #[inline]
    fn relieve(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }
}

impl<W: Write> Sheet<W> {
    /// An empty sheet that is printed to `out`, which needs no buffer of its own.
    pub fn new(format: Format, out: W) -> Sheet<W> {
        let printer = match format {
            Format::Table => Printer::Table(Table::new(out)),
            Format::Jsonl => Printer::Jsonl(Lines::new(out)),
            Format::Json => Printer::Json { lines: Lines::new(out), members: 0 },
            Format::Csv => Printer::Csv(Lines::new(out)),
        };
        Sheet { printer }
    }

    /// A member beside the list, in JSON only.
    ///
    /// # Errors
    /// As the output reports; so do all methods.
    pub fn member<'v>(&mut self, name: &str, value: impl Into<Value<'v>>) -> io::Result<()> {
        if let Printer::Json { lines, members } = &mut self.printer {
            open_member(lines, members, name);
            json::write_value(&mut lines.buffer, &mut lines.instants, value.into());
        }
        Ok(())
    }

    /// A second list, in JSON only.
    pub fn aside<R: Row>(
        &mut self,
        name: &str,
        rows: impl IntoIterator<Item = R>,
    ) -> io::Result<()> {
        if let Printer::Json { .. } = &self.printer {
            let mut list = self.list::<R>(name)?;
            for row in rows {
                list.row(&row)?;
            }
            list.end()?;
        }
        Ok(())
    }

    /// Begins the list that every form prints. Its rows are of the one type `R`, with whatever
    /// lifetimes.
    pub fn list<R: Row>(&mut self, name: &str) -> io::Result<List<'_, W>> {
        match &mut self.printer {
            Printer::Table(table) => table.header(R::COLUMNS),
            Printer::Jsonl(_) => {}
            Printer::Json { lines, members } => {
                open_member(lines, members, name);
                lines.buffer.push(b'[');
            }
            Printer::Csv(lines) => csv::write_header(&mut lines.buffer, R::COLUMNS),
        }
        Ok(List { printer: &mut self.printer, is_empty: true, columns: R::COLUMNS })
    }

    /// Prints what is left.
    pub fn end(mut self) -> io::Result<()> {
        if let Printer::Json { lines, members } = &mut self.printer {
            lines.buffer.extend_from_slice(if *members == 0 { b"{}\n" } else { b"}\n" });
        }
        self.printer.flush()
    }
}

/// Writes what stands before the value of a member.
fn open_member<W: Write>(lines: &mut Lines<W>, members: &mut usize, name: &str) {
    lines.buffer.push(if *members == 0 { b'{' } else { b',' });
    *members += 1;
    json::write_text(&mut lines.buffer, name);
    lines.buffer.push(b':');
}

impl<W: Write> Printer<W> {
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Printer::Table(table) => table.flush(),
            Printer::Jsonl(lines) | Printer::Json { lines, .. } | Printer::Csv(lines) => {
                lines.flush()
            }
        }
    }
}

/// A list of a sheet that is being printed.
pub struct List<'a, W: Write> {
    printer: &'a mut Printer<W>,
    is_empty: bool,
    columns: &'static [Column],
}

impl<W: Write> List<'_, W> {
    /// Prints one row.
    #[inline]
    pub fn row<R: Row>(&mut self, row: &R) -> io::Result<()> {
        debug_assert_eq!(self.columns, R::COLUMNS, "a list holds rows of one type");
        match self.printer {
            Printer::Jsonl(lines) => {
                lines.json(row);
                lines.buffer.push(b'\n');
                lines.relieve()
            }
            Printer::Csv(lines) => {
                csv::write_row(&mut lines.buffer, &mut lines.instants, row);
                lines.relieve()
            }
            Printer::Json { lines, .. } => {
                let before: &[u8] = if self.is_empty { b"\n" } else { b",\n" };
                self.is_empty = false;
                lines.buffer.extend_from_slice(before);
                lines.json(row);
                lines.relieve()
            }
            Printer::Table(table) => table.row(row),
        }
    }

    /// Says in tables only what the rows after it have in common; they get a header of their own.
    pub fn heading(&mut self, text: &str) -> io::Result<()> {
        match self.printer {
            Printer::Table(table) => table.heading(text),
            _ => Ok(()),
        }
    }

    /// Sends out every row given so far.
    pub fn flush(&mut self) -> io::Result<()> {
        self.printer.flush()
    }

    /// Ends the list.
    pub fn end(self) -> io::Result<()> {
        if let Printer::Json { lines, .. } = self.printer {
            lines.buffer.extend_from_slice(if self.is_empty { b"]" } else { b"\n]" });
        }
        Ok(())
    }
}
