//! The cut of an edit: what data falls between the old revision and the new, or is counted twice.

use crate::time::{Instant, Window};

use super::timeline::Timeline;

/// Where an edit cuts a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The instant E: occurrences at or before it belong to the old revision.
    pub at: Instant,
    /// The data between the last window of the old revision and the first of the new that no
    /// window covers.
    pub gap: Option<Window>,
    /// The data that both of these windows count.
    pub overlap: Option<Window>,
}

/// The cut that an edit at `at` makes between the timeline before it and the one after.
pub fn cut(before: &Timeline, after: &Timeline, at: Instant) -> Cut {
    let last = before.run_at_or_before(at).and_then(Result::ok);
    let first = at.checked_add_ms(1).and_then(|from| after.runs_from(from).next()?.ok());
    let Some((last, first)) = last.zip(first) else { return Cut { at, gap: None, overlap: None } };
    let (old, new) = (last.window, first.window);
    let span = |start, end| (start < end).then_some(Window { start, end });
    Cut {
        at,
        gap: span(old.end, new.start),
        overlap: span(old.start.max(new.start), old.end.min(new.end)),
    }
}
