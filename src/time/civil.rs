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

/// Year, month (1 to 12) and day (1 to 31) of a day number.
pub(crate) const fn civil_from_days(day_number: i64) -> (i64, u8, u8) {
    let shifted = day_number + 719_468;
    let (cycle, day_of_cycle) =
        (shifted.div_euclid(DAYS_PER_CYCLE), shifted.rem_euclid(DAYS_PER_CYCLE));
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / 146_096)
        / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u8;
    let month =
        if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 } as u8;
    let year = cycle * 400 + year_of_cycle + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// Days in a month: 28 to 31.
pub(crate) const fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub(crate) const fn is_leap(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

/// Weekday of a day number, Monday 0 to Sunday 6.
pub(crate) const fn weekday(day_number: i64) -> u8 {
    // 1970-01-01 was a Thursday.
    (day_number + 3).rem_euclid(7) as u8
}
