//! The half-open span of data that one run evaluates.

use super::Instant;

/// A half-open span `[start, end)` of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// The first instant inside.
    pub start: Instant,
    /// The first instant after.
    pub end: Instant,
}

/// A window reaches outside the range of instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the window of the occurrence {occurrence} lies outside the range of instants")]
pub struct WindowError {
    /// The occurrence.
    pub occurrence: Instant,
}

impl Window {
    /// The window of an occurrence: it ends `delay_ms` before it, and begins `window_ms` before
    /// that end or, without `window_ms`, `interval_ms` before it, which is where the window of the
    /// previous occurrence ends.
    ///
    /// # Errors
    /// [`WindowError`] when an edge lies outside the range of instants.
    pub fn of(
        occurrence: Instant,
        interval_ms: i64,
        delay_ms: i64,
        window_ms: Option<i64>,
    ) -> Result<Window, WindowError> {
        let window_ms = window_ms.unwrap_or(interval_ms);
        let end = occurrence.checked_add_ms(-delay_ms);
        let start = end.and_then(|end| end.checked_add_ms(-window_ms));
        start.zip(end).map(|(start, end)| Window { start, end }).ok_or(WindowError { occurrence })
    }
}
