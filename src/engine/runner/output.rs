//! The output of a command: the JSON that it leaves in a file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::wire::checked_json;

/// The largest output, in bytes of JSON text.
pub const OUTPUT_LIMIT_BYTES: u64 = 1024 * 1024;

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
    if let Err(error) = file.take(OUTPUT_LIMIT_BYTES + 1).read_to_end(&mut bytes) {
        return Output::Bad(format!("it cannot be read: {error}"));
    }
    if bytes.len() as u64 > OUTPUT_LIMIT_BYTES {
        return Output::Bad(format!("it is longer than {OUTPUT_LIMIT_BYTES} bytes"));
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Output::None,
        Ok(text) => match checked_json(&text) {
            Ok(json) => Output::Json(json.to_owned()),
            Err(error) => Output::Bad(format!("it is not JSON: {error}")),
        },
        Err(_) => Output::Bad("it is not UTF-8".to_owned()),
    }
}
