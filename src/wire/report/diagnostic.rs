//! One thing that a check found, at its place in a file.

use std::rc::Rc;

use crate::schedule::{Code, Position, Severity};

use crate::wire::row::row;

/// One thing that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file as it was named, `-` for standard input.
    pub file: Rc<str>,
    /// Where it begins.
    pub start: Position,
    /// Where it ends: the position behind its last character.
    pub end: Position,
    /// The RFC 6901 pointer in the JSON text that holds it.
    pub pointer: String,
    /// Its kind.
    pub code: Code,
    /// How bad it is here.
    pub severity: Severity,
    /// One sentence, with the offending value.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

row!(Diagnostic: found => {
    shown "file" = &*found.file,
    shown "line" = found.start.line as u64,
    shown "column" = found.start.column as u64,
    data "end_line" = found.end.line as u64,
    data "end_column" = found.end.column as u64,
    data "pointer" = found.pointer.as_str(),
    shown "code" = found.code.as_str(),
    shown "severity" = found.severity.as_str(),
    shown "message" = found.message.as_str(),
    shown "hint" = found.hint.as_deref(),
});
