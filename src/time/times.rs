//! Times of day, and the set of them at which a calendar cadence occurs.

use std::fmt;
use std::str::FromStr;

/// A local time of day: whole seconds from 00:00:00 to 23:59:59.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay {
    second: u32,
}

/// A non-empty set of times of day.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Times {
    /// Seconds of the day, ascending, each once.
    seconds: Box<[u32]>,
}

/// What can be wrong with times of day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimesError {
    /// The text is not a time of day.
    #[error("`{text}` is not a time of day: expected HH:MM or HH:MM:SS, 00:00 to 23:59:59")]
    Syntax {
        /// The text as given.
        text: String,
    },
    /// There is none.
    #[error("at least one time of day is needed")]
    Empty,
    /// One is given twice.
    #[error("`{time}` is given twice")]
    Repeated {
        /// The repeated one.
        time: TimeOfDay,
    },
}

impl TimeOfDay {
    /// 00:00:00.
    pub const MIDNIGHT: TimeOfDay = TimeOfDay { second: 0 };

    /// Seconds since midnight, 0 to 86,399.
    pub const fn second_of_day(self) -> u32 {
        self.second
    }
}

impl FromStr for TimeOfDay {
    type Err = TimesError;

    /// Reads exactly `HH:MM` or `HH:MM:SS`.
    fn from_str(text: &str) -> Result<TimeOfDay, TimesError> {
        let two = |bytes: &[u8]| match bytes {
            [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
                Some(u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
            }
            _ => None,
        };
        let parts = match text.as_bytes() {
            [hour @ .., b':', m1, m2] if hour.len() == 2 => (two(hour), two(&[*m1, *m2]), Some(0)),
            [hour @ .., b':', m1, m2, b':', s1, s2] if hour.len() == 2 => {
                (two(hour), two(&[*m1, *m2]), two(&[*s1, *s2]))
            }
            _ => (None, None, None),
        };
        match parts {
            (Some(hour @ 0..=23), Some(minute @ 0..=59), Some(second @ 0..=59)) => {
                Ok(TimeOfDay { second: hour * 3_600 + minute * 60 + second })
            }
            _ => Err(TimesError::Syntax { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for TimeOfDay {
    /// `HH:MM`, or `HH:MM:SS` where the seconds are not 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second) = (self.second / 3_600, self.second / 60 % 60, self.second % 60);
        write!(f, "{hour:02}:{minute:02}")?;
        if second != 0 {
            write!(f, ":{second:02}")?;
        }
        Ok(())
    }
}

impl Times {
    /// The set of these times, in any order.
    ///
    /// # Errors
    /// [`TimesError::Empty`] and [`TimesError::Repeated`].
    pub fn new(times: &[TimeOfDay]) -> Result<Times, TimesError> {
        let mut seconds: Vec<u32> = times.iter().map(|time| time.second).collect();
        seconds.sort_unstable();
        if let Some(pair) = seconds.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(TimesError::Repeated { time: TimeOfDay { second: pair[0] } });
        }
        if seconds.is_empty() {
            return Err(TimesError::Empty);
        }
        Ok(Times { seconds: seconds.into() })
    }

    /// The times, ascending.
    pub fn iter(&self) -> impl Iterator<Item = TimeOfDay> + '_ {
        self.seconds.iter().map(|&second| TimeOfDay { second })
    }

    /// How many times of a day, at least 1.
    pub(crate) fn per_day(&self) -> i64 {
        self.seconds.len() as i64
    }

    pub(crate) fn first(&self) -> i64 {
        i64::from(self.seconds[0])
    }

    pub(crate) fn last(&self) -> i64 {
        i64::from(self.seconds[self.seconds.len() - 1])
    }

    /// The first time at or after `second` of the day, in seconds of the day.
    pub(crate) fn at_or_after(&self, second: i64) -> Option<i64> {
        self.seconds.get(self.below(second) as usize).map(|&second| i64::from(second))
    }

    /// The last time before `second` of the day, in seconds of the day.
    pub(crate) fn before(&self, second: i64) -> Option<i64> {
        self.seconds[..self.below(second) as usize].last().map(|&second| i64::from(second))
    }

    /// How many times lie before `second` of the day.
    pub(crate) fn below(&self, second: i64) -> i64 {
        self.seconds.partition_point(|&time| i64::from(time) < second) as i64
    }
}
