//! Counts, for every instant of a span, the windows that lie over it.

use crate::time::{Instant, Window};

/// How many windows of each kind lie over an instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Windows of the schedule.
    pub(super) expected: i64,
    /// Successes.
    pub(super) counted: i64,
    /// Windows of the schedule that are due and did not succeed.
    pub(super) missing: i64,
    /// Windows of the schedule that are not due yet.
    pub(super) pending: i64,
    /// Windows of the schedule of which nothing is known any more.
    pub(super) unknown: i64,
}

/// The instants at which a count changes.
#[derive(Default)]
pub(super) struct Sweep {
    changes: Vec<(Instant, Which, i64)>,
}

/// One of the counts.
pub(super) type Which = fn(&mut Counts) -> &mut i64;

impl Sweep {
    /// Adds a window to one of the counts.
    pub(super) fn add(&mut self, window: Window, which: Which) {
        self.changes.push((window.start, which, 1));
        self.changes.push((window.end, which, -1));
    }

    /// Tells the counts of each part of `region` together with the end of the part, in order.
    pub(super) fn each(mut self, region: Window, mut tell: impl FnMut(Instant, &Counts)) {
        self.changes.sort_unstable_by_key(|(at, ..)| *at);
        let mut counts = Counts::default();
        let mut at = region.start;
        for (change, which, by) in self.changes {
            let until = change.min(region.end);
            if until > at {
                tell(until, &counts);
                at = until;
            }
            *which(&mut counts) += by;
        }
        if at < region.end {
            tell(region.end, &counts);
        }
    }
}
