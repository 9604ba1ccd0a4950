//! CSV: a header, then one line for each row, quoted as RFC 4180 wants it.

use std::io::{self, Write};

use super::json;
use super::row::{Cells, Column, Row, Value};

/// A printer of CSV.
pub(super) struct Csv<W: Write> {
    writer: csv::Writer<W>,
    /// The bytes of the present cell.
    cell: Vec<u8>,
}

impl<W: Write> Csv<W> {
    pub(super) fn new(out: W, buffer_bytes: usize) -> Csv<W> {
        let writer = csv::WriterBuilder::new().buffer_capacity(buffer_bytes).from_writer(out);
        Csv { writer, cell: Vec::new() }
    }

    pub(super) fn header(&mut self, columns: &[Column]) -> io::Result<()> {
        self.writer.write_record(columns.iter().map(|column| column.name)).map_err(io_error)
    }

    pub(super) fn row(&mut self, row: &impl Row) -> io::Result<()> {
        row.visit(self)?;
        self.writer.write_record(None::<&[u8]>).map_err(io_error)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl<W: Write> Cells for Csv<W> {
    fn cell(&mut self, _: &Column, value: Value<'_>) -> io::Result<()> {
        let field = match value {
            Value::Absent => b"",
            Value::Text(text) | Value::Prose(text) | Value::Json(text) => text.as_bytes(),
            Value::Instant(instant) => {
                return self.writer.write_field(instant.to_text().as_bytes()).map_err(io_error);
            }
            Value::Number(_) | Value::Millis(_) => {
                self.cell.clear();
                json::write_value(&mut self.cell, value);
                &self.cell
            }
            Value::Id(id) => {
                self.cell.clear();
                id.write_to(&mut self.cell);
                &self.cell
            }
            Value::Words(words) => {
                self.cell.clear();
                self.cell.extend_from_slice(words.join(" ").as_bytes());
                &self.cell
            }
        };
        self.writer.write_field(field).map_err(io_error)
    }
}

fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
