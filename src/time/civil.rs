//! The proleptic Gregorian calendar in day numbers: days since 1970-01-01, before it negative.
//!
//! A handful of closed formulas instead of a date type, because every cadence counts in days
//! and the formulas must hold past both ends of the range that date types allow.

/// Days in 400 Gregorian years: exactly 20,871 weeks, after which everything repeats.
pub(crate) const DAYS_PER_CYCLE: i64 = 146_097;

/// The day number of a date. `month` is 1 to 12, `day` 1 to 31.
pub(crate) const fn days_from_civil(year: i64, month: u8, day: u8) -> i64 {
    // Years are counted from March, so that the leap day is the last day of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let (cycle, year_of_cycle) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (month as i64 + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day as i64 - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * DAYS_PER_CYCLE + day_of_cycle - 719_468
}

/// Year, month (1 to 12) and day (1 to 31) of a day number: Neri and Schneider's formulas, which
/// divide by multiplying. Right for 4 million years both ways.
pub(crate) const fn civil_from_days(day_number: i64) -> (i64, u8, u8) {
    // Counted from a March 1st far enough back that no number is negative.
    const CYCLES: i64 = 10_000;
    let shifted = (day_number + 719_468 + CYCLES * DAYS_PER_CYCLE) as u64;
    let quarters = 4 * shifted + 3;
    let century = quarters / DAYS_PER_CYCLE as u64;
    let quarters_of_century = quarters % DAYS_PER_CYCLE as u64 / 4 * 4 + 3;
    let product = 2_939_745 * quarters_of_century;
    let year_of_century = product >> 32;
    let day_of_year = (product & 0xffff_ffff) / 2_939_745 / 4;
    let months = 2_141 * day_of_year + 197_913;
    let month_from_march = (months >> 16) as u8;
    let day = ((months & 0xffff) / 2_141) as u8 + 1;
    let is_next_year = day_of_year >= 306;
    let year = (100 * century + year_of_century) as i64 - 400 * CYCLES;
    if is_next_year {
        (year + 1, month_from_march - 12, day)
    } else {
        (year, month_from_march, day)
    }
}

/// Days in a month: 28 to 31.
pub(crate) const fn days_in_month(year: i64, month: u8) -> u8 {
    if month == 2 {
        return if is_leap(year) { 29 } else { 28 };
    }
    // 31 days in odd months up to July, and in even ones from August.
    30 | (month ^ month >> 3) & 1
}

pub(crate) const fn is_leap(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

/// Weekday of a day number, Monday 0 to Sunday 6.
pub(crate) const fn weekday(day_number: i64) -> u8 {
    // 1970-01-01 was a Thursday.
    (day_number + 3).rem_euclid(7) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_three_cycles_has_the_date_that_leads_back_to_it() {
        let (first, last) = (days_from_civil(-200, 1, 1), days_from_civil(1_000, 12, 31));
        let mut expected = (-200, 1, 1);
        for day_number in first..=last {
            let (year, month, day) = civil_from_days(day_number);
            assert_eq!((year, month, day), expected, "day {day_number}");
            assert_eq!(days_from_civil(year, month, day), day_number);
            expected = match (month, day == days_in_month(year, month)) {
                (_, false) => (year, month, day + 1),
                (12, true) => (year + 1, 1, 1),
                (_, true) => (year, month + 1, 1),
            };
        }
        assert_eq!(civil_from_days(days_from_civil(30_000, 2, 29)), (30_000, 2, 29));
        assert_eq!(civil_from_days(days_from_civil(-30_000, 2, 29)), (-30_000, 2, 29));
    }
}
