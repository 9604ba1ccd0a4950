//! The days of a cron expression, month by month: each month is one word of bits.

use super::civil::{civil_from_days, days_from_civil, is_leap, weekday};
use super::days::{CronDays, Matching, rotated};
use super::month::{MONTHS_PER_CYCLE, Month};

impl CronDays {
    /// The matching days of a month as bits 1 to 31.
    fn month(self, month: Month) -> u32 {
        if self.months >> month.number() & 1 == 0 {
            return 0;
        }
        let first = weekday(month.first_day());
        // A month lies within five weeks and some days; bit 1 is its first day.
        let week = u64::from(rotated(self.weekdays, first));
        let weeks = week | week << 7 | week << 14 | week << 21 | week << 28;
        let by_weekday = (weeks << 1) as u32;
        let matching = match self.matching {
            Matching::Both => self.month_days & by_weekday,
            Matching::Either => self.month_days | by_weekday,
        };
        // Twice, since a shift by 32 would overflow where a month has 31 days.
        matching & !(u32::MAX << month.length() << 1)
    }

    pub(super) fn contains(self, day: i64) -> bool {
        let month = Month::of_day(day);
        self.month(month) >> (day - month.day_zero()) & 1 == 1
    }

    /// The first matching day at or after a day number; `None` where none comes in a whole cycle,
    /// after which everything repeats.
    #[inline(never)]
    pub(super) fn at_or_after(self, day: i64) -> Option<i64> {
        let month = Month::of_day(day);
        let first_of = |month: Month, days: u32| {
            (days != 0).then(|| month.day_zero() + i64::from(days.trailing_zeros()))
        };
        let rest = self.month(month) & u32::MAX << (day - month.day_zero());
        first_of(month, rest).or_else(|| {
            let later = std::iter::successors(Some(month.next()), |month| Some(month.next()));
            later.take(MONTHS_PER_CYCLE).find_map(|month| first_of(month, self.month(month)))
        })
    }

    /// The last matching day at or before a day number; `None` as above.
    #[inline(never)]
    pub(super) fn at_or_before(self, day: i64) -> Option<i64> {
        let month = Month::of_day(day);
        let last_of = |month: Month, days: u32| {
            (days != 0).then(|| month.day_zero() + i64::from(days.ilog2()))
        };
        let begun = self.month(month) & !(u32::MAX << (day - month.day_zero()) << 1);
        last_of(month, begun).or_else(|| {
            let before = |month: &Month| Some(month.previous());
            let earlier = std::iter::successors(Some(month.previous()), before);
            earlier.take(MONTHS_PER_CYCLE).find_map(|month| last_of(month, self.month(month)))
        })
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
                let first = days_from_civil(year, 1, 1);
                let kind = usize::from(weekday(first) * 2 + u8::from(is_leap(year)));
                *kinds[kind].get_or_insert_with(|| self.count_months(Month::of_day(first), 12))
            })
            .sum();
        whole_years + self.count_of_year_before(to) - self.count_of_year_before(from)
    }

    /// How many matching days of its year lie before a day number.
    fn count_of_year_before(self, day: i64) -> i64 {
        let month = Month::of_day(day);
        let this_month = self.month(month) & !(u32::MAX << (day - month.day_zero()));
        self.count_months(month.january(), month.number() - 1) + i64::from(this_month.count_ones())
    }

    /// How many matching days lie in some months.
    fn count_months(self, first: Month, months: u8) -> i64 {
        let months =
            std::iter::successors(Some(first), |month| Some(month.next())).take(months.into());
        months.map(|month| i64::from(self.month(month).count_ones())).sum()
    }
}
