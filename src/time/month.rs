//! Months in a row: which one holds a day, where it begins and how long it is.

use super::civil::{DAYS_PER_CYCLE, days_from_civil, days_in_month};

/// Months in 400 Gregorian years, after which everything repeats.
pub(super) const MONTHS_PER_CYCLE: usize = 4_800;
/// The day number of 2000-01-01, where a cycle begins.
const CYCLE_START: i64 = days_from_civil(2000, 1, 1);

/// For each month of a cycle how many days come before it, and all days of the cycle at the end.
static DAYS_BEFORE: [i32; MONTHS_PER_CYCLE + 1] = {
    let mut before = [0; MONTHS_PER_CYCLE + 1];
    let mut at = 0;
    while at < MONTHS_PER_CYCLE {
        let length = days_in_month(at as i64 / 12, (at % 12) as u8 + 1);
        before[at + 1] = before[at] + length as i32;
        at += 1;
    }
    before
};

/// A month of some year.
#[derive(Debug, Clone, Copy)]
pub(super) struct Month {
    /// The day number of its first day.
    first_day: i64,
    /// How many days it has.
    length: u8,
    /// Its place in its cycle.
    index: u16,
}

impl Month {
    /// The month at a place of the cycle that begins with the day number `cycle`.
    #[inline]
    fn at(cycle: i64, index: usize) -> Month {
        let (before, after) = (DAYS_BEFORE[index], DAYS_BEFORE[index + 1]);
        let first_day = cycle + i64::from(before);
        Month { first_day, length: (after - before) as u8, index: index as u16 }
    }

    /// The month that holds a day number.
    #[inline]
    pub(super) fn of_day(day: i64) -> Month {
        let day_of_cycle = (day - CYCLE_START).rem_euclid(DAYS_PER_CYCLE) as usize;
        // What comes before a month is at most a few days longer or shorter than the mean.
        let near = day_of_cycle * MONTHS_PER_CYCLE / DAYS_PER_CYCLE as usize;
        let month = Month::at(day - day_of_cycle as i64, near);
        match day - month.first_day {
            ..0 => month.previous(),
            ahead if ahead < i64::from(month.length) => month,
            _ => month.next(),
        }
    }

    /// The day number of its first day.
    pub(super) fn first_day(self) -> i64 {
        self.first_day
    }

    /// The day number of the day before its first day.
    #[inline]
    pub(super) fn day_zero(self) -> i64 {
        self.first_day - 1
    }

    /// How many days it has, 28 to 31.
    #[inline]
    pub(super) fn length(self) -> u8 {
        self.length
    }

    /// Its number in its year, 1 to 12.
    #[inline]
    pub(super) fn number(self) -> u8 {
        (self.index % 12) as u8 + 1
    }

    /// The first month of its year.
    pub(super) fn january(self) -> Month {
        (1..self.number()).fold(self, |month, _| month.previous())
    }

    /// The month after it.
    pub(super) fn next(self) -> Month {
        let (index, first_day) =
            (usize::from(self.index) + 1, self.first_day + i64::from(self.length));
        match DAYS_BEFORE.get(index + 1) {
            Some(after) => {
                let length = (after - DAYS_BEFORE[index]) as u8;
                Month { first_day, length, index: index as u16 }
            }
            None => Month::at(first_day, 0),
        }
    }

    /// The month before it.
    pub(super) fn previous(self) -> Month {
        let index = usize::from(self.index).checked_sub(1).unwrap_or(MONTHS_PER_CYCLE - 1);
        let length = (DAYS_BEFORE[index + 1] - DAYS_BEFORE[index]) as u8;
        Month { first_day: self.first_day - i64::from(length), length, index: index as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::civil::civil_from_days;

    #[test]
    fn every_day_of_two_cycles_lies_in_its_month() {
        for day in days_from_civil(1_599, 12, 1)..days_from_civil(2_401, 2, 1) {
            let (year, number, date) = civil_from_days(day);
            let month = Month::of_day(day);
            assert_eq!((month.number(), month.length()), (number, days_in_month(year, number)));
            assert_eq!(month.first_day(), day - i64::from(date) + 1);
            let (last, next) = (month.previous(), month.next());
            assert_eq!(last.first_day() + i64::from(last.length()), month.first_day());
            assert_eq!(month.first_day() + i64::from(month.length()), next.first_day());
        }
    }
}
