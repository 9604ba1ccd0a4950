//! The output of a command: the JSON that it leaves in a file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::wire::{OUTPUT_LIMIT_BYTES, checked_output};

/// What a command left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Output {
    /// Nothing.
    None,
    /// JSON text.
    Json(String),
    /// Something else, for this reason.
    Bad(String),
}

/// Reads the file that a command was given for its output. A command that removed it left nothing.
pub(super) fn read(path: &Path) -> Output {
    let mut bytes = Vec::new();
    let Ok(file) = File::open(path) else { return Output::None };
    // One byte more than may be, so that it shows.
    let read = file.take(OUTPUT_LIMIT_BYTES as u64 + 1).read_to_end(&mut bytes);
    if let Err(error) = read {
        return Output::Bad(format!("it cannot be read: {error}"));
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Output::None,
        Ok(text) => match checked_output(&text) {
            Ok(json) => Output::Json(json.to_owned()),
            Err(error) => Output::Bad(error.to_string()),
        },
        Err(_) => Output::Bad("it is not UTF-8".to_owned()),
    }
}
