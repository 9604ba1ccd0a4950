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
        /// The nearest shorter interval in milliseconds.
        shorter_ms: i64,
        /// The nearest longer interval in milliseconds.
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
            // The nearest in the unit that the author thinks in: 6m or 8m for 7m, not 400s or 432s.
            let unit_ms = [MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE, MS_PER_SECOND]
                .into_iter()
                .find(|unit_ms| ms % unit_ms == 0)
                .unwrap_or(MS_PER_SECOND);
            let nearest = |by_ms: i64| {
                // No further than a day of seconds; past a day only whole days fit.
                let mut steps = std::iter::successors(Some(ms + by_ms), |ms| Some(ms + by_ms));
                steps.find(|&ms| on_grid(ms)).unwrap_or(ms)
            };
            let (shorter_ms, longer_ms) = if ms > MS_PER_DAY {
                let days = ms / MS_PER_DAY;
                (days * MS_PER_DAY, (days + 1) * MS_PER_DAY)
            } else {
                (nearest(-unit_ms), nearest(unit_ms))
            };
            return Err(IntervalError::OffGrid { shorter_ms, longer_ms });
        }
        Ok(Interval { ms })
    }

    /// Its length in milliseconds, at least 1,000.
    pub const fn as_ms(self) -> i64 {
        self.ms
    }

    /// The first multiple strictly after `ms`, whatever the range of instants.
    #[inline]
    pub(crate) const fn next_ms(self, ms: i64) -> i64 {
        ms - ms.rem_euclid(self.ms) + self.ms
    }

    /// The last multiple strictly before `ms`, whatever the range of instants.
    #[inline]
    pub(crate) const fn prev_ms(self, ms: i64) -> i64 {
        ms - 1 - (ms - 1).rem_euclid(self.ms)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_off_the_grid_names_its_neighbours() {
        let neighbours = |seconds: i64| match Interval::from_ms(seconds * 1_000) {
            Err(IntervalError::OffGrid { shorter_ms, longer_ms }) => {
                (shorter_ms / 1_000, longer_ms / 1_000)
            }
            other => panic!("{seconds} s: {other:?}"),
        };
        assert_eq!(neighbours(7 * 60), (6 * 60, 8 * 60));
        assert_eq!(neighbours(5 * 3_600), (4 * 3_600, 6 * 3_600));
        assert_eq!(neighbours(36 * 3_600), (86_400, 2 * 86_400));
        assert_eq!(neighbours(7), (6, 8));
        assert_eq!(neighbours(13 * 3_600), (12 * 3_600, 24 * 3_600));
        assert_eq!(neighbours(86_399), (43_200, 86_400));
        assert_eq!(neighbours(86_401), (86_400, 2 * 86_400));
    }

    #[test]
    fn what_is_on_the_grid_is_taken() {
        for ms in [1_000, 2_000, 300_000, 2_700_000, 5_400_000, 86_400_000, 3_660 * 86_400_000] {
            assert_eq!(Interval::from_ms(ms).map(Interval::as_ms), Ok(ms));
        }
        assert_eq!(Interval::from_ms(999), Err(IntervalError::NotWholeSeconds));
        assert_eq!(Interval::from_ms(1_500), Err(IntervalError::NotWholeSeconds));
        assert_eq!(Interval::from_ms(3_661 * 86_400_000), Err(IntervalError::TooLong));
    }
}
