//! Texts that are no JSON: where that was noticed, and what is probably the matter.

use serde::Deserialize;

use crate::schedule::code::Code;
use crate::schedule::fault::{Fault, Part};
use crate::schedule::raw::shown;
use crate::schedule::span::is_word;

/// Parses one JSON text.
pub(super) fn parse<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, Fault> {
    if text.starts_with('\u{feff}') {
        let hint = "save it as UTF-8 without one";
        return Err(fault(0, "the text begins with a byte order mark".to_owned(), Some(hint)));
    }
    serde_json::from_str(text).map_err(|error| {
        let full = error.to_string();
        let message = full.rsplit_once(" at line ").map_or(&*full, |(message, _)| message);
        let at = offset_of(text, error.line(), error.column());
        explained(text, at, message)
    })
}

fn fault(at: usize, message: String, hint: Option<&str>) -> Fault {
    let hint = hint.map(str::to_owned);
    Fault { code: Code::Syntax, pointer: String::new(), part: Part::Byte { at }, message, hint }
}

/// The byte offset of a line, and a column in bytes, both counted from 1.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    let line_at = std::iter::once(0).chain(ends).nth(line.saturating_sub(1)).unwrap_or(0);
    let mut at = (line_at + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Says what serde_json found at `at` in words of ours, with a hint.
fn explained(text: &str, at: usize, message: &str) -> Fault {
    let rest = &text[at..];
    let starts = |marks: &[&str]| marks.iter().any(|mark| rest.starts_with(mark));
    if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        return fault(
            0,
            "the text is empty".to_owned(),
            Some("write {\"ref\": …, \"schedule\": …}"),
        );
    }
    if message.starts_with("trailing comma") {
        let comma = text[..at].rfind(',').unwrap_or(at);
        return fault(comma, "a comma before the end".to_owned(), Some("remove the comma"));
    }
    if starts(&["//", "/*", "#"]) {
        return fault(at, "JSON has no comments".to_owned(), Some("remove the comment"));
    }
    if message.starts_with("recursion limit") {
        let hint = "nothing in a schedule is deeper than five levels";
        return fault(at, "nested more than 127 levels deep".to_owned(), Some(hint));
    }
    if message.starts_with("trailing characters") {
        let message = "more text after the end of the JSON value".to_owned();
        let hint = "keep one value, or name the file .jsonl, with one document on each line";
        return fault(at, message, Some(hint));
    }
    if message.starts_with("EOF") {
        return fault(at, "the text ends before the JSON value does".to_owned(), hint_at_end(text));
    }
    if message.starts_with("control character") {
        // It stands here or next.
        let at = at + rest.find(|char| char < ' ').unwrap_or(0);
        let message = "a control character in a string".to_owned();
        return fault(at, message, Some("escape it, such as \\n for a line end"));
    }
    let escape_at = || text[..at].rfind('\\').unwrap_or(at);
    if message.contains("surrogate") || message.starts_with("unexpected end of hex escape") {
        let hint = "write the character itself, or both halves of its escape";
        return fault(escape_at(), "half of a surrogate pair".to_owned(), Some(hint));
    }
    if message.starts_with("invalid escape") {
        let hint = r#"the escapes are \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits"#;
        return fault(escape_at(), "JSON has no such escape".to_owned(), Some(hint));
    }
    no_value(text, at, message)
        .unwrap_or_else(|| fault(at, message.to_owned(), hint(rest, message)))
}

/// The fault of a word or number that is none, from its beginning: serde_json tells of it where it
/// goes wrong.
fn no_value(text: &str, at: usize, message: &str) -> Option<Fault> {
    let start = text[..at].trim_end_matches(is_word).len();
    let end = text.len() - text[at..].trim_start_matches(is_word).len();
    let word = &text[start..end];
    let begins_before = start < at && message.starts_with("expected `");
    let is_one = ["invalid number", "number out of range", "expected ident", "expected value"];
    if word.is_empty() || !(begins_before || is_one.iter().any(|one| message.starts_with(one))) {
        return None;
    }
    let (what, hint) = if message.starts_with("number out of range") {
        ("too large for a number", "write a smaller one")
    } else if word.starts_with(|char: char| char.is_ascii_digit() || "+-.".contains(char)) {
        ("not a number of JSON", "numbers have no leading zeros, plus signs or bare points")
    } else {
        ("not a value of JSON", "the only words of JSON are true, false and null")
    };
    Some(fault(start, format!("`{}` is {what}", shown(word)), Some(hint)))
}

fn hint_at_end(text: &str) -> Option<&'static str> {
    let last = text.trim_end_matches([' ', '\t', '\r', '\n']).as_bytes().last();
    match last {
        Some(b',' | b':') => Some("write what is missing, and close the brackets"),
        _ => Some("close the brackets and strings that are open"),
    }
}

fn hint(rest: &str, message: &str) -> Option<&'static str> {
    if rest.starts_with('\'') {
        return Some("JSON strings stand in double quotes");
    }
    if message.starts_with("key must be a string") {
        return Some("write the key in double quotes");
    }
    if message.starts_with("expected `,`") {
        return Some("put a comma between two members");
    }
    None
}
