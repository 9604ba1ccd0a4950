//! CSV: a header, then one line for each row, quoted as RFC 4180 wants it.
//!
//! Not with the crate `csv`: with it a row of `plan` took half as many instructions again as one of
//! JSON, and here it takes fewer. A test has that crate read what is written here.

use std::io;

use crate::time::InstantTexts;

use super::json;
use super::row::{Cells, Column, Row, Value};

/// Appends the names of the columns.
pub(super) fn write_header(buffer: &mut Vec<u8>, columns: &[Column]) {
    for column in columns {
        write_text(buffer, column.name);
        buffer.push(b',');
    }
    end_line(buffer);
}

/// Appends one row.
#[inline]
pub(super) fn write_row(buffer: &mut Vec<u8>, instants: &mut InstantTexts, row: &impl Row) {
    // A buffer refuses nothing.
    let _ = row.visit(&mut Fields { buffer, instants });
    end_line(buffer);
}

/// Ends a line in the place of the comma behind its last field.
fn end_line(buffer: &mut Vec<u8>) {
    buffer.pop();
    buffer.push(b'\n');
}

/// Appends each cell with a comma behind it.
struct Fields<'a> {
    buffer: &'a mut Vec<u8>,
    instants: &'a mut InstantTexts,
}

impl Cells for Fields<'_> {
    #[inline(always)]
    fn cell(&mut self, _: &Column, value: Value<'_>) -> io::Result<()> {
        match value {
            Value::Absent => {}
            Value::Text(text) | Value::Prose(text) | Value::Json(text) => {
                write_text(self.buffer, text);
            }
            Value::Instant(instant) => self.instants.of(instant).append_to(self.buffer),
            Value::Number(number) | Value::Millis(number) => {
                json::write_number(self.buffer, number);
            }
            Value::Id(id) => {
                let begin = self.buffer.len();
                id.write_to(self.buffer, self.instants);
                quote_from(self.buffer, begin);
            }
            Value::Words(words) => write_text(self.buffer, &words.join(" ")),
        }
        self.buffer.push(b',');
        Ok(())
    }
}

fn write_text(buffer: &mut Vec<u8>, text: &str) {
    let begin = buffer.len();
    buffer.extend_from_slice(text.as_bytes());
    quote_from(buffer, begin);
}

/// Quotes the field that begins at `begin`, where it holds what would end it.
fn quote_from(buffer: &mut Vec<u8>, begin: usize) {
    let ends_a_field = |byte| (byte == b',') | (byte == b'"') | (byte == b'\n') | (byte == b'\r');
    if !json::contains(&buffer[begin..], ends_a_field) {
        return;
    }
    let field = buffer.split_off(begin);
    buffer.push(b'"');
    for byte in field {
        if byte == b'"' {
            buffer.push(b'"');
        }
        buffer.push(byte);
    }
    buffer.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Skip, SkipReason};
    use crate::time::Instant;
    use crate::wire::SkippedRow;

    #[test]
    fn what_is_quoted_is_read_back_by_others() {
        for name in [
            "plain",
            "a,b",
            "\"",
            "say \"a\"",
            "two\nlines\r\n",
            "",
            " ",
            "監,控",
            ",",
            "a longer name, with a comma",
        ] {
            let at = Instant::MIN;
            let skip =
                Skip { first: at, last: at, count: 1, reason: SkipReason::Overlap, revision: 1 };
            let mut buffer = Vec::new();
            write_header(&mut buffer, SkippedRow::COLUMNS);
            write_row(
                &mut buffer,
                &mut InstantTexts::default(),
                &SkippedRow { reference: name, skip },
            );
            let mut reader = csv::Reader::from_reader(buffer.as_slice());
            let records: Vec<_> = reader.records().map(Result::unwrap).collect();
            assert_eq!(records.len(), 1, "{name:?}");
            let fields: Vec<_> = records[0].iter().collect();
            let instant = "0001-01-01T00:00:00Z";
            assert_eq!(fields, [name, instant, instant, "1", "overlap", "1"]);
        }
    }
}
