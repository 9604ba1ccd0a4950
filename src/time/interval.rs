//! The epoch grid: every multiple of an interval since the Unix epoch.

use super::instant::{Instant, MS_PER_DAY, MS_PER_SECOND};

const MS_PER_MINUTE: i64 = 60 * MS_PER_SECOND;
const MS_PER_HOUR: i64 = 60 * MS_PER_MINUTE;

/// An interval of the epoch grid: whole seconds that divide 24 hours evenly, or whole days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    ms: i64,
}

/// A length is not an interval of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IntervalError {
    /// Shorter than a second, or not whole seconds.
    #[error("an interval is whole seconds, at least 1s")]
    NotWholeSeconds,
    /// It neither divides a day evenly nor is a whole number of days.
    #[error("an interval divides 24h evenly or is a whole number of days")]
    OffGrid {
        /// The nearest shorter interval in milliseconds, of whole minutes for a length of whole
        /// minutes, of whole hours for one of whole hours.
        shorter_ms: i64,
        /// The nearest longer one, likewise.
        longer_ms: i64,
    },
    /// Longer than [`Interval::MAX_DAYS`].
    #[error("an interval is at most 3660 days")]
    TooLong,
}

impl Interval {
    /// The longest interval, in days.
    pub const MAX_DAYS: i64 = 3_660;

    /// The interval of `ms` milliseconds.
    ///
    /// # Errors
    /// [`IntervalError`] names the rule that it breaks, and the nearest intervals.
    pub fn from_ms(ms: i64) -> Result<Interval, IntervalError> {
        if ms < MS_PER_SECOND || ms % MS_PER_SECOND != 0 {
            return Err(IntervalError::NotWholeSeconds);
        }
        if ms > Interval::MAX_DAYS * MS_PER_DAY {
            return Err(IntervalError::TooLong);
        }
        if !on_grid(ms) {
            let units = [MS_PER_HOUR, MS_PER_MINUTE];
            let unit = units.into_iter().find(|unit| ms % unit == 0).unwrap_or(MS_PER_SECOND);
            let step = |from: i64, by: i64| {
                std::iter::successors(Some(from), |ms| Some(ms + by))
                    .find(|&ms| on_grid(ms))
                    .unwrap_or(from)
            };
            // Past a day only whole days fit, so no search is longer than a day of seconds.
            let (shorter_ms, longer_ms) = if ms > MS_PER_DAY {
                let days = ms / MS_PER_DAY;
                (days * MS_PER_DAY, (days + 1) * MS_PER_DAY)
            } else {
                (step(ms, -unit), step(ms, unit))
            };
            return Err(IntervalError::OffGrid { shorter_ms, longer_ms });
        }
        Ok(Interval { ms })
    }

    /// Its length in milliseconds, at least 1,000.
    pub const fn as_ms(self) -> i64 {
        self.ms
    }

    /// The first multiple strictly after `instant`, whatever the range of instants.
    pub(crate) const fn next_ms(self, instant: Instant) -> i64 {
        (instant.as_ms().div_euclid(self.ms) + 1) * self.ms
    }

    /// The last multiple strictly before `instant`, whatever the range of instants.
    pub(crate) const fn prev_ms(self, instant: Instant) -> i64 {
        (instant.as_ms() - 1).div_euclid(self.ms) * self.ms
    }

    /// How many multiples lie in `[from, to)`.
    pub(crate) const fn count(self, from: Instant, to: Instant) -> u64 {
        let count = (to.as_ms() - 1).div_euclid(self.ms) - (from.as_ms() - 1).div_euclid(self.ms);
        if count < 0 { 0 } else { count as u64 }
    }
}

fn on_grid(ms: i64) -> bool {
    MS_PER_DAY % ms == 0 || ms % MS_PER_DAY == 0
}
