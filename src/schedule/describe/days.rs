//! The days of a calendar cadence in words.

use crate::time::{CronDays, Days, Matching};

use super::times::ones;
use super::words::{list, ordinal, ranges};

const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `every day`, `every Monday to Friday`, `on the last day of every month`.
pub(super) fn days(days: &Days) -> String {
    if let Some(month_days) = days.as_month_days() {
        return clamped(month_days.map(|day| day as u32).collect());
    }
    match days.as_cron() {
        Some(cron) => of_cron(cron),
        // Every set is one of the two.
        None => "every day".to_owned(),
    }
}

/// Days of every month, where a month that lacks one takes its last.
fn clamped(mut days: Vec<u32>) -> String {
    let has_last = days.pop_if(|day| *day == 31).is_some();
    let mut names = ranges(&days, ordinal);
    if has_last {
        names.push(if days.is_empty() { "last day" } else { "the last day" }.to_owned());
    }
    let month = format!("on the {} of every month", list(&names, "and"));
    // With the last day in the set, what a short month lacks falls on it anyway.
    if !has_last && days.last() > Some(&28) {
        return format!("{month}, or on its last day where it is shorter,");
    }
    month
}

fn of_cron(cron: CronDays) -> String {
    let CronDays { month_days, months, weekdays, matching } = cron;
    let (dates, week) = (ones(u64::from(month_days)), ones(u64::from(weekdays)));
    let months = ones(u64::from(months));
    match (dates.len() == 31, week.len() == 7) {
        (true, true) => format!("every day{}", in_months(&months)),
        (true, false) => format!("every {}{}", weekday_list(&week), in_months(&months)),
        (false, true) => on_dates(&dates, &months),
        (false, false) if matching == Matching::Both => {
            let dates = list(&ranges(&dates, ordinal), "or");
            let month = if months.len() == 12 { "the month" } else { &month_list(&months, "or") };
            format!("every {} that is the {dates} of {month}", weekday_list(&week))
        }
        (false, false) => {
            let (dates, week) = (on_dates(&dates, &months), weekday_list(&week));
            format!("{dates} and every {week}{}", in_months(&months))
        }
    }
}

/// `on the 13th of every month`.
fn on_dates(dates: &[u32], months: &[u32]) -> String {
    let named = list(&ranges(dates, ordinal), "and");
    let is_lacking = months.iter().any(|month| Some(&days_at_least(*month)) < dates.last());
    let month = match months.len() {
        12 => "every month".to_owned(),
        _ => month_list(months, "and"),
    };
    let exist = match (is_lacking, dates.len()) {
        (false, _) => "",
        (true, 1) => ", where it exists,",
        (true, _) => ", where they exist,",
    };
    format!("on the {named} of {month}{exist}")
}

/// How many days a month has in every year.
fn days_at_least(month: u32) -> u32 {
    match month {
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// ` in March to May`, or nothing for every month.
fn in_months(months: &[u32]) -> String {
    if months.len() == 12 { String::new() } else { format!(" in {}", month_list(months, "and")) }
}

fn month_list(months: &[u32], last: &str) -> String {
    list(&ranges(months, |month| MONTHS[month as usize - 1].to_owned()), last)
}

fn weekday_list(week: &[u32]) -> String {
    list(&ranges(week, |day| WEEKDAYS[day as usize].to_owned()), "and")
}
