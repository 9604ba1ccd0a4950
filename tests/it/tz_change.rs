//! A new tz database moves the instants of local times: none runs twice, and none is lost silently.
//!
//! There is one tz database in a program, so the store is made to remember another one: it says that
//! it was written under an older version, and its cursors stand where that had the local times.

use std::fmt::Write as _;

use windowpane::clock::FixedClock;
use windowpane::engine::{self, Absent, ClaimRequest, EngineError, Mode, SyncOptions};
use windowpane::schedule::Reference;
use windowpane::store::Store;
use windowpane::store::fate::Fate;
use windowpane::store::model::ModelStore;
use windowpane::store::record::{DueKey, Progress, SkipFilter, StoreInfo};
use windowpane::store::sqlite::SqliteStore;
use windowpane::time::{Instant, tzdb_version};

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

/// Milliseconds of a local time, read as UTC.
fn local_ms(text: &str) -> i64 {
    at(&format!("{text}Z")).as_ms()
}

/// Does the same with every kind of store; what is answered must be the same.
#[track_caller]
fn on_every_store(expected: &str, act: impl Fn(&mut dyn Store) -> String) {
    let scratch = tempfile::tempdir().unwrap();
    let mut sqlite = SqliteStore::open(&scratch.path().join("s.db")).unwrap();
    assert_eq!(act(&mut ModelStore::new()), expected, "on the model");
    assert_eq!(act(&mut sqlite), expected, "on SQLite");
    assert_eq!(sqlite.verify().unwrap(), []);
    #[cfg(feature = "postgres")]
    if let Some(scratch) = crate::postgres::scratch() {
        assert_eq!(act(&mut scratch.open()), expected, "on PostgreSQL");
    }
}

fn register(store: &mut dyn Store, schedule: &str, now: &str) {
    let documents = [(Reference::new("a").unwrap(), Some(crate::schedule(schedule)))];
    let options = SyncOptions { source: "default", mode: Mode::Write, absent: Absent::Keep };
    engine::sync(store, &FixedClock(at(now)), &documents, &options).unwrap();
}

/// Makes the store one that `tzdb` wrote last, whose cursor was settled at this local time.
fn remember(store: &mut dyn Store, tzdb: &str, cursor: Option<(&str, &str)>) {
    let mut tx = store.begin_write().unwrap();
    let info = tx.info().unwrap().unwrap();
    tx.set_info(&StoreInfo { tzdb: tzdb.to_owned(), ..info }).unwrap();
    if let Some((cursor, local)) = cursor {
        let workflow = tx.workflow("a").unwrap().unwrap();
        let (cursor, cursor_local_ms) = (Some(at(cursor)), Some(local_ms(local)));
        let progress = Progress { cursor, cursor_local_ms, ..workflow.progress };
        tx.update_progress(&[(&workflow, progress)]).unwrap();
    }
    tx.commit().unwrap();
}

/// What a claim hands out, then the skips on record, the incidents and the version.
fn claim(store: &mut dyn Store, now: &str) -> String {
    let request = ClaimRequest {
        worker: "w",
        limit: 100,
        lease_ms: 3_600_000,
        matches: &|_| true,
        trigger: None,
    };
    let clock = FixedClock(at(now));
    let claimed = match engine::claim(store, &clock, &request) {
        Ok(claimed) => claimed,
        Err(error) => return format!("{}: {error}\n", error.code()),
    };
    let mut text = String::new();
    for run in claimed.runs {
        writeln!(text, "{}", run.id()).unwrap();
    }
    let skips = store.begin_read().unwrap().skips(&SkipFilter::default()).unwrap();
    for skip in skips {
        writeln!(text, "{} {} to {}", skip.reason.as_str(), skip.first, skip.last).unwrap();
    }
    for standing in engine::list(store, &clock).unwrap() {
        writeln!(text, "{:?}", standing.incidents).unwrap();
    }
    let info = store.begin_read().unwrap().info().unwrap().unwrap();
    assert_eq!(info.tzdb, tzdb_version());
    text
}

/// These times of every day in Amsterdam, which is one hour ahead of UTC in January.
fn times(times: &str) -> String {
    format!(
        r#"{{"every": {{"day": {{"at": [{times}]}}}}, "timezone": "Europe/Amsterdam",
            "phase": {{"fixed": "0s"}}, "first_run": "next", "catch_up": {{"backfill": {{"limit": 9}}}}}}"#
    )
}

#[test]
fn a_local_time_that_moved_later_does_not_run_twice() {
    // Under the old version Amsterdam was two hours ahead: 03:00 was 01:00Z, and has run then.
    on_every_store("tz_change 2026-01-05T02:00:00Z to 2026-01-05T02:00:00Z\n[]\n", |store| {
        register(store, &times(r#""03:00""#), "2026-01-04T12:00:00Z");
        remember(store, "2020a", Some(("2026-01-05T01:00:00Z", "2026-01-05T03:00:00")));
        claim(store, "2026-01-05T02:00:00Z")
    });
}

#[test]
fn several_times_of_a_day_that_moved_later_are_skipped_as_one_range() {
    let expected = "a@2026-01-05T04:00:00Z\n\
                    tz_change 2026-01-05T02:00:00Z to 2026-01-05T03:00:00Z\n[]\n";
    on_every_store(expected, |store| {
        register(store, &times(r#""03:00", "04:00", "05:00""#), "2026-01-04T12:00:00Z");
        remember(store, "2020a", Some(("2026-01-05T01:30:00Z", "2026-01-05T04:00:00")));
        claim(store, "2026-01-05T04:00:00Z")
    });
}

#[test]
fn a_local_time_that_moved_behind_the_cursor_is_recorded_and_told() {
    // Under the old version Amsterdam kept UTC: 02:30 was the cursor at 02:30Z, and 03:00 to come.
    let expected = "tz_passed 2026-01-05T02:00:00Z to 2026-01-05T02:00:00Z\n[\"tz_passed\"]\n";
    on_every_store(expected, |store| {
        register(store, &times(r#""02:30", "03:00""#), "2026-01-05T00:30:00Z");
        remember(store, "2020a", Some(("2026-01-05T02:30:00Z", "2026-01-05T02:30:00")));
        claim(store, "2026-01-05T02:45:00Z")
    });
}

#[test]
fn explain_tells_what_moved() {
    on_every_store("2026-01-05T02:00:00Z tz_passed\n", |store| {
        register(store, &times(r#""02:30", "03:00""#), "2026-01-05T00:30:00Z");
        remember(store, "2020a", Some(("2026-01-05T02:30:00Z", "2026-01-05T02:30:00")));
        claim(store, "2026-01-05T02:45:00Z");
        let mut text = String::new();
        let span = (at("2026-01-05T02:00:00Z"), at("2026-01-05T02:30:00Z"));
        engine::explain(store, &FixedClock(span.1), "a", span, |explained| {
            let Fate::Skipped(skip) = explained.fate else { panic!("{explained:?}") };
            writeln!(text, "{} {}", skip.first, skip.reason.as_str()).unwrap();
            Ok::<(), EngineError>(())
        })
        .unwrap();
        text
    });
}

#[test]
fn nothing_happens_where_nothing_moved() {
    // The run of the day before is handed out again, since its lease has expired.
    on_every_store("a@2026-01-04T02:00:00Z\na@2026-01-05T02:00:00Z\n[]\n", |store| {
        register(store, &times(r#""03:00""#), "2026-01-03T12:00:00Z");
        claim(store, "2026-01-04T02:00:00Z");
        remember(store, "2020a", None);
        claim(store, "2026-01-05T02:00:00Z")
    });
}

#[test]
fn the_second_pass_of_a_fold_is_no_repetition() {
    // 02:30 twice on the night of 25 October; the first pass is settled.
    let expected = "a@2026-10-25T01:30:00Z\n[]\n";
    on_every_store(expected, |store| {
        let schedule = r#"{"every": {"day": {"at": "02:30"}}, "timezone": "Europe/Amsterdam",
            "dst": {"fold": "both"}, "phase": {"fixed": "0s"}, "first_run": "next"}"#;
        register(store, schedule, "2026-10-24T12:00:00Z");
        remember(store, "2020a", Some(("2026-10-25T00:30:00Z", "2026-10-25T02:30:00")));
        claim(store, "2026-10-25T01:30:00Z")
    });
}

#[test]
fn an_interval_moves_nowhere() {
    on_every_store("a@2026-01-05T02:00:00Z\n[]\n", |store| {
        let every = r#"{"every": "1h", "phase": {"fixed": "0s"}, "first_run": "next"}"#;
        register(store, every, "2026-01-05T01:30:00Z");
        remember(store, "2020a", None);
        claim(store, "2026-01-05T02:00:00Z")
    });
}

#[test]
fn an_older_tz_database_is_refused_for_calendars_alone() {
    let newer = "2999z";
    let told = format!(
        "older_tzdb: this store follows the tz database {newer}, and this program has {}\n",
        tzdb_version()
    );
    on_every_store(&told, |store| {
        register(store, &times(r#""03:00""#), "2026-01-04T12:00:00Z");
        remember(store, newer, None);
        let clock = FixedClock(at("2026-01-05T02:00:00Z"));
        let is_refused = |error: EngineError| {
            assert_eq!((error.code(), error.is_refusal()), ("older_tzdb", false), "{error}");
        };
        is_refused(engine::due(store, &clock).unwrap_err());
        is_refused(engine::list(store, &clock).unwrap_err());
        is_refused(engine::coverage(store, &clock, "a", clock.0, clock.0).unwrap_err());
        let told = claim(store, "2026-01-05T02:00:00Z");
        // Accepted, it is recorded, and the store goes on.
        engine::accept_older_tzdb(store, &clock).unwrap();
        assert_eq!(claim(store, "2026-01-05T02:00:00Z"), "a@2026-01-05T02:00:00Z\n[]\n");
        told
    });
    let mut store = ModelStore::new();
    let every = r#"{"every": "1h", "phase": {"fixed": "0s"}, "first_run": "next"}"#;
    register(&mut store, every, "2026-01-05T01:30:00Z");
    remember(&mut store, newer, None);
    let due = engine::due(&mut store, &FixedClock(at("2026-01-05T02:00:00Z"))).unwrap();
    assert_eq!(due.runs.len(), 1, "intervals depend on no tz database");
}

#[test]
fn the_queue_follows_what_moved_earlier() {
    // Kept as due at 04:00Z under the old version; now it is due at 02:00Z.
    on_every_store("a@2026-01-05T02:00:00Z\n[]\n", |store| {
        register(store, &times(r#""03:00""#), "2026-01-04T12:00:00Z");
        remember(store, "2020a", None);
        let mut tx = store.begin_write().unwrap();
        let workflow = tx.workflow("a").unwrap().unwrap();
        let late = at("2026-01-05T04:00:00Z");
        let due = Some(DueKey { turn: late, due: late });
        tx.update_progress(&[(&workflow, Progress { due, ..workflow.progress })]).unwrap();
        tx.commit().unwrap();
        claim(store, "2026-01-05T02:00:00Z")
    });
}
