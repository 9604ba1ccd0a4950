//! A table for people: aligned columns, control characters spelled out.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::time::InstantTexts;

use super::row::{Cells, Column, Row, Shown, Value};
use super::text::escape_controls;

/// The widths of the columns are those of this many rows at first; they grow with what is wider
/// after them, so that a table of any length is printed as it comes.
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
    has_heading: bool,
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
            has_heading: false,
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

    /// Prints a line of prose, and begins the table anew below it.
    pub(super) fn heading(&mut self, text: &str) -> io::Result<()> {
        let is_first = !self.has_header && self.waiting.is_empty() && !self.has_heading;
        if !self.has_header && !self.waiting.is_empty() {
            self.print_waiting()?;
        }
        let gap = if is_first { "" } else { "\n" };
        writeln!(self.out, "{gap}{}", escape_controls(text))?;
        self.header(self.all);
        (self.has_header, self.has_heading) = (false, true);
        Ok(())
    }

    pub(super) fn row(&mut self, row: &impl Row) -> io::Result<()> {
        self.given = 0;
        self.cells.clear();
        row.visit(self)?;
        let row = std::mem::take(&mut self.cells);
        for (column, cell) in self.columns.iter_mut().zip(&row) {
            column.width = column.width.max(cell.width());
        }
        if self.has_header {
            return self.print(&row);
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
            id.write_to(&mut bytes, &mut InstantTexts::default());
            escape_controls(&String::from_utf8_lossy(&bytes)).into_owned()
        }
        Value::Instant(instant) => instant.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Millis(ms) => span(ms),
        Value::Words([]) => "-".to_owned(),
        Value::Words(words) => words.join(" "),
    }
}

/// A span in its two largest units; what is finer is left out.
fn span(ms: i64) -> String {
    const UNITS: [(i64, &str); 4] =
        [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let Some(at) = UNITS.iter().position(|(unit_ms, _)| *unit_ms <= ms) else {
        return if ms == 0 { "0s".to_owned() } else { format!("{ms}ms") };
    };
    let (unit_ms, unit) = UNITS[at];
    match UNITS.get(at + 1).map(|(finer_ms, finer)| (ms % unit_ms / finer_ms, finer)) {
        None | Some((0, _)) => format!("{}{unit}", ms / unit_ms),
        Some((rest, finer)) => format!("{}{unit} {rest}{finer}", ms / unit_ms),
    }
}

fn cut_short(text: &str) -> String {
    match text.char_indices().nth(PROSE_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ms: i64, expected: &str) {
        assert_eq!(span(ms), expected);
    }

    #[test]
    fn spans() {
        check(0, "0s");
        check(999, "999ms");
        check(1_999, "1s");
        check(212_833, "3m 32s");
        check(1_844_018, "30m 44s");
        check(27_296_000, "7h 34m");
        check(3_600_000, "1h");
        check(90_061_001, "1d 1h");
    }

    #[test]
    fn prose_is_cut_short() {
        assert_eq!(cut_short(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(cut_short(&"é".repeat(61)), "é".repeat(60) + "…");
    }
}
