//! The paths of windowpane that are measured: each is one batch of a job, and says how many it did.
//!
//! Shared by the benchmarks, the instruction counts and the comparison with other programs, so that
//! all of them measure the same.

use std::hint::black_box;

use windowpane::plan::{Position, Revision, Timeline, owed};
use windowpane::schedule::{Declaration, Form, Reference, Schedule, read_documents};
use windowpane::time::{Cadence, Instant};

/// A job that is done again and again.
pub(crate) struct Path {
    /// What it is called in the tables.
    pub(crate) name: &'static str,
    /// Does a batch; how many of the job it was.
    pub(crate) batch: Box<dyn FnMut() -> u64>,
}

/// The schedules that the paths run over.
pub(crate) mod schedules {
    pub(crate) const EVERY_5_MIN: &str = r#"{"every":"5m","delay":"30s"}"#;
    pub(crate) const DAILY: &str =
        r#"{"every":{"day":{"at":"07:00"}},"timezone":"Europe/Amsterdam"}"#;
    pub(crate) const WEEKLY: &str =
        r#"{"every":{"week":{"on":"monday","at":"07:00"}},"timezone":"Europe/Amsterdam"}"#;
    pub(crate) const MONTHLY: &str =
        r#"{"every":{"month":{"on":"last","at":"07:00"}},"timezone":"Europe/Amsterdam"}"#;
    pub(crate) const CRON_5_MIN: &str =
        r#"{"every":{"cron":"*/5 * * * *"},"timezone":"Europe/Amsterdam"}"#;
    pub(crate) const CRON_DAILY: &str =
        r#"{"every":{"cron":"0 3 * * *"},"timezone":"Europe/Amsterdam"}"#;
}

/// A workflow document of the usual size.
pub(crate) const DOCUMENT: &str = r#"{"ref":"checkout/availability","schedule":{"every":{"week":{"on":"monday","at":"07:00"}},"timezone":"Europe/Amsterdam","delay":"30s","catch_up":{"backfill":{"limit":288}}}}"#;

/// All of them.
pub(crate) fn all() -> Vec<Path> {
    let mut paths = vec![
        next("next/every 5 min", schedules::EVERY_5_MIN),
        next("next/daily", schedules::DAILY),
        next("next/weekly", schedules::WEEKLY),
        next("next/monthly", schedules::MONTHLY),
        next("next/cron every 5 min", schedules::CRON_5_MIN),
        next("next/cron daily", schedules::CRON_DAILY),
        windows("windows of a year/daily", schedules::DAILY),
        windows("windows of a year/every 5 min", schedules::EVERY_5_MIN),
        windows("windows of a year/cron every 5 min", schedules::CRON_5_MIN),
        document(),
    ];
    let kinds = [
        ("every 5 min", schedules::EVERY_5_MIN),
        ("daily", schedules::DAILY),
        ("monthly", schedules::MONTHLY),
        ("cron every 5 min", schedules::CRON_5_MIN),
        ("cron daily", schedules::CRON_DAILY),
    ];
    for (kind, schedule) in kinds {
        paths.push(newest_due(kind, schedule));
        for (downtime, days) in [("six weeks", 42), ("ten years", 3_652)] {
            paths.push(plan_after(kind, schedule, downtime, days));
        }
    }
    paths
}

/// The cadence of a schedule.
pub(crate) fn cadence(schedule: &str) -> Cadence {
    read(schedule).definition.cadence().clone()
}

/// The timeline of a schedule that was never edited.
pub(crate) fn timeline(schedule: &str) -> Timeline {
    let reference = Reference::new("checkout/availability").expect("a ref");
    Timeline::new(&[Revision::new(&reference, 1, None, Some(read(schedule).definition))])
}

fn read(schedule: &str) -> Schedule {
    Schedule::from_json(schedule).expect("a schedule")
}

/// Instants all over three years, always the same.
pub(crate) fn instants() -> Vec<Instant> {
    let mut random = fastrand::Rng::with_seed(7);
    let from_ms = instant("2026-01-01T00:00:00Z").as_ms();
    let ms = (0..1_024).map(|_| from_ms + random.i64(0..3 * 365 * 86_400_000));
    ms.map(|ms| Instant::from_ms(ms).expect("in range")).collect()
}

/// An instant from its text.
pub(crate) fn instant(text: &str) -> Instant {
    text.parse().expect("an instant")
}

/// The year that windows are listed for.
pub(crate) fn year() -> (Instant, Instant) {
    (instant("2026-01-01T00:00:00Z"), instant("2027-01-01T00:00:00Z"))
}

fn path(name: impl Into<String>, batch: impl FnMut() -> u64 + 'static) -> Path {
    Path { name: name.into().leak(), batch: Box::new(batch) }
}

fn next(name: &str, schedule: &str) -> Path {
    let (cadence, instants) = (cadence(schedule), instants());
    path(name, move || {
        for &instant in &instants {
            black_box(cadence.next(black_box(instant)));
        }
        instants.len() as u64
    })
}

/// The run of the newest due occurrence, with its window: what it takes to start after a downtime
/// under the policy `latest`.
fn newest_due(kind: &str, schedule: &str) -> Path {
    let (timeline, instants) = (timeline(schedule), instants());
    path(format!("newest due/{kind}"), move || {
        for &instant in &instants {
            black_box(timeline.run_due(black_box(instant)).is_some());
        }
        instants.len() as u64
    })
}

/// The whole plan after a downtime: what is owed, what was skipped, and how many.
fn plan_after(kind: &str, schedule: &str, downtime: &str, days: i64) -> Path {
    let (timeline, instants) = (timeline(schedule), instants());
    let policies = read(schedule).policies;
    path(format!("plan after {downtime}/{kind}"), move || {
        for &now in &instants {
            let cursor = now.checked_add_ms(-days * 86_400_000).expect("in range");
            let position = Position { cursor: Some(cursor), registered: cursor };
            black_box(owed(&timeline, &policies, position, black_box(now)));
        }
        instants.len() as u64
    })
}

fn windows(name: &str, schedule: &str) -> Path {
    let (timeline, (from, to)) = (timeline(schedule), year());
    path(name, move || {
        let mut count = 0;
        timeline.runs(black_box(from), black_box(to)).for_each(|run| {
            black_box(&run);
            count += 1;
        });
        count
    })
}

fn document() -> Path {
    path("read and check a document", || {
        for _ in 0..256 {
            let read = read_documents(black_box(DOCUMENT), Form::Line, None);
            let declaration = read.documents.first().and_then(|one| one.declaration.as_ref());
            assert!(matches!(declaration, Some(Declaration::Scheduled(_))), "{:?}", read.faults);
        }
        256
    })
}
