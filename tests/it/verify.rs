//! The check of the records against the schedules: each thing that may be wrong is found by its
//! name, and what is right is left alone (every story and every simulated day is checked, too).

use windowpane::clock::FixedClock;
use windowpane::engine::{
    self, Absent, ClaimRequest, Mode, Note, Only, RunRequest, Selection, SyncOptions, Windows,
};
use windowpane::plan::SkipReason;
use windowpane::schedule::Reference;
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::model::ModelStore;
use windowpane::store::record::{
    Attempt, Marks, Outcome, PauseRecord, Progress, Resume, RunFilter, RunKey, RunRecord, RunState,
    SkipFilter, SkipRecord, Workflow,
};
use windowpane::store::{Store, Transaction};
use windowpane::time::Instant;

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

/// When the check is made.
const NOW: &str = "2026-01-01T10:30:00Z";

fn claim(store: &mut dyn Store, now: &str) -> Vec<RunRecord> {
    let request = ClaimRequest {
        worker: "w",
        limit: 100,
        lease_ms: 3_600_000,
        matches: &|_| true,
        trigger: None,
    };
    engine::claim(store, &FixedClock(at(now)), &request).unwrap().runs
}

fn finish(store: &mut dyn Store, now: &str, run: &RunRecord, verdict: Verdict) {
    let finish = Finish { verdict, error: None, output: None };
    let token = run.attempt.as_ref().unwrap().token;
    engine::finish(store, &FixedClock(at(now)), &run.id(), token, &finish).unwrap();
}

/// An hourly workflow: 01:00 to 03:00 run, 03:00 at its second attempt; 04:00 to 06:00 skipped;
/// 07:00 run; 08:00 dropped by a pause; 09:00 run and requested again; 10:00 claimed.
fn a_morning() -> ModelStore {
    let mut store = ModelStore::new();
    let every = r#"{"every": "1h", "phase": {"fixed": "0s"}, "first_run": "next"}"#;
    let documents = [(Reference::new("a").unwrap(), Some(crate::schedule(every)))];
    let options = SyncOptions { source: "default", mode: Mode::Write, absent: Absent::Keep };
    let registered = FixedClock(at("2026-01-01T00:30:00Z"));
    engine::sync(&mut store, &registered, &documents, &options).unwrap();
    for (now, verdict) in [
        ("2026-01-01T01:00:00Z", Verdict::Succeeded),
        ("2026-01-01T02:00:00Z", Verdict::Succeeded),
        ("2026-01-01T03:00:00Z", Verdict::Failed { retry_in_ms: Some(0) }),
        ("2026-01-01T03:10:00Z", Verdict::Succeeded),
        ("2026-01-01T07:00:00Z", Verdict::Succeeded),
    ] {
        let runs = claim(&mut store, now);
        assert_eq!(runs.len(), 1, "{now}");
        finish(&mut store, now, &runs[0], verdict);
    }
    let all = |_: &str| true;
    engine::pause(&mut store, &FixedClock(at("2026-01-01T07:30:00Z")), &all, Note::default())
        .unwrap();
    engine::resume(&mut store, &FixedClock(at("2026-01-01T08:30:00Z")), &all, Resume::Drop)
        .unwrap();
    let run = claim(&mut store, "2026-01-01T09:00:00Z").remove(0);
    finish(&mut store, "2026-01-01T09:00:00Z", &run, Verdict::Succeeded);
    let request = RunRequest {
        reference: "a",
        id: "again",
        selection: Selection::Latest,
        only: Only::All,
        windows: Windows::Pinned,
        note: Note::default(),
    };
    let clock = FixedClock(at("2026-01-01T09:30:00Z"));
    engine::request(&mut store, &clock, &request, Mode::Write).unwrap();
    claim(&mut store, "2026-01-01T10:00:00Z");
    store
}

fn findings(store: &mut dyn Store, now: &str) -> Vec<String> {
    let findings = engine::verify(store, &FixedClock(at(now))).unwrap();
    findings.iter().map(ToString::to_string).collect()
}

fn workflow(tx: &mut dyn Transaction) -> Workflow {
    tx.workflow("a").unwrap().unwrap()
}

fn runs(tx: &mut dyn Transaction) -> Vec<RunRecord> {
    tx.runs(&RunFilter::default()).unwrap()
}

fn skips(tx: &mut dyn Transaction) -> Vec<SkipRecord> {
    tx.skips(&SkipFilter::default()).unwrap()
}

fn run_at(tx: &mut dyn Transaction, occurrence: &str) -> RunRecord {
    let key =
        RunKey { occurrence: at(occurrence), workflow: workflow(tx).id, request_id: String::new() };
    tx.run(&key).unwrap().unwrap()
}

fn set_progress(tx: &mut dyn Transaction, change: impl FnOnce(Progress) -> Progress) {
    let workflow = workflow(tx);
    tx.update_progress(&[(&workflow, change(workflow.progress))]).unwrap();
}

fn set_marks(tx: &mut dyn Transaction, change: impl FnOnce(Marks) -> Marks) {
    let workflow = workflow(tx);
    tx.update_marks(workflow.id, &change(workflow.marks)).unwrap();
}

/// Damages a good store, and holds what is found against the words expected.
#[track_caller]
fn check(expected: &[&str], damage: impl FnOnce(&mut dyn Transaction)) {
    let mut store = a_morning();
    let mut tx = store.begin_write().unwrap();
    damage(&mut *tx);
    tx.commit().unwrap();
    let found = findings(&mut store, NOW);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "`{found}` says nothing of `{expected}`");
    }
}

#[test]
fn nothing_is_wrong_with_a_good_store() {
    check(&[], |tx| {
        let (runs, skips) = (runs(tx), skips(tx));
        assert_eq!((runs.len(), skips.len()), (7, 2));
        assert_eq!(skips[1].reason, SkipReason::Paused);
    });
}

#[test]
fn a_run_that_is_gone_is_missed() {
    check(&["workflow: `a` has 1 without a fate between 2026-01-01T01:00:00Z and"], |tx| {
        let key = run_at(tx, "2026-01-01T02:00:00Z").key;
        tx.delete_runs(&[key]).unwrap();
    });
}

#[test]
fn the_first_and_the_last_run_are_missed_too() {
    check(&["has 1 without a fate between 2026-01-01T00:30:00Z and 2026-01-01T02:00:00Z"], |tx| {
        let key = run_at(tx, "2026-01-01T01:00:00Z").key;
        tx.delete_runs(&[key]).unwrap();
    });
    check(&["has 1 without a fate between 2026-01-01T09:00:00Z and 2026-01-01T10"], |tx| {
        let key = run_at(tx, "2026-01-01T10:00:00Z").key;
        tx.delete_runs(&[key]).unwrap();
    });
}

#[test]
fn a_skip_that_is_gone_is_missed() {
    check(&["has 3 without a fate between 2026-01-01T03:00:00Z and 2026-01-01T07:00:00Z"], |tx| {
        let skip = skips(tx).remove(0);
        tx.delete_skips(&[skip]).unwrap();
    });
}

#[test]
fn a_second_fate_is_found() {
    let twice = "skip: `a` has a second fate for 2026-01-01T05:00:00Z";
    check(&[twice], |tx| {
        let skip = skips(tx).remove(0);
        let first = at("2026-01-01T05:00:00Z");
        tx.insert_skips(&[SkipRecord { first, last: first, count: 1, ..skip }]).unwrap();
    });
}

#[test]
fn a_count_that_is_wrong_is_found() {
    check(
        &["skip: `a` skips 4 from 2026-01-01T04:00:00Z to 2026-01-01T06:00:00Z, where 3"],
        |tx| {
            let skip = skips(tx).remove(0);
            tx.delete_skips(std::slice::from_ref(&skip)).unwrap();
            tx.insert_skips(&[SkipRecord { count: 4, ..skip }]).unwrap();
        },
    );
}

#[test]
fn a_run_that_is_not_planned_so_is_found() {
    check(&["run: `a` is not planned so by its schedule at 2026-01-01T02:00:00Z"], |tx| {
        let mut run = run_at(tx, "2026-01-01T02:00:00Z");
        run.plan.window.start = at("2026-01-01T00:00:00Z");
        tx.update_runs(&[run]).unwrap();
    });
}

#[test]
fn a_cursor_that_was_moved_is_found() {
    let past = |time: &str| format!("run: `a` has a fate for 2026-01-01T{time}:00:00Z, which lies");
    let expected = [past("09"), past("10")];
    check(&[&expected[0], &expected[1], "waits in the queue until 2026-01-01T11"], |tx| {
        set_progress(tx, |progress| Progress {
            cursor: Some(at("2026-01-01T08:00:00Z")),
            ..progress
        });
    });
    let ahead = "workflow: `a` needs a look: cursor_ahead";
    check(&[ahead, "workflow: `a` has 1 without a fate between 2026-01-01T10:00:00Z"], |tx| {
        set_progress(tx, |progress| Progress {
            cursor: Some(at("2026-01-01T11:00:00Z")),
            ..progress
        });
    });
}

#[test]
fn a_cursor_ahead_of_now_is_told() {
    let mut store = a_morning();
    let found = findings(&mut store, "2026-01-01T09:00:00Z");
    assert_eq!(found, ["workflow: `a` needs a look: cursor_ahead"]);
    assert!(findings(&mut store, "2026-01-01T09:59:00Z").is_empty(), "clocks differ by a minute");
}

#[test]
fn a_place_in_the_queue_that_is_lost_or_late_is_found() {
    check(&["is due at 2026-01-01T11:00:00Z and has no place in the queue"], |tx| {
        set_progress(tx, |progress| Progress { due: None, ..progress });
    });
    check(&["is due at 2026-01-01T11:00:00Z, and waits in the queue until 2026-01-01T12"], |tx| {
        set_progress(tx, |progress| {
            let due = progress.due.map(|key| windowpane::store::record::DueKey {
                due: at("2026-01-01T12:00:00Z"),
                ..key
            });
            Progress { due, ..progress }
        });
    });
}

#[test]
fn attempts_that_are_gone_are_missed() {
    check(&["attempt: `a` has 0 attempts before attempt 2 at 2026-01-01T03:00:00Z"], |tx| {
        let run = run_at(tx, "2026-01-01T03:00:00Z");
        tx.delete_runs(std::slice::from_ref(&run.key)).unwrap();
        tx.insert_runs(&[run]).unwrap();
    });
}

#[test]
fn two_live_claims_of_one_occurrence_are_found() {
    check(&["run: `a` is under two live claims at 2026-01-01T10:00:00Z", "request"], |tx| {
        let run = run_at(tx, "2026-01-01T10:00:00Z");
        let key = RunKey { request_id: "other".to_owned(), ..run.key.clone() };
        tx.insert_runs(&[RunRecord { key, ..run }]).unwrap();
    });
}

#[test]
fn a_pause_that_is_gone_is_missed() {
    check(&["pause: `a` has a pause since 2026-01-01T10:10:00Z and a record of no pause"], |tx| {
        set_marks(tx, |marks| Marks { paused: Some(at("2026-01-01T10:10:00Z")), ..marks });
        set_progress(tx, |progress| Progress { due: None, ..progress });
    });
    check(&["pause: `a` has no record of the pause that ended at 2026-01-01T08:30:00Z"], |tx| {
        let id = workflow(tx).id;
        let pause = tx.pauses(id).unwrap().remove(0);
        let to = Some(at("2026-01-01T08:20:00Z"));
        tx.put_pause(&PauseRecord { to, ..pause }).unwrap();
    });
}

#[test]
fn runs_of_a_request_that_are_gone_are_missed() {
    check(&["request: `a` `again` made 1 runs, and 0 are known"], |tx| {
        let run = runs(tx).into_iter().find(|run| run.key.request_id == "again").unwrap();
        tx.delete_runs(&[run.key]).unwrap();
    });
}

#[test]
fn what_another_tz_database_settled_is_not_computed_anew() {
    check(&[], |tx| {
        let mut skip = skips(tx).remove(0);
        tx.delete_skips(std::slice::from_ref(&skip)).unwrap();
        skip.count = 2;
        skip.tzdb = "2020a".to_owned();
        tx.insert_skips(&[skip]).unwrap();
    });
}

#[test]
fn released_attempts_do_not_count() {
    let mut store = a_morning();
    let now = "2026-01-01T10:10:00Z";
    let clock = FixedClock(at(now));
    let id = "a@2026-01-01T10:00:00Z".parse().unwrap();
    let token = {
        let mut tx = store.begin_read().unwrap();
        run_at(&mut *tx, "2026-01-01T10:00:00Z").attempt.unwrap().token
    };
    engine::release(&mut store, &clock, &id, token).unwrap();
    let again = claim(&mut store, now);
    let Attempt { number, outcome, .. } = again[0].attempt.clone().unwrap();
    assert_eq!((number, outcome), (1, None::<Outcome>));
    assert!(again.iter().all(|run| run.state == RunState::Claimed));
    assert_eq!(findings(&mut store, NOW), [""; 0]);
}
