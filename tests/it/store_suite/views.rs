//! The views that other tools read, held against the records.

use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use tempfile::TempDir;
use windowpane::store::Store;
use windowpane::store::record::{Outcome, RunFilter, RunRecord, RunState, SkipRecord};
use windowpane::store::sqlite::SqliteStore;
use windowpane::time::{Authored, Instant, Resolution, Window};

use super::sample::{
    REASONS, claimed, ended_attempt, key, minute, pending, read, skip, succeeded, with_workflows,
    write,
};

/// A store with runs in every state, and instants of every length as text.
fn with_records(path: &Path) -> SqliteStore {
    let mut store = SqliteStore::open(path).unwrap();
    with_workflows(&mut store);
    let mut exact = succeeded("alpha", 5, 1);
    exact.output = Some(r#"{"rev":"abc"}"#.to_owned());
    let mut failed = claimed("delta", 10, 13, 7);
    let attempt = failed.attempt.as_mut().unwrap();
    (attempt.ended, attempt.outcome) = (minute(15).checked_add_ms(42_540), Some(Outcome::Failed));
    attempt.error = Some("exit status 1, \"quoted\"\nand a second line".to_owned());
    (failed.state, failed.available) = (RunState::Failed, None);
    failed.attempts = 2;
    let mut abandoned = claimed("Zeta", 15, 16, 3);
    let attempt = abandoned.attempt.as_mut().unwrap();
    (attempt.ended, attempt.outcome) = (Some(minute(21)), Some(Outcome::Expired));
    (abandoned.state, abandoned.available) = (RunState::Abandoned, None);
    let runs = [
        exact,
        failed,
        abandoned,
        claimed("älpha", 20, 23, 9),
        pending("alpha", 5, "again", 30),
        pending("alpha", 10, "withdrawn", 30).cancel().unwrap(),
        extreme(),
    ];
    write(&mut store, |t| t.insert_runs(&runs)).unwrap();
    let past = [(key("delta", 10, ""), ended_attempt(1, 6, Outcome::Failed))];
    write(&mut store, |t| t.insert_past_attempts(&past)).unwrap();
    let ancient = SkipRecord { first: Instant::MIN, last: Instant::MIN, ..skip("Zeta", 0, 0) };
    write(&mut store, |t| t.insert_skips(&[skip("alpha", 0, 30), ancient])).unwrap();
    store
}

/// A run long before 1970, and with fractions of a second.
fn extreme() -> RunRecord {
    let mut run = succeeded("älpha", 25, 1);
    run.plan.occurrence = Instant::from_ms(-1).unwrap();
    run.key.occurrence = run.plan.occurrence;
    run.plan.due = Instant::from_ms(999).unwrap();
    run.plan.window = Window { start: Instant::MIN, end: Instant::from_ms(-86_400_010).unwrap() };
    run.plan.authored = Authored { local_ms: 7_199_999, resolution: Resolution::FoldFirst };
    run.attempt.as_mut().unwrap().claimed = Instant::MAX;
    run
}

fn with_store(check: impl FnOnce(&Path, &mut SqliteStore)) {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = with_records(&path);
    check(&path, &mut store);
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or("NULL".to_owned(), |value| value.to_string())
}

/// The columns of a view's row, joined.
fn rows(path: &Path, sql: &str) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let line = |row: &rusqlite::Row<'_>| {
        let column = |index| {
            use rusqlite::types::ValueRef;
            match row.get_ref(index).unwrap() {
                ValueRef::Null => "NULL".to_owned(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                other => panic!("{other:?}"),
            }
        };
        Ok((0..columns).map(column).collect::<Vec<_>>().join("|"))
    };
    statement.query_map([], line).unwrap().map(Result::unwrap).collect()
}

#[test]
fn run_records_hold_every_column_of_a_run() {
    with_store(|path, store| {
        let line = |run: RunRecord| {
            let (plan, attempt) = (run.plan, run.attempt.clone());
            let while_in = |state| if run.state == state { run.available } else { None };
            let local = Instant::from_ms(plan.authored.local_ms).unwrap().to_string();
            let part = |part: fn(windowpane::store::record::Attempt) -> Option<String>| {
                text(attempt.clone().and_then(part))
            };
            [
                run.id().to_string(),
                run.reference.clone(),
                plan.occurrence.to_string(),
                plan.due.to_string(),
                plan.window.start.to_string(),
                plan.window.end.to_string(),
                plan.interval_ms.to_string(),
                plan.phase_ms.to_string(),
                run.trigger().as_str().to_owned(),
                run.key.request_id.clone(),
                plan.revision.to_string(),
                run.tzdb.clone(),
                local.trim_end_matches('Z').to_owned(),
                plan.authored.resolution.as_str().to_owned(),
                run.state.as_str().to_owned(),
                text(while_in(RunState::Pending)),
                text(while_in(RunState::Claimed)),
                run.attempts.to_string(),
                part(|attempt| Some(attempt.number.to_string())),
                part(|attempt| Some(attempt.token.to_string())),
                part(|attempt| Some(attempt.worker)),
                part(|attempt| Some(attempt.claimed.to_string())),
                part(|attempt| attempt.ended.map(|at| at.to_string())),
                part(|attempt| attempt.outcome.map(|outcome| outcome.as_str().to_owned())),
                part(|attempt| attempt.error),
                text(run.output.clone()),
                plan.occurrence.as_ms().to_string(),
                plan.due.as_ms().to_string(),
                plan.window.start.as_ms().to_string(),
                plan.window.end.as_ms().to_string(),
                plan.authored.local_ms.to_string(),
                text(while_in(RunState::Pending).map(Instant::as_ms)),
                text(while_in(RunState::Claimed).map(Instant::as_ms)),
                part(|attempt| Some(attempt.claimed.as_ms().to_string())),
                part(|attempt| attempt.ended.map(|at| at.as_ms().to_string())),
            ]
            .join("|")
        };
        let records = read(store, |t| t.runs(&RunFilter::default()));
        let expected: Vec<String> = records.into_iter().map(line).collect();
        let sql = "SELECT * FROM run_records ORDER BY occurrence_ms, ref, request_id";
        assert_eq!(rows(path, sql), expected);
    });
}

#[test]
fn run_attempts_hold_every_attempt() {
    with_store(|path, _| {
        let sql = "SELECT id, attempt, token, worker, claimed, ended, outcome FROM run_attempts
            WHERE ref = 'delta' ORDER BY token";
        let id = "delta@2026-01-01T12:10:00Z";
        let expected = [
            format!("{id}|1|6|worker-2|2026-01-01T12:06:00Z|2026-01-01T12:07:00Z|failed"),
            format!("{id}|1|7|worker-1|2026-01-01T12:13:00Z|2026-01-01T12:15:42.54Z|failed"),
        ];
        assert_eq!(rows(path, sql), expected);
        let sql = "SELECT count(*) FROM run_attempts";
        assert_eq!(rows(path, sql), ["6"]);
    });
}

#[test]
fn skip_ranges_hold_every_range() {
    with_store(|path, _| {
        let expected = [
            "Zeta|0001-01-01T00:00:00Z|0001-01-01T00:00:00Z|7|superseded|2026-01-01T13:00:00Z|1|2026f",
            "alpha|2026-01-01T12:00:00Z|2026-01-01T12:30:00Z|7|superseded|2026-01-01T13:00:00Z|1|2026f",
        ];
        let sql = "SELECT ref, first, last, count, reason, skipped, revision, tzdb FROM skip_ranges
            ORDER BY first_ms";
        assert_eq!(rows(path, sql), expected);
    });
}

#[test]
fn coverage_input_counts_an_occurrence_and_window_once() {
    with_store(|path, store| {
        let mut again = succeeded("alpha", 5, 2);
        again.key.request_id = "twice".to_owned();
        again.attempt.as_mut().unwrap().ended = Some(minute(59));
        write(store, |t| t.insert_runs(&[again])).unwrap();
        let sql = "SELECT ref, window_end_ms - window_start_ms, successes, succeeded_ms
            FROM coverage_input WHERE ref = 'alpha'";
        assert_eq!(rows(path, sql), [format!("alpha|300000|2|{}", minute(59).as_ms())]);
    });
}

/// Every word that a record may hold is the word of the views.
#[test]
fn the_views_know_every_word() {
    with_store(|path, store| {
        let mut number = 100;
        for resolution in [
            Resolution::Exact,
            Resolution::GapShifted,
            Resolution::GapNext,
            Resolution::FoldFirst,
            Resolution::FoldLast,
        ] {
            let mut run = pending("alpha", number, "", number);
            run.plan.authored.resolution = resolution;
            write(store, |t| t.insert_runs(&[run])).unwrap();
            let sql = "SELECT resolution FROM run_records ORDER BY occurrence_ms DESC LIMIT 1";
            assert_eq!(rows(path, sql), [resolution.as_str()]);
            number += 1;
        }
        for &outcome in Outcome::ALL {
            let past = [(key("delta", 10, ""), ended_attempt(1, number, outcome))];
            write(store, |t| t.insert_past_attempts(&past)).unwrap();
            let sql = format!("SELECT outcome FROM run_attempts WHERE token = {number}");
            assert_eq!(rows(path, &sql), [outcome.as_str()]);
            number += 1;
        }
        for reason in REASONS {
            let record = SkipRecord { reason, ..skip("delta", number, number) };
            write(store, |t| t.insert_skips(&[record])).unwrap();
            let sql = "SELECT reason FROM skip_ranges ORDER BY first_ms DESC LIMIT 1";
            assert_eq!(rows(path, sql), [reason.as_str()]);
            number += 1;
        }
    });
}

#[test]
fn the_sqlite3_program_reads_a_store_in_use() {
    if Command::new("sqlite3").arg("--version").output().is_err() {
        println!("skipped: the program `sqlite3` is not installed");
        return;
    }
    with_store(|path, store| {
        let writer = store.begin_write().unwrap();
        let sql = "SELECT id, state, error FROM run_records WHERE state = 'failed';
            SELECT count(*) FROM skip_ranges; SELECT count(*) FROM coverage_input;
            SELECT count(*) FROM run_attempts;";
        let output = Command::new("sqlite3").arg("-readonly").arg(path).arg(sql).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let expected = "delta@2026-01-01T12:10:00Z|failed|exit status 1, \"quoted\"\n\
            and a second line\n2\n2\n6\n";
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        drop(writer);
    });
}
