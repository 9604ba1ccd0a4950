//! Text that may stand on a terminal: control characters are spelled out.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::schedule::is_deceptive;

/// `text` with every control character spelled out (`\n`, `\u{1b}`), and those that turn the
/// direction of writing or have no width, so that no name or error text can move the cursor, colour
/// a line or forge one.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        if is_deceptive(char) {
            // Writing to a `String` cannot fail.
            let _ = write!(escaped, "{}", char.escape_default());
        } else {
            escaped.push(char);
        }
    }
    Cow::Owned(escaped)
}
