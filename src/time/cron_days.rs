//! The days of a cron expression, month by month: each month is one word of bits.

use super::civil::{civil_from_days, days_from_civil, days_in_month, is_leap, weekday};
use super::days::{CronDays, Matching, rotated};

/// Past this many years everything has repeated, so what was not found never comes.
const CYCLE_YEARS: i64 = 400;

impl CronDays {
    /// The matching days of a month as bits 1 to 31.
    fn month(self, year: i64, month: u8) -> u32 {
        if self.months >> month & 1 == 0 {
            return 0;
        }
        let first = weekday(days_from_civil(year, month, 1));
        // A month lies within five weeks and some days; bit 1 is its first day.
        let week = u64::from(rotated(self.weekdays, first));
        let weeks = week | week << 7 | week << 14 | week << 21 | week << 28;
        let by_weekday = (weeks << 1) as u32;
        let matching = match self.matching {
            Matching::Both => self.month_days & by_weekday,
            Matching::Either => self.month_days | by_weekday,
        };
        // Twice, since a shift by 32 would overflow where a month has 31 days.
        matching & !(u32::MAX << days_in_month(year, month) << 1)
    }

    pub(super) fn contains(self, day: i64) -> bool {
        let (year, month, date) = civil_from_days(day);
        self.month(year, month) >> date & 1 == 1
    }

    /// The first matching day at or after a day number.
    pub(super) fn at_or_after(self, day: i64) -> Option<i64> {
        let (first_year, mut month, date) = civil_from_days(day);
        let mut year = first_year;
        let mut matching = self.month(year, month) & u32::MAX << date;
        while matching == 0 {
            (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            if year > first_year + CYCLE_YEARS {
                return None;
            }
            matching = self.month(year, month);
        }
        Some(days_from_civil(year, month, matching.trailing_zeros() as u8))
    }

    /// The last matching day at or before a day number.
    pub(super) fn at_or_before(self, day: i64) -> Option<i64> {
        let (first_year, mut month, date) = civil_from_days(day);
        let mut year = first_year;
        let mut matching = self.month(year, month) & !(u32::MAX << date << 1);
        while matching == 0 {
            (year, month) = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
            if year < first_year - CYCLE_YEARS {
                return None;
            }
            matching = self.month(year, month);
        }
        Some(days_from_civil(year, month, matching.ilog2() as u8))
    }

    /// How many matching days lie in `[from, to)`.
    pub(super) fn count(self, from: i64, to: i64) -> i64 {
        if from >= to {
            return 0;
        }
        let ((first_year, ..), (last_year, ..)) = (civil_from_days(from), civil_from_days(to));
        // A year is one of 14: it begins on one of seven weekdays, and is a leap year or not.
        let mut kinds = [None; 14];
        let whole_years: i64 = (first_year..last_year)
            .map(|year| {
                let kind =
                    usize::from(weekday(days_from_civil(year, 1, 1)) * 2 + u8::from(is_leap(year)));
                *kinds[kind].get_or_insert_with(|| self.count_months(year, 13))
            })
            .sum();
        whole_years + self.count_of_year_before(to) - self.count_of_year_before(from)
    }

    /// How many matching days of its year lie before a day number.
    fn count_of_year_before(self, day: i64) -> i64 {
        let (year, month, date) = civil_from_days(day);
        let this_month = self.month(year, month) & !(u32::MAX << date);
        self.count_months(year, month) + i64::from(this_month.count_ones())
    }

    /// How many matching days lie in the months of a year before `month`.
    fn count_months(self, year: i64, month: u8) -> i64 {
        (1..month).map(|month| i64::from(self.month(year, month).count_ones())).sum()
    }
}
