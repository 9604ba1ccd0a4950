//! Runs: by key, by filter, those that can still be handed out, and their past attempts.

use windowpane::store::record::{OpenState, Outcome, RunFilter, RunRecord, RunState, WorkflowId};
use windowpane::store::{Store, StoreError};
use windowpane::time::{Authored, Instant, Resolution, Window};

use super::on_every_store;
use super::sample::{
    claimed, ended_attempt, key, minute, pending, read, succeeded, with_workflows, write,
};

on_every_store![
    a_run_is_found_by_its_key,
    every_column_is_kept,
    a_key_exists_once,
    a_missing_run_is_not_changed,
    runs_need_their_workflow,
    runs_are_listed_in_order,
    runs_are_filtered,
    runs_are_paged,
    open_runs_come_in_order_of_availability,
    open_runs_are_paged,
    open_runs_follow_their_changes,
    the_next_available_instant_is_the_earliest,
    past_attempts_come_in_order_of_their_tokens,
    past_attempts_need_their_run,
];

fn add(store: &mut dyn Store, runs: &[RunRecord]) {
    write(store, |t| t.insert_runs(runs)).unwrap();
}

fn ids(runs: &[RunRecord]) -> Vec<String> {
    runs.iter().map(|run| run.id().to_string().replace("2026-01-01T12:", "")).collect()
}

#[track_caller]
fn check_runs(store: &mut dyn Store, filter: RunFilter, expected: &[&str]) {
    assert_eq!(ids(&read(store, |t| t.runs(&filter))), expected);
}

#[track_caller]
fn check_open(store: &mut dyn Store, state: OpenState, now: i64, expected: &[&str]) {
    assert_eq!(ids(&read(store, |t| t.open_runs(state, minute(now), None, 10))), expected);
}

fn a_run_is_found_by_its_key(store: &mut dyn Store) {
    with_workflows(store);
    let runs = [succeeded("alpha", 5, 1), pending("alpha", 5, "again", 6)];
    add(store, &runs);
    for run in runs {
        assert_eq!(read(store, |t| t.run(&run.key)), Some(run));
    }
    assert_eq!(read(store, |t| t.run(&key("delta", 5, ""))), None);
    assert_eq!(read(store, |t| t.run(&key("alpha", 5, "other"))), None);
}

fn every_column_is_kept(store: &mut dyn Store) {
    with_workflows(store);
    let mut run = claimed("älpha", 5, 6, i64::MAX);
    run.plan.due = minute(-1);
    run.plan.window = Window { start: Instant::MIN, end: minute(5) };
    (run.plan.interval_ms, run.plan.phase_ms) = (86_400_000, 300_000_000);
    run.plan.revision = u32::MAX;
    run.plan.authored =
        Authored { local_ms: minute(5).as_ms() + 7_200_000, resolution: Resolution::FoldLast };
    run.tzdb = "2025b".to_owned();
    run.attempts = 100;
    run.output = Some(r#"{"rev":"ä\u0000"}"#.to_owned());
    let attempt = run.attempt.as_mut().unwrap();
    attempt.worker = "host/\u{1F980}".to_owned();
    add(store, std::slice::from_ref(&run));
    assert_eq!(read(store, |t| t.run(&run.key)), Some(run.clone()));

    let attempt = run.attempt.as_mut().unwrap();
    (attempt.ended, attempt.outcome) = (Some(Instant::MIN), Some(Outcome::Failed));
    attempt.error = Some("line\nwith a NUL \0 inside".to_owned());
    (run.state, run.available, run.output) = (RunState::Failed, None, None);
    write(store, |t| t.update_runs(std::slice::from_ref(&run))).unwrap();
    assert_eq!(read(store, |t| t.run(&run.key)), Some(run));
}

fn a_key_exists_once(store: &mut dyn Store) {
    with_workflows(store);
    add(store, &[succeeded("alpha", 5, 1)]);
    let error = write(store, |t| t.insert_runs(&[claimed("alpha", 5, 9, 2)])).unwrap_err();
    assert!(matches!(error, StoreError::Conflict { table: "run" }), "{error}");
    assert_eq!(read(store, |t| t.run(&key("alpha", 5, ""))), Some(succeeded("alpha", 5, 1)));
}

fn a_missing_run_is_not_changed(store: &mut dyn Store) {
    with_workflows(store);
    let error = write(store, |t| t.update_runs(&[succeeded("alpha", 5, 1)])).unwrap_err();
    assert!(matches!(error, StoreError::Missing { table: "run" }), "{error}");
}

fn runs_need_their_workflow(store: &mut dyn Store) {
    let error = write(store, |t| t.insert_runs(&[succeeded("alpha", 5, 1)])).unwrap_err();
    assert!(matches!(error, StoreError::Missing { table: "workflow" }), "{error}");
}

/// Runs of several workflows, in all states but two.
fn with_runs(store: &mut dyn Store) {
    with_workflows(store);
    add(
        store,
        &[
            succeeded("delta", 10, 1),
            succeeded("alpha", 10, 1),
            claimed("alpha", 15, 16, 2),
            pending("Zeta", 10, "b", 30),
            pending("Zeta", 10, "a", 31),
            succeeded("Zeta", 5, 1),
            pending("alpha", 10, "c", 32).cancel().unwrap(),
        ],
    );
}

fn runs_are_listed_in_order(store: &mut dyn Store) {
    with_runs(store);
    check_runs(
        store,
        RunFilter::default(),
        &[
            "Zeta@05:00Z",
            "Zeta@10:00Z#a",
            "Zeta@10:00Z#b",
            "alpha@10:00Z",
            "alpha@10:00Z#c",
            "delta@10:00Z",
            "alpha@15:00Z",
        ],
    );
}

fn runs_are_filtered(store: &mut dyn Store) {
    with_runs(store);
    let all = RunFilter::default;
    let workflow = Some(WorkflowId(2));
    check_runs(
        store,
        RunFilter { workflow, ..all() },
        &["alpha@10:00Z", "alpha@10:00Z#c", "alpha@15:00Z"],
    );
    check_runs(store, RunFilter { from: Some(minute(11)), ..all() }, &["alpha@15:00Z"]);
    check_runs(store, RunFilter { to: Some(minute(10)), ..all() }, &["Zeta@05:00Z"]);
    let states = vec![RunState::Claimed, RunState::Cancelled];
    check_runs(store, RunFilter { states, ..all() }, &["alpha@10:00Z#c", "alpha@15:00Z"]);
    let states = vec![RunState::Failed];
    check_runs(store, RunFilter { states, ..all() }, &[]);
    let (from, to) = (Some(minute(10)), Some(minute(15)));
    check_runs(
        store,
        RunFilter { workflow, from, to, states: vec![RunState::Succeeded], ..all() },
        &["alpha@10:00Z"],
    );
    check_runs(store, RunFilter { limit: Some(1), ..all() }, &["Zeta@05:00Z"]);
    check_runs(store, RunFilter { limit: Some(0), ..all() }, &[]);
}

fn runs_are_paged(store: &mut dyn Store) {
    with_runs(store);
    let whole = read(store, |t| t.runs(&RunFilter::default()));
    let mut paged: Vec<RunRecord> = Vec::new();
    loop {
        let after = paged
            .last()
            .map(|run| (run.key.occurrence, run.reference.clone(), run.key.request_id.clone()));
        let filter = RunFilter { after, limit: Some(2), ..RunFilter::default() };
        let page = read(store, |t| t.runs(&filter));
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, whole);
}

fn open_runs_come_in_order_of_availability(store: &mut dyn Store) {
    with_runs(store);
    add(store, &[pending("Zeta", 5, "z", 31), pending("älpha", 0, "", 31)]);
    check_open(store, OpenState::Pending, 29, &[]);
    check_open(store, OpenState::Pending, 30, &["Zeta@10:00Z#b"]);
    let all = ["Zeta@10:00Z#b", "Zeta@05:00Z#z", "Zeta@10:00Z#a", "älpha@00:00Z"];
    check_open(store, OpenState::Pending, 31, &all);
    check_open(store, OpenState::Claimed, 20, &[]);
    check_open(store, OpenState::Claimed, 21, &["alpha@15:00Z"]);
}

fn open_runs_are_paged(store: &mut dyn Store) {
    with_workflows(store);
    let runs = [("alpha", 5, "b"), ("alpha", 5, "a"), ("alpha", 0, "c"), ("Zeta", 9, "")];
    add(store, &runs.map(|(name, occurrence, id)| pending(name, occurrence, id, 30)));
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = read(store, |t| t.open_runs(OpenState::Pending, minute(30), after.as_ref(), 1));
        let Some(last) = page.into_iter().next() else { break };
        seen.push(last.clone());
        after = Some(last);
    }
    assert_eq!(ids(&seen), ["Zeta@09:00Z", "alpha@00:00Z#c", "alpha@05:00Z#a", "alpha@05:00Z#b"]);
}

fn open_runs_follow_their_changes(store: &mut dyn Store) {
    with_workflows(store);
    let run = pending("alpha", 5, "", 6);
    add(store, std::slice::from_ref(&run));
    let mut change = |run: &RunRecord| {
        write(store, |t| t.update_runs(std::slice::from_ref(run))).unwrap();
        let mut open = |state| read(store, |t| t.open_runs(state, minute(99), None, 10)).len();
        (open(OpenState::Pending), open(OpenState::Claimed))
    };
    let run = run.hand_out("w", 1, minute(7), 60_000).unwrap().run;
    assert_eq!(change(&run), (0, 1));
    assert_eq!(change(&run), (0, 1));
    let run = run.heartbeat(1, minute(8), 120_000, None).unwrap();
    assert_eq!(change(&run), (0, 1));
    let run = run.release(1, minute(9)).unwrap();
    assert_eq!(change(&run), (1, 0));
    let run = run.cancel().unwrap();
    assert_eq!(change(&run), (0, 0));
}

fn the_next_available_instant_is_the_earliest(store: &mut dyn Store) {
    with_runs(store);
    let mut next = |now: i64| read(store, |t| t.next_available_after(minute(now)));
    assert_eq!(next(0), Some(minute(21)));
    assert_eq!(next(21), Some(minute(30)));
    assert_eq!(next(30), Some(minute(31)));
    assert_eq!(next(31), None);
}

fn past_attempts_come_in_order_of_their_tokens(store: &mut dyn Store) {
    with_workflows(store);
    add(store, &[claimed("alpha", 5, 6, 9), pending("alpha", 5, "again", 6)]);
    let (scheduled, requested) = (key("alpha", 5, ""), key("alpha", 5, "again"));
    let attempts = [
        (scheduled.clone(), ended_attempt(1, 7, Outcome::Failed)),
        (scheduled.clone(), ended_attempt(1, 3, Outcome::Released)),
        (requested.clone(), ended_attempt(1, 4, Outcome::Expired)),
    ];
    write(store, |t| t.insert_past_attempts(&attempts)).unwrap();
    let [(_, failed), (_, released), (_, expired)] = attempts;
    assert_eq!(read(store, |t| t.past_attempts(&scheduled)), [released, failed.clone()]);
    assert_eq!(read(store, |t| t.past_attempts(&requested)), [expired]);
    let again = [(scheduled, failed)];
    let error = write(store, |t| t.insert_past_attempts(&again)).unwrap_err();
    assert!(matches!(error, StoreError::Conflict { table: "attempt" }), "{error}");
}

fn past_attempts_need_their_run(store: &mut dyn Store) {
    with_workflows(store);
    let attempts = [(key("alpha", 5, ""), ended_attempt(1, 7, Outcome::Failed))];
    let error = write(store, |t| t.insert_past_attempts(&attempts)).unwrap_err();
    assert!(matches!(error, StoreError::Missing { table: "run" }), "{error}");
}
