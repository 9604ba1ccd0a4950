//! The days on which a calendar cadence occurs, by arithmetic on day numbers.

use super::civil::{civil_from_days, days_in_month, weekday};
use super::month::Month;

/// A set of days of the calendar: every day, some weekdays, some days of every month, or the days
/// that a cron expression's day, month and weekday fields name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Days(Rule);

/// Held in a canonical form, so that equal sets are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Rule {
    Every,
    /// Bit 0 is Monday, bit 6 Sunday; at least one is set, not all.
    Weekdays(u8),
    /// Bits 1 to 31; at least one is set. A day that a month lacks clamps to its last, so bit 31
    /// is also the last day of every month.
    MonthDays(u32),
    Cron(CronDays),
}

/// The days that a cron expression names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CronDays {
    /// Bits 1 to 31; a day that a month lacks does not occur in it.
    pub(crate) month_days: u32,
    /// Bits 1 to 12.
    pub(crate) months: u16,
    /// Bit 0 is Monday, bit 6 Sunday.
    pub(crate) weekdays: u8,
    /// Whether a day must match both day fields or either.
    pub(crate) matching: Matching,
}

/// How the two day fields of a cron expression go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Matching {
    Both,
    Either,
}

const EVERY_WEEKDAY: u8 = 0b111_1111;
const EVERY_MONTH_DAY: u32 = u32::MAX << 1;
const EVERY_MONTH: u16 = 0b1_1111_1111_1110;

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Weekday {
    /// Monday to Sunday.
    pub const ALL: [Weekday; 7] = [
        Weekday::Monday,
        Weekday::Tuesday,
        Weekday::Wednesday,
        Weekday::Thursday,
        Weekday::Friday,
        Weekday::Saturday,
        Weekday::Sunday,
    ];

    /// The lower-case English name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Weekday::Monday => "monday",
            Weekday::Tuesday => "tuesday",
            Weekday::Wednesday => "wednesday",
            Weekday::Thursday => "thursday",
            Weekday::Friday => "friday",
            Weekday::Saturday => "saturday",
            Weekday::Sunday => "sunday",
        }
    }
}

/// What can be wrong with a set of days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DaysError {
    /// There is none.
    #[error("at least one day is needed")]
    Empty,
    /// One is given twice, by its position in the list.
    #[error("the same day is given twice")]
    Repeated {
        /// The position of the second one, from 0.
        index: usize,
    },
    /// It is not a day of a month.
    #[error("`{day}` is not a day of the month: 1 to 31, or \"last\"")]
    NoSuchDay {
        /// The number as given.
        day: i64,
        /// Its position in the list, from 0.
        index: usize,
    },
}

impl Days {
    /// Stands for the last day of every month in [`Days::month_days`]. So does 31, and naming both
    /// is no repeat.
    pub const LAST: i64 = -1;

    /// Every day.
    pub const fn every() -> Days {
        Days(Rule::Every)
    }

    /// These weekdays of every week.
    ///
    /// # Errors
    /// [`DaysError::Empty`] and [`DaysError::Repeated`].
    pub fn weekdays(weekdays: &[Weekday]) -> Result<Days, DaysError> {
        if let Some(index) =
            (1..weekdays.len()).find(|&index| weekdays[..index].contains(&weekdays[index]))
        {
            return Err(DaysError::Repeated { index });
        }
        match weekdays.iter().fold(0, |mask, &weekday| mask | 1 << weekday as u8) {
            0 => Err(DaysError::Empty),
            EVERY_WEEKDAY => Ok(Days(Rule::Every)),
            mask => Ok(Days(Rule::Weekdays(mask))),
        }
    }

    /// These days of every month, 1 to 31 or [`Days::LAST`]; a day that a month lacks clamps to its
    /// last day.
    ///
    /// # Errors
    /// Every [`DaysError`].
    pub fn month_days(days: &[i64]) -> Result<Days, DaysError> {
        if let Some(index) =
            days.iter().position(|day| *day != Days::LAST && !(1..=31).contains(day))
        {
            return Err(DaysError::NoSuchDay { day: days[index], index });
        }
        if let Some(index) = (1..days.len()).find(|&index| days[..index].contains(&days[index])) {
            return Err(DaysError::Repeated { index });
        }
        let bit = |day: i64| 1 << if day == Days::LAST { 31 } else { day };
        match days.iter().fold(0, |mask, &day| mask | bit(day)) {
            0 => Err(DaysError::Empty),
            EVERY_MONTH_DAY => Ok(Days(Rule::Every)),
            mask => Ok(Days(Rule::MonthDays(mask))),
        }
    }

    /// The days that a cron expression names; `None` when no date of the calendar matches.
    pub(crate) fn cron(mut days: CronDays) -> Option<Days> {
        if days.month_days == EVERY_MONTH_DAY || days.weekdays == EVERY_WEEKDAY {
            if days.matching == Matching::Either {
                (days.month_days, days.weekdays) = (EVERY_MONTH_DAY, EVERY_WEEKDAY);
            }
            days.matching = Matching::Both;
        }
        let rule = match days {
            CronDays { month_days: EVERY_MONTH_DAY, months: EVERY_MONTH, weekdays, .. } => {
                if weekdays == EVERY_WEEKDAY {
                    Rule::Every
                } else {
                    Rule::Weekdays(weekdays)
                }
            }
            days => Rule::Cron(days),
        };
        let days = Days(rule);
        days.at_or_after(0).is_some().then_some(days)
    }

    /// The fields of a cron expression that names the set, where there is one.
    pub(crate) fn as_cron(&self) -> Option<CronDays> {
        let every = CronDays {
            month_days: EVERY_MONTH_DAY,
            months: EVERY_MONTH,
            weekdays: EVERY_WEEKDAY,
            matching: Matching::Both,
        };
        match self.0 {
            Rule::Every => Some(every),
            Rule::Weekdays(weekdays) => Some(CronDays { weekdays, ..every }),
            Rule::MonthDays(_) => None,
            Rule::Cron(days) => Some(days),
        }
    }

    /// The weekdays, where the set is made of some.
    pub fn as_weekdays(&self) -> Option<impl Iterator<Item = Weekday>> {
        let Rule::Weekdays(mask) = self.0 else { return None };
        Some(Weekday::ALL.into_iter().filter(move |&weekday| mask >> weekday as u8 & 1 == 1))
    }

    /// The days of the month, 31 standing for the last, where the set is made of some.
    pub fn as_month_days(&self) -> Option<impl Iterator<Item = i64>> {
        let Rule::MonthDays(mask) = self.0 else { return None };
        Some((1..=31).filter(move |&day| mask >> day & 1 == 1))
    }

    /// From each of its days to the next one, where that is always the same.
    pub(crate) fn step_days(&self) -> Option<i64> {
        match self.0 {
            Rule::Every => Some(1),
            Rule::Weekdays(mask) => mask.is_power_of_two().then_some(7),
            Rule::MonthDays(_) | Rule::Cron(_) => None,
        }
    }

    /// The first day of the set at or after a day number.
    #[inline(always)]
    pub(crate) fn at_or_after(&self, day: i64) -> Option<i64> {
        match self.0 {
            Rule::Every => Some(day),
            Rule::Weekdays(mask) => {
                let ahead = rotated(mask, weekday(day)).trailing_zeros();
                Some(day + i64::from(ahead))
            }
            Rule::MonthDays(mask) => Some(month_day_at_or_after(mask, day)),
            Rule::Cron(days) => days.at_or_after(day),
        }
    }

    /// The last day of the set before a day number.
    #[inline(always)]
    pub(crate) fn before(&self, day: i64) -> Option<i64> {
        let day = day - 1;
        match self.0 {
            Rule::Every => Some(day),
            Rule::Weekdays(mask) => {
                // The bit of the weekday itself comes to stand highest of seven.
                let back = (rotated(mask, (weekday(day) + 1) % 7) << 1).leading_zeros();
                Some(day - i64::from(back))
            }
            Rule::MonthDays(mask) => Some(month_day_at_or_before(mask, day)),
            Rule::Cron(days) => days.at_or_before(day),
        }
    }

    /// How many days of the set lie in `[from, to)`. For a cron expression the cost grows with
    /// the years between; for any other set it does not.
    pub(crate) fn count(&self, from: i64, to: i64) -> i64 {
        match self.0 {
            Rule::Every => to - from,
            Rule::Weekdays(mask) => weekdays_before(mask, to) - weekdays_before(mask, from),
            Rule::MonthDays(mask) => month_days_before(mask, to) - month_days_before(mask, from),
            Rule::Cron(days) => days.count(from, to),
        }
    }

    /// Whether a day number belongs to the set.
    pub(crate) fn contains(&self, day: i64) -> bool {
        match self.0 {
            Rule::Every => true,
            Rule::Weekdays(mask) => mask >> weekday(day) & 1 == 1,
            Rule::MonthDays(mask) => month_day_at_or_after(mask, day) == day,
            Rule::Cron(days) => days.contains(day),
        }
    }
}

/// A mask of weekdays with the bit of `first` moved to bit 0.
pub(super) fn rotated(mask: u8, first: u8) -> u8 {
    (mask >> first | mask << (7 - first)) & 0b111_1111
}

/// The days of a month of `length` days: those that it lacks clamp to its last.
fn clamped(mask: u32, length: u8) -> u32 {
    let within = mask & ((1 << length) - 1);
    if mask >> length != 0 { within | 1 << length } else { within }
}

/// The first of the days of months at or after a day number.
#[inline(always)]
fn month_day_at_or_after(mask: u32, day: i64) -> i64 {
    let month = Month::of_day(day);
    let later = clamped(mask, month.length()) >> (day - month.day_zero());
    if later != 0 {
        return day + i64::from(later.trailing_zeros());
    }
    let month = month.next();
    month.day_zero() + i64::from(clamped(mask, month.length()).trailing_zeros())
}

/// The last of the days of months at or before a day number.
#[inline(always)]
fn month_day_at_or_before(mask: u32, day: i64) -> i64 {
    let month = Month::of_day(day);
    let earlier = clamped(mask, month.length()) << (31 - (day - month.day_zero()));
    if earlier != 0 {
        return day - i64::from(earlier.leading_zeros());
    }
    let month = month.previous();
    month.day_zero() + i64::from(clamped(mask, month.length()).ilog2())
}

/// How many of the weekdays lie before a day number, since a fixed origin.
fn weekdays_before(mask: u8, day: i64) -> i64 {
    let begun = mask & ((1 << weekday(day)) - 1);
    (day + 3).div_euclid(7) * i64::from(mask.count_ones()) + i64::from(begun.count_ones())
}

/// How many of the days of months lie before a day number, since a fixed origin.
fn month_days_before(mask: u32, day: i64) -> i64 {
    let (year, month, date) = civil_from_days(day);
    let in_month = |length| i64::from(clamped(mask, length).count_ones());
    let common_year = 7 * in_month(31) + 4 * in_month(30) + in_month(28);
    let leap_years =
        (year - 1).div_euclid(4) - (year - 1).div_euclid(100) + (year - 1).div_euclid(400);
    let this_year: i64 = (1..month).map(|month| in_month(days_in_month(year, month))).sum();
    let this_month = clamped(mask, days_in_month(year, month)) & ((1 << date) - 1);
    year * common_year
        + leap_years * (in_month(29) - in_month(28))
        + this_year
        + i64::from(this_month.count_ones())
}
