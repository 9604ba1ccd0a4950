//! Text that may stand on a terminal: control characters are spelled out.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` with every control character spelled out (`\n`, `\u{1b}`), so that no name or error
/// text can move the cursor, colour a line or forge one.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        if char.is_control() {
            // Writing to a `String` cannot fail.
            let _ = write!(escaped, "{}", char.escape_default());
        } else {
            escaped.push(char);
        }
    }
    Cow::Owned(escaped)
}
