//! Times of day, and the set of them at which a calendar cadence occurs.

use std::fmt;
use std::str::FromStr;

const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 3_600;

/// A local time of day: whole seconds from 00:00:00 to 23:59:59.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay {
    second: u32,
}

/// A non-empty set of times of day.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Times {
    form: Form,
    /// The first and the last of them, in seconds of the day.
    ends_s: [u32; 2],
}

/// Held in a canonical form, so that equal sets are equal values: a grid wherever it is one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Form {
    /// Every one of these minutes in every one of these hours.
    Grid(Grid),
    /// Seconds of the day, ascending, each once.
    List(Box<[u32]>),
}

/// Some minutes (bits 0 to 59) of some hours (bits 0 to 23); at least one of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Grid {
    pub(crate) minutes: u64,
    pub(crate) hours: u32,
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

    /// The time of day of a local time in seconds.
    pub(crate) fn of_second(local_s: i64) -> TimeOfDay {
        TimeOfDay { second: local_s.rem_euclid(86_400) as u32 }
    }

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
        let grid = Grid::of(&seconds);
        Ok(Times::of(grid.map_or_else(|| Form::List(seconds.into()), Form::Grid)))
    }

    /// The times of a grid, which holds at least one minute and one hour.
    pub(crate) fn of_grid(grid: Grid) -> Times {
        Times::of(Form::Grid(grid))
    }

    fn of(form: Form) -> Times {
        let ends_s = match &form {
            Form::Grid(grid) => grid.ends_s(),
            Form::List(seconds) => [seconds[0], seconds[seconds.len() - 1]],
        };
        Times { form, ends_s }
    }

    /// The minutes and hours, where the set is every one of these minutes in every one of these
    /// hours.
    pub(crate) fn as_grid(&self) -> Option<Grid> {
        match self.form {
            Form::Grid(grid) => Some(grid),
            Form::List(_) => None,
        }
    }

    /// The times, ascending.
    pub fn iter(&self) -> impl Iterator<Item = TimeOfDay> + '_ {
        let first = Some(self.first());
        std::iter::successors(first, |&second| self.at_or_after(second + 1))
            .map(|second| TimeOfDay { second: second as u32 })
    }

    /// The earliest time.
    pub(crate) fn earliest(&self) -> TimeOfDay {
        TimeOfDay { second: self.first() as u32 }
    }

    /// The latest time.
    pub(crate) fn latest(&self) -> TimeOfDay {
        TimeOfDay { second: self.last() as u32 }
    }

    /// How many times of a day, at least 1.
    pub(crate) fn per_day(&self) -> i64 {
        match &self.form {
            Form::Grid(grid) => grid.hours.count_ones() as i64 * grid.per_hour(),
            Form::List(seconds) => seconds.len() as i64,
        }
    }

    /// From each time to the next one, over midnight too, in seconds, where that is always the same.
    pub(crate) fn step_s(&self) -> Option<i64> {
        match &self.form {
            Form::Grid(grid) => grid.step_s(),
            Form::List(seconds) => (seconds.len() == 1).then_some(24 * HOUR_S),
        }
    }

    /// The hours that hold any of them, bits 0 to 23.
    pub(crate) fn hours(&self) -> u32 {
        match &self.form {
            Form::Grid(grid) => grid.hours,
            Form::List(seconds) => {
                seconds.iter().fold(0, |hours, second| hours | 1 << (second / 3_600))
            }
        }
    }

    /// The first time, in seconds of the day.
    pub(crate) fn first(&self) -> i64 {
        i64::from(self.ends_s[0])
    }

    /// The last time, in seconds of the day.
    pub(crate) fn last(&self) -> i64 {
        i64::from(self.ends_s[1])
    }

    /// The first time at or after `second` of the day, in seconds of the day.
    pub(crate) fn at_or_after(&self, second: i64) -> Option<i64> {
        match &self.form {
            Form::Grid(grid) => grid.at_or_after(second),
            Form::List(seconds) => {
                seconds.get(self.below(second) as usize).map(|&second| i64::from(second))
            }
        }
    }

    /// The last time before `second` of the day, in seconds of the day.
    pub(crate) fn before(&self, second: i64) -> Option<i64> {
        match &self.form {
            Form::Grid(grid) => grid.before(second),
            Form::List(seconds) => {
                seconds[..self.below(second) as usize].last().map(|&second| i64::from(second))
            }
        }
    }

    /// How many times lie before `second` of the day.
    pub(crate) fn below(&self, second: i64) -> i64 {
        match &self.form {
            Form::Grid(grid) => grid.below(second),
            Form::List(seconds) => seconds.partition_point(|&time| i64::from(time) < second) as i64,
        }
    }
}

impl Grid {
    /// The grid that these seconds of the day are, if they are one.
    fn of(seconds: &[u32]) -> Option<Grid> {
        let mut grid = Grid { minutes: 0, hours: 0 };
        for second in seconds {
            grid.minutes |= 1 << (second / 60 % 60);
            grid.hours |= 1 << (second / 3_600);
        }
        let is_whole = seconds.iter().all(|second| second % 60 == 0);
        let size = grid.minutes.count_ones() * grid.hours.count_ones();
        (is_whole && size as usize == seconds.len()).then_some(grid)
    }

    /// The first and the last time.
    fn ends_s(self) -> [u32; 2] {
        let second = |hour: u32, minute: u32| hour * 3_600 + minute * 60;
        let first = second(self.hours.trailing_zeros(), self.minutes.trailing_zeros());
        [first, second(self.hours.ilog2(), self.minutes.ilog2())]
    }

    /// From each time to the next one, where that is always the same.
    fn step_s(self) -> Option<i64> {
        let (minutes, hours) = (even_step(self.minutes, 60)?, even_step(self.hours.into(), 24)?);
        match (minutes, hours) {
            (minutes, 1) => Some(minutes * MINUTE_S),
            (60, hours) => Some(hours * HOUR_S),
            _ => None,
        }
    }

    fn per_hour(self) -> i64 {
        i64::from(self.minutes.count_ones())
    }

    fn at_or_after(self, second: i64) -> Option<i64> {
        let minute = (second + MINUTE_S - 1) / MINUTE_S;
        let (hour, minute_of_hour) = (minute / 60, minute % 60);
        if hour > 23 {
            return None;
        }
        let minutes = self.minutes >> minute_of_hour;
        if self.hours >> hour & 1 == 1 && minutes != 0 {
            return Some((minute + i64::from(minutes.trailing_zeros())) * MINUTE_S);
        }
        let later = self.hours >> hour >> 1;
        if later == 0 {
            return None;
        }
        let hour = hour + 1 + i64::from(later.trailing_zeros());
        Some(hour * HOUR_S + i64::from(self.minutes.trailing_zeros()) * MINUTE_S)
    }

    fn before(self, second: i64) -> Option<i64> {
        if second <= 0 {
            return None;
        }
        let minute = (second - 1) / MINUTE_S;
        let (hour, minute_of_hour) = (minute / 60, minute % 60);
        let minutes = self.minutes << (63 - minute_of_hour);
        if self.hours >> hour & 1 == 1 && minutes != 0 {
            return Some((minute - i64::from(minutes.leading_zeros())) * MINUTE_S);
        }
        let earlier = self.hours & ((1 << hour) - 1);
        let hour = i64::from(earlier.checked_ilog2()?);
        Some(hour * HOUR_S + i64::from(self.minutes.ilog2()) * MINUTE_S)
    }

    fn below(self, second: i64) -> i64 {
        let minute = (second + MINUTE_S - 1) / MINUTE_S;
        let (hour, minute_of_hour) = (minute / 60, minute % 60);
        let whole_hours = i64::from((self.hours & ((1 << hour) - 1)).count_ones());
        let this_hour = if self.hours >> hour & 1 == 1 {
            i64::from((self.minutes & ((1 << minute_of_hour) - 1)).count_ones())
        } else {
            0
        };
        whole_hours * self.per_hour() + this_hour
    }
}

/// From each bit that is set to the next one, over the end of a field of `length` bits too, where
/// that is always the same.
fn even_step(set: u64, length: u32) -> Option<i64> {
    let step = length / set.count_ones();
    let rotated = (set << step | set >> (length - step)) & ((1 << length) - 1);
    (step * set.count_ones() == length && (step == length || rotated == set))
        .then_some(i64::from(step))
}
