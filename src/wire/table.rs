//! A table for people: aligned columns, control characters spelled out.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::time::duration;

use super::row::{Cells, Column, Row, Shown, Value};
use super::text::escape_controls;

/// The widths of the columns are those of this many rows at first; what is wider after them
/// stands out, so that a table of any length is printed as it comes.
const MEASURED_ROWS: usize = 1_000;

/// Prose is cut to this many characters.
const PROSE_CHARS: usize = 60;

/// A printer of tables.
pub(super) struct Table<W: Write> {
    out: W,
    /// All columns of the rows.
    all: &'static [Column],
    /// How many cells of the row at hand were given.
    given: usize,
    /// One entry for each column that is shown.
    columns: Vec<TableColumn>,
    /// The rows that wait until the widths are known.
    waiting: Vec<Vec<String>>,
    /// The cells of the row at hand.
    cells: Vec<String>,
    has_header: bool,
}

struct TableColumn {
    title: String,
    width: usize,
    aligned: Aligned,
}

#[derive(Clone, Copy)]
enum Aligned {
    Left,
    Right,
}

impl<W: Write> Table<W> {
    pub(super) fn new(out: W) -> Table<W> {
        Table {
            out,
            all: &[],
            given: 0,
            columns: Vec::new(),
            waiting: Vec::new(),
            cells: Vec::new(),
            has_header: false,
        }
    }

    /// Begins a table with these columns.
    pub(super) fn header(&mut self, columns: &'static [Column]) {
        self.all = columns;
        self.columns = columns
            .iter()
            .filter(|column| column.shown == Shown::Everywhere)
            .map(|column| {
                let title = column.name.trim_end_matches("_ms").to_uppercase();
                TableColumn { width: title.width(), title, aligned: Aligned::Left }
            })
            .collect();
    }

    pub(super) fn row(&mut self, row: &impl Row) -> io::Result<()> {
        self.given = 0;
        self.cells.clear();
        row.visit(self)?;
        let row = std::mem::take(&mut self.cells);
        if self.has_header {
            return self.print(&row);
        }
        for (column, cell) in self.columns.iter_mut().zip(&row) {
            column.width = column.width.max(cell.width());
        }
        self.waiting.push(row);
        if self.waiting.len() == MEASURED_ROWS { self.print_waiting() } else { Ok(()) }
    }

    /// Prints everything that was given.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if !self.has_header && !self.waiting.is_empty() {
            self.print_waiting()?;
        }
        self.out.flush()
    }

    fn print_waiting(&mut self) -> io::Result<()> {
        self.has_header = true;
        let titles: Vec<String> = self.columns.iter().map(|column| column.title.clone()).collect();
        self.print(&titles)?;
        for row in std::mem::take(&mut self.waiting) {
            self.print(&row)?;
        }
        Ok(())
    }

    fn print(&mut self, row: &[String]) -> io::Result<()> {
        let mut line = String::new();
        for (column, cell) in self.columns.iter().zip(row) {
            let padding = " ".repeat(column.width.saturating_sub(cell.width()));
            let (before, after) = match column.aligned {
                Aligned::Left => ("", padding.as_str()),
                Aligned::Right => (padding.as_str(), ""),
            };
            line.extend([before, cell, after, "  "]);
        }
        writeln!(self.out, "{}", line.trim_end())
    }
}

impl<W: Write> Cells for Table<W> {
    fn cell(&mut self, _: &Column, value: Value<'_>) -> io::Result<()> {
        // A row that takes over the columns of another says itself which of them are shown.
        let shown = self.all.get(self.given).map(|column| column.shown);
        self.given += 1;
        if shown != Some(Shown::Everywhere) {
            return Ok(());
        }
        if let (Value::Number(_), Some(column)) = (value, self.columns.get_mut(self.cells.len())) {
            column.aligned = Aligned::Right;
        }
        self.cells.push(text(value));
        Ok(())
    }
}

/// The text of one cell.
fn text(value: Value<'_>) -> String {
    match value {
        Value::Absent => "-".to_owned(),
        Value::Text(text) | Value::Json(text) => escape_controls(text).into_owned(),
        Value::Prose(text) => cut_short(&escape_controls(text)),
        Value::Id(id) => {
            let mut bytes = Vec::new();
            id.write_to(&mut bytes);
            escape_controls(&String::from_utf8_lossy(&bytes)).into_owned()
        }
        Value::Instant(instant) => instant.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Millis(ms) => duration::format_ms(ms),
        Value::Words([]) => "-".to_owned(),
        Value::Words(words) => words.join(" "),
    }
}

fn cut_short(text: &str) -> String {
    match text.char_indices().nth(PROSE_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
