//! How long to wait before something is tried again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Waits this long; the calling process may do nothing meanwhile.
pub type Wait = fn(Duration);

/// The spans between so many attempts. Each is drawn between half of a limit and the limit, which
/// doubles: those who were in each other's way once do not meet again at the same instant.
#[derive(Debug, Clone)]
pub struct Backoff {
    limit_ms: u64,
    left: u32,
    random: RandomState,
}

impl Backoff {
    /// No span is longer, in milliseconds.
    pub const AT_MOST_MS: u64 = 5_000;

    /// The spans before `attempts` further attempts, the first of at most `first_ms` milliseconds.
    pub fn new(first_ms: u64, attempts: u32) -> Backoff {
        Backoff { limit_ms: first_ms.max(1), left: attempts, random: RandomState::new() }
    }
}

impl Iterator for Backoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        let limit_ms = self.limit_ms.min(Backoff::AT_MOST_MS);
        self.limit_ms = 2 * limit_ms;
        let half_us = limit_ms * 500;
        let drawn_us = self.random.hash_one(self.left) % (half_us + 1);
        Some(Duration::from_micros(half_us + drawn_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_double_up_to_a_limit_and_end() {
        let spans: Vec<Duration> = Backoff::new(1_000, 5).collect();
        assert_eq!(spans.len(), 5);
        for (span, limit_ms) in spans.iter().zip([1_000, 2_000, 4_000, 5_000, 5_000]) {
            let limit = Duration::from_millis(limit_ms);
            assert!(limit / 2 <= *span && *span <= limit, "{span:?} of at most {limit:?}");
        }
    }

    #[test]
    fn two_who_begin_at_once_wait_differently() {
        let spans = || Backoff::new(1_000, 8).collect::<Vec<_>>();
        assert_ne!(spans(), spans());
    }
}
