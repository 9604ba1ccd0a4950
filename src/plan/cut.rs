//! The cut of an edit: what data falls between the old revision and the new, or is counted twice.

use crate::time::{Instant, Window};

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
