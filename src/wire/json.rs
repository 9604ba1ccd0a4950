//! JSON: one row as an object, without spaces, appended to a buffer.

use std::io;

use serde::de::IgnoredAny;

use crate::time::{InstantText, InstantTexts};

use super::row::{Cells, Column, IdParts, Row, Value};

/// A row as JSON text.
pub fn to_json(row: &impl Row) -> String {
    let mut buffer = Vec::new();
    write_row(&mut buffer, row);
    // Whatever is written below is UTF-8.
    String::from_utf8_lossy(&buffer).into_owned()
}

/// The longest output of a run, in bytes of JSON text: 1 MiB.
pub const OUTPUT_LIMIT_BYTES: usize = 1024 * 1024;

/// A text cannot be the output of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// It is too long.
    #[error("it is longer than {OUTPUT_LIMIT_BYTES} bytes")]
    TooLong,
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Syntax(#[from] serde_json::Error),
}

/// A text as the output of a run: JSON without white space around it.
///
/// # Errors
/// [`OutputError`] says why it cannot be one.
pub fn checked_output(text: &str) -> Result<&str, OutputError> {
    if text.len() > OUTPUT_LIMIT_BYTES {
        return Err(OutputError::TooLong);
    }
    serde_json::from_str::<IgnoredAny>(text)?;
    Ok(text.trim())
}

/// Appends a row as an object.
pub(crate) fn write_row(buffer: &mut Vec<u8>, row: &impl Row) {
    write_row_with(buffer, &mut InstantTexts::default(), row);
}

/// Appends one of many rows as an object.
#[inline]
pub(super) fn write_row_with(buffer: &mut Vec<u8>, instants: &mut InstantTexts, row: &impl Row) {
    buffer.push(b'{');
    // A buffer refuses nothing.
    let _ = row.visit(&mut Members { buffer, instants });
    if buffer.last() == Some(&b',') {
        buffer.pop();
    }
    buffer.push(b'}');
}

/// Appends each cell as a member with a comma behind it.
struct Members<'a> {
    buffer: &'a mut Vec<u8>,
    instants: &'a mut InstantTexts,
}

impl Cells for Members<'_> {
    #[inline(always)]
    fn cell(&mut self, column: &Column, value: Value<'_>) -> io::Result<()> {
        self.buffer.extend_from_slice(column.key.as_bytes());
        write_value(self.buffer, self.instants, value);
        self.buffer.push(b',');
        Ok(())
    }
}

/// Appends one value. Where the kind of value is known, only what writes that is left of it.
#[inline(always)]
pub(crate) fn write_value(buffer: &mut Vec<u8>, instants: &mut InstantTexts, value: Value<'_>) {
    match value {
        Value::Absent => buffer.extend_from_slice(b"null"),
        Value::Text(text) | Value::Prose(text) => write_text(buffer, text),
        Value::Id(id) => write_id(buffer, instants, id),
        Value::Instant(instant) => write_instant(buffer, instants.of(instant)),
        Value::Number(number) | Value::Millis(number) => write_number(buffer, number),
        Value::Json(json) => write_json(buffer, json),
        Value::Words(words) => write_words(buffer, words),
    }
}

#[inline]
fn write_instant(buffer: &mut Vec<u8>, text: InstantText) {
    buffer.push(b'"');
    text.append_to(buffer);
    buffer.push(b'"');
}

/// Appends a number.
pub(super) fn write_number(buffer: &mut Vec<u8>, number: i64) {
    buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn write_id(buffer: &mut Vec<u8>, instants: &mut InstantTexts, id: IdParts<'_>) {
    buffer.push(b'"');
    write_escaped(buffer, id.reference);
    buffer.push(b'@');
    instants.of(id.occurrence).append_to(buffer);
    if !id.request_id.is_empty() {
        buffer.push(b'#');
        write_escaped(buffer, id.request_id);
    }
    buffer.push(b'"');
}

fn write_words(buffer: &mut Vec<u8>, words: &[&str]) {
    buffer.push(b'[');
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            buffer.push(b',');
        }
        write_text(buffer, word);
    }
    buffer.push(b']');
}

/// Appends a text as a string.
pub(crate) fn write_text(buffer: &mut Vec<u8>, text: &str) {
    buffer.push(b'"');
    write_escaped(buffer, text);
    buffer.push(b'"');
}

/// Appends a text with everything escaped that JSON wants escaped, and every other control
/// character too, because a terminal would obey it.
fn write_escaped(buffer: &mut Vec<u8>, text: &str) {
    if !contains(text.as_bytes(), calls_for_a_look) {
        buffer.extend_from_slice(text.as_bytes());
        return;
    }
    for char in text.chars() {
        match char {
            '"' => buffer.extend_from_slice(b"\\\""),
            '\\' => buffer.extend_from_slice(b"\\\\"),
            '\n' => buffer.extend_from_slice(b"\\n"),
            '\r' => buffer.extend_from_slice(b"\\r"),
            '\t' => buffer.extend_from_slice(b"\\t"),
            _ if char.is_control() => {
                buffer.extend_from_slice(format!("\\u{:04x}", u32::from(char)).as_bytes());
            }
            _ => buffer.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// Appends JSON text on one line. In valid JSON a line end is only ever white space, and any
/// other control character stands in a string.
fn write_json(buffer: &mut Vec<u8>, json: &str) {
    if !json.chars().any(char::is_control) {
        buffer.extend_from_slice(json.as_bytes());
        return;
    }
    for char in json.chars() {
        match char {
            '\n' | '\r' => {}
            '\t' => buffer.push(b' '),
            _ if char.is_control() => {
                buffer.extend_from_slice(format!("\\u{:04x}", u32::from(char)).as_bytes());
            }
            _ => buffer.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// A value on one line, every control character escaped.
#[cfg(feature = "cli")]
pub(crate) fn line(value: &serde_json::Value) -> Vec<u8> {
    let mut buffer = Vec::new();
    write_json(&mut buffer, &value.to_string());
    buffer
}

/// Whether any byte is one of those sought, looked at many at once and without an early end.
#[inline]
pub(super) fn contains(bytes: &[u8], is_sought: impl Fn(u8) -> bool + Copy) -> bool {
    let any = |bytes: &[u8]| bytes.iter().fold(false, |found, byte| found | is_sought(*byte));
    // The last few are looked at together with some from before them.
    let Some(last) = bytes.last_chunk::<16>() else { return any(bytes) };
    bytes.as_chunks::<16>().0.iter().fold(any(last), |found, chunk| found | any(chunk))
}

/// Whether a byte calls for a closer look: controls, quotes, backslashes, and the lead byte of the
/// controls U+0080 to U+009F.
fn calls_for_a_look(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\') | (byte == 0x7f) | (byte == 0xc2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut buffer = Vec::new();
        write_text(&mut buffer, text);
        assert_eq!(String::from_utf8(buffer).unwrap(), expected);
        assert_eq!(serde_json::from_str::<String>(expected).unwrap(), text);
    }

    #[test]
    fn text() {
        check("plain/ref", r#""plain/ref""#);
        check("监控", r#""监控""#);
        check("a\"b\\c", r#""a\"b\\c""#);
        check("\u{1b}[31m\n\t\r\0", r#""\u001b[31m\n\t\r\u0000""#);
        check("\u{9b}31m\u{7f}", r#""\u009b31m\u007f""#);
        check("\u{a0}£", "\"\u{a0}£\"");
    }

    #[test]
    fn json_stays_on_one_line() {
        let mut buffer = Vec::new();
        write_json(&mut buffer, "{\r\n\t\"a\": [1,\n2],\n \"b\": \"\u{9b}x\"}\n");
        assert_eq!(buffer, br#"{ "a": [1,2], "b": "\u009bx"}"#);
    }
}
