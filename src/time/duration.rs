//! Durations as text: humantime's notation, narrowed to what cannot be misread.

/// A text is not a duration of this format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a duration: {problem}")]
pub struct DurationError {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to write instead, where that is known.
    pub hint: Option<String>,
}

/// The longest duration: 3,660 days.
pub const MAX_MS: i64 = 3_660 * super::MS_PER_DAY;

/// Reads a duration in milliseconds, 0 to [`MAX_MS`].
///
/// # Errors
/// [`DurationError`] names the fault and, where one is known, the remedy.
pub fn parse_ms(text: &str) -> Result<i64, DurationError> {
    let _ = text;
    todo!()
}

/// The shortest text that [`parse_ms`] reads back as `ms`, which is at least 0.
pub fn format_ms(ms: i64) -> String {
    let _ = ms;
    todo!()
}
