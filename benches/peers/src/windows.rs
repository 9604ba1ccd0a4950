//! The windows of a year, against jiff's series, the cron iterators and polars.

use std::hint::black_box;
use std::str::FromStr;

use chrono::{TimeZone as _, Utc};
use chrono_tz::Europe::Amsterdam;
use jiff::ToSpan;
use jiff::civil::date;
use jiff::tz::TimeZoneDatabase;
use windowpane::plan::Timeline;

use crate::contest::{self, Contender, Target};
use crate::paths::{self, schedules};

pub fn run() {
    daily();
    every_five_minutes();
}

/// All windows of the year, each with occurrence, due instant, start and end.
fn ours(timeline: &Timeline) -> Contender<'_> {
    let (from, to) = paths::year();
    Contender::new("windowpane", move || {
        let mut count = 0;
        let sums = timeline.runs(black_box(from), black_box(to)).fold([0; 4], |sums, run| {
            let Ok(run) = run else { return sums };
            count += 1;
            let fields = [run.occurrence, run.due, run.window.start, run.window.end];
            std::array::from_fn(|at| sums[at] ^ fields[at].as_ms())
        });
        black_box(sums);
        count
    })
}

fn daily() {
    let timeline = paths::timeline(schedules::DAILY);
    let zone = TimeZoneDatabase::bundled().get("Europe/Amsterdam").expect("a zone");
    let cron = cron::Schedule::from_str("0 0 7 * * *").expect("a cron expression");
    let start = Amsterdam.with_ymd_and_hms(2025, 12, 31, 23, 0, 0).single().expect("an instant");
    let end = Amsterdam.with_ymd_and_hms(2027, 1, 1, 0, 0, 0).single().expect("an instant");
    let series = || {
        let dates = date(2026, 1, 1).series(1.day()).take_while(|day| day.year() == 2026);
        dates.map(|day| zone.to_timestamp(day.at(7, 0, 0, 0)).expect("a timestamp"))
    };
    let (from, to) = paths::year();
    let mine = timeline.runs(from, to).map(|run| run.expect("a run").occurrence.as_ms());
    assert!(mine.eq(series().map(|at| at.as_millisecond())), "jiff finds other occurrences");
    let others = vec![
        (
            Contender::new("jiff series, no windows", || {
                black_box(series().fold(0, |sum, at| sum ^ at.as_millisecond()));
                365
            }),
            Target::Times(20.0),
        ),
        (
            Contender::new("`cron`, no windows", || {
                let found = cron.after(black_box(&start)).take_while(|at| *at < end);
                black_box(found.fold(0, |sum, at| sum ^ at.timestamp_millis()));
                365
            }),
            Target::None,
        ),
    ];
    contest::run("windows of a year, daily in a zone", ours(&timeline), others);
}

fn every_five_minutes() {
    const COUNT: u64 = 365 * 288;
    let timeline = paths::timeline(schedules::EVERY_5_MIN);
    let cron = cron::Schedule::from_str("0 */5 * * * *").expect("a cron expression");
    let start = Utc.with_ymd_and_hms(2025, 12, 31, 23, 59, 59).single().expect("an instant");
    let mut others = vec![(
        Contender::new("`cron`, no windows", || {
            let found = cron.after(black_box(&start)).take(COUNT as usize);
            black_box(found.fold(0, |sum, at| sum ^ at.timestamp_millis()));
            COUNT
        }),
        Target::None,
    )];
    #[cfg(feature = "polars")]
    others.push((polars(COUNT), Target::None));
    contest::run("windows of a year, every 5 min", ours(&timeline), std::mem::take(&mut others));
}

#[cfg(feature = "polars")]
fn polars(count: u64) -> Contender<'static> {
    use polars_core::prelude::TimeUnit;
    use polars_time::{ClosedWindow, Duration, date_range};

    let midnight = |year| {
        let day = chrono::NaiveDate::from_ymd_opt(year, 1, 1).expect("a date");
        day.and_hms_opt(0, 0, 0).expect("a time")
    };
    let step = Duration::parse("5m");
    Contender::new("polars `date_range`, no windows", move || {
        let (from, to) = (black_box(midnight(2026)), midnight(2027));
        let unit = TimeUnit::Milliseconds;
        let range = date_range("".into(), from, to, step, ClosedWindow::Left, unit, None);
        assert_eq!(black_box(range.expect("a range")).len() as u64, count);
        count
    })
}
