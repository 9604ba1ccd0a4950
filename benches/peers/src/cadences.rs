//! Next occurrences and newest due ones, against the cron crates and jiff.

use std::hint::black_box;
use std::str::FromStr;

use chrono::{DateTime, TimeZone as _, Utc};
use chrono_tz::Europe::Amsterdam;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime as Civil, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use windowpane::time::{Cadence, Instant};

use crate::contest::{self, Contender, Target};
use crate::paths::{self, schedules};

/// One cadence as every program writes it.
struct Job {
    name: &'static str,
    cadence: Cadence,
    /// For `cron`, with seconds; it knows no last day of the month.
    cron: Option<&'static str>,
    croner: &'static str,
    /// The local dates for jiff, at `hour`.
    dates: Option<Dates>,
    hour: i8,
    /// What must hold of `cron`, `croner` and jiff.
    targets: [Target; 3],
}

/// The first date at or after one.
type Dates = fn(Date) -> Date;

fn weekly(date: Date) -> Date {
    (0..7).fold(date, |date, _| {
        if date.weekday() == Weekday::Monday { date } else { date.tomorrow().expect("a date") }
    })
}

fn jobs() -> Vec<Job> {
    let (fifteen, five) = (Target::Times(15.0), Target::Times(5.0));
    let job = |name, schedule, cron, croner, dates, hour, targets| Job {
        name,
        cadence: paths::cadence(schedule),
        cron,
        croner,
        dates,
        hour,
        targets,
    };
    let local = [fifteen, Target::None, five];
    let daily: Dates = |date| date;
    let monthly: Dates = |date| date.last_of_month();
    vec![
        job(
            "daily in a zone",
            schedules::DAILY,
            Some("0 0 7 * * *"),
            "0 7 * * *",
            Some(daily),
            7,
            local,
        ),
        job(
            "weekly in a zone",
            schedules::WEEKLY,
            Some("0 0 7 * * Mon"),
            "0 7 * * 1",
            Some(weekly),
            7,
            local,
        ),
        job("monthly in a zone", schedules::MONTHLY, None, "0 7 L * *", Some(monthly), 7, local),
        job(
            "cron `0 3 * * *` in a zone",
            schedules::CRON_DAILY,
            Some("0 0 3 * * *"),
            "0 3 * * *",
            None,
            3,
            [five, Target::None, Target::None],
        ),
        job(
            "cron `*/5 * * * *` in a zone",
            schedules::CRON_5_MIN,
            Some("0 */5 * * * *"),
            "*/5 * * * *",
            None,
            0,
            [five, Target::None, Target::None],
        ),
    ]
}

pub fn run() {
    let instants = paths::instants();
    for job in jobs() {
        next(&job, &instants);
    }
    every_five_minutes(&instants);
    for job in jobs().iter().filter(|job| job.cron.is_some()) {
        newest_due(job, &instants);
    }
}

/// An instant as chrono has it in the zone.
fn zoned(instant: Instant) -> DateTime<chrono_tz::Tz> {
    Amsterdam.timestamp_millis_opt(instant.as_ms()).single().expect("in range")
}

fn timestamp(instant: Instant) -> Timestamp {
    Timestamp::from_millisecond(instant.as_ms()).expect("in range")
}

/// Holds what two programs say to be the same for every instant, except near clock changes where
/// they follow other rules: those are counted, and must be few.
fn agree(job: &str, other: &str, found: impl Iterator<Item = (Option<i64>, Option<i64>)>) {
    let (mut all, mut differ) = (0, 0);
    for (ours, theirs) in found {
        all += 1;
        differ += u32::from(ours != theirs);
    }
    assert!(differ * 200 <= all, "{job}: {other} differs in {differ} of {all}");
}

/// The first occurrence after an instant, with jiff: two lookups in the zone.
fn jiff_next(zone: &TimeZone, dates: Dates, hour: i8, after: Timestamp) -> Timestamp {
    let local = zone.to_datetime(after);
    let at = |date: Date| -> Civil { date.at(hour, 0, 0, 0) };
    let found = match at(dates(local.date())) {
        found if found > local => found,
        passed => at(dates(passed.date().tomorrow().expect("a date"))),
    };
    zone.to_timestamp(found).expect("a timestamp")
}

fn next(job: &Job, instants: &[Instant]) {
    let ms = |instant: Option<Instant>| instant.map(Instant::as_ms);
    let starts: Vec<_> = instants.iter().copied().map(zoned).collect();
    let stamps: Vec<_> = instants.iter().copied().map(timestamp).collect();
    let ours = || instants.iter().map(|&instant| ms(job.cadence.next(instant)));
    let cron = job.cron.map(|text| cron::Schedule::from_str(text).expect("a cron expression"));
    let croner = croner::Cron::from_str(job.croner).expect("a cron expression");
    let zone = TimeZoneDatabase::bundled().get("Europe/Amsterdam").expect("a zone");

    let mut others = Vec::new();
    if let Some(cron) = &cron {
        let next = move |start: &DateTime<_>| cron.after(start).next();
        agree(
            job.name,
            "cron",
            ours().zip(starts.iter().map(|start| next(start).map(|at| at.timestamp_millis()))),
        );
        others.push((
            batch("`cron`", &starts, move |start| black_box(next(start)).is_some()),
            job.targets[0],
        ));
    }
    let next = |start: &DateTime<_>| croner.find_next_occurrence(start, false).ok();
    agree(
        job.name,
        "croner",
        ours().zip(starts.iter().map(|start| next(start).map(|at| at.timestamp_millis()))),
    );
    others.push((batch("`croner`", &starts, next_found(next)), job.targets[1]));
    if let Some(dates) = &job.dates {
        let next = |stamp: &Timestamp| jiff_next(&zone, *dates, job.hour, *stamp);
        agree(
            job.name,
            "jiff",
            ours().zip(stamps.iter().map(|stamp| Some(next(stamp).as_millisecond()))),
        );
        others.push((
            batch("jiff", &stamps, move |stamp| black_box(next(stamp)) > Timestamp::MIN),
            job.targets[2],
        ));
    }
    let mine =
        batch("windowpane", instants, |&instant| black_box(job.cadence.next(instant)).is_some());
    contest::run(&format!("next occurrence, {}", job.name), mine, others);
}

/// A batch that does one thing with each start.
fn batch<'a, T>(
    name: &'static str,
    starts: &'a [T],
    mut job: impl FnMut(&T) -> bool + 'a,
) -> Contender<'a> {
    Contender::new(name, move || {
        let found = starts.iter().filter(|start| job(black_box(*start))).count();
        assert_eq!(found, starts.len(), "{name} finds an occurrence everywhere");
        found as u64
    })
}

fn next_found<T, U>(next: impl Fn(&T) -> Option<U>) -> impl FnMut(&T) -> bool {
    move |start| black_box(next(start)).is_some()
}

fn every_five_minutes(instants: &[Instant]) {
    let cadence = paths::cadence(schedules::EVERY_5_MIN);
    let saffron: saffron::Cron = "*/5 * * * *".parse().expect("a cron expression");
    let cron = cron::Schedule::from_str("0 */5 * * * *").expect("a cron expression");
    let starts: Vec<DateTime<Utc>> = instants
        .iter()
        .map(|at| Utc.timestamp_millis_opt(at.as_ms()).single().expect("in range"))
        .collect();
    let name = "every 5 min";
    let ours = instants.iter().map(|&at| cadence.next(at).map(Instant::as_ms));
    agree(
        name,
        "saffron",
        ours.zip(starts.iter().map(|at| saffron.next_after(*at).map(|at| at.timestamp_millis()))),
    );
    let others = vec![
        (
            batch("`saffron`", &starts, |at| black_box(saffron.next_after(*at)).is_some()),
            Target::Times(8.0),
        ),
        (batch("`cron`", &starts, |at| black_box(cron.after(at).next()).is_some()), Target::None),
    ];
    let mine = batch("windowpane", instants, |&at| black_box(cadence.next(at)).is_some());
    contest::run("next occurrence, every 5 min", mine, others);
}

/// The newest occurrence at or before an instant: what a schedule that slept owes.
fn newest_due(job: &Job, instants: &[Instant]) {
    let starts: Vec<_> = instants.iter().copied().map(zoned).collect();
    let cron = cron::Schedule::from_str(job.cron.expect("a cron expression")).expect("read before");
    let croner = croner::Cron::from_str(job.croner).expect("read before");
    let ours = instants.iter().map(|&at| job.cadence.at_or_before(at).map(Instant::as_ms));
    let newest = |start: &DateTime<_>| cron.after(start).next_back();
    agree(
        job.name,
        "cron",
        ours.zip(starts.iter().map(|start| newest(start).map(|at| at.timestamp_millis()))),
    );
    let others = vec![
        (batch("`cron`", &starts, next_found(newest)), Target::Times(20.0)),
        (
            batch(
                "`croner`",
                &starts,
                next_found(|start: &DateTime<_>| croner.find_previous_occurrence(start, true).ok()),
            ),
            Target::None,
        ),
    ];
    let mine =
        batch("windowpane", instants, |&at| black_box(job.cadence.at_or_before(at)).is_some());
    contest::run(&format!("newest due, {}", job.name), mine, others);
}
