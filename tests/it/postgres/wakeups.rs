//! An idle runner hears of new work at once, and finds it all the same when it hears nothing.

use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};

use windowpane::clock::{FixedClock, Moment, wait_for, wait_until};
use windowpane::engine::runner::{Report, Runner, RunnerOptions, Stopper, Until};
use windowpane::engine::{
    self, Absent, ClaimRequest, EngineError, Mode, Note, Only, RunRequest, Selection, SyncOptions,
    Windows, request,
};
use windowpane::schedule::Reference;
use windowpane::store::Store;
use windowpane::store::postgres::{Options, PostgresStore};
use windowpane::time::Instant;

use super::cuts::hourly;
use super::proxy::Proxy;
use super::scratch;

/// A runner on a thread of its own.
struct Running {
    finished: Receiver<String>,
    stopper: Stopper,
    thread: JoinHandle<Result<(), EngineError>>,
}

/// Far shorter than the minute between two looks at the store, and long for a notification.
const PROMPTLY_MS: i64 = 20_000;

/// When the runner's clock stands.
fn now() -> Instant {
    "2026-01-01T01:00:00Z".parse().unwrap()
}

impl Running {
    /// Starts one that has so many owed runs to begin with.
    fn start(url: String, poll_ms: i64, owed: usize) -> Running {
        let runner = Runner::default();
        let stopper = runner.stopper();
        let (tells, finished) = mpsc::channel();
        let thread = thread::spawn(move || {
            let options = Options { wait: Some(wait_for), ..Options::default() };
            let mut store = PostgresStore::open_with(&url, &options).unwrap();
            let options = RunnerOptions {
                command: "true",
                worker: "w",
                concurrency: 4,
                lease_ms: 300_000,
                timeout_ms: None,
                grace_ms: 0,
                until: Until::Told,
                matches: &|_| true,
                trigger: None,
                poll_ms,
            };
            runner.run(&mut store, &FixedClock(now()), &options, &mut |_, report| {
                if let Report::Finished(run) = report {
                    // Nobody may listen any more.
                    let _ = tells.send(run.id().to_string());
                }
            })
        });
        let running = Running { finished, stopper, thread };
        (0..owed).for_each(|_| drop(running.next()));
        running
    }

    /// The next run that it finishes, which must be soon.
    #[track_caller]
    fn next(&self) -> String {
        let soon = Moment::now().after_ms(PROMPTLY_MS);
        wait_until(&self.finished, soon).expect("the runner finishes nothing more")
    }

    fn stop(self) {
        self.stopper.stop();
        self.thread.join().unwrap().unwrap();
    }
}

/// Asks for one more run of a workflow.
fn ask(store: &mut dyn Store, id: &str) {
    let asked = RunRequest {
        reference: "w0",
        id,
        selection: Selection::Latest,
        only: Only::All,
        windows: Windows::Pinned,
        note: Note::default(),
    };
    assert_eq!(request(store, &FixedClock(now()), &asked, Mode::Write).unwrap().runs.len(), 1);
}

#[test]
fn an_idle_runner_starts_what_is_requested_registered_or_released_at_once() {
    let Some(scratch) = scratch() else { return };
    let mut store = hourly(&scratch);
    let running = Running::start(scratch.url(), RunnerOptions::POLL_MS, 3);
    for id in ["first", "second", "third"] {
        ask(&mut store, id);
        assert_eq!(running.next(), format!("w0@2026-01-01T01:00:00Z#{id}"));
    }
    let schedule = crate::schedule(r#"{"every": "1h", "phase": {"fixed": "0s"}}"#);
    let documents = [(Reference::new("new").unwrap(), Some(schedule))];
    let options = SyncOptions { source: "other", mode: Mode::Write, absent: Absent::Keep };
    engine::sync(&mut store, &FixedClock(now()), &documents, &options).unwrap();
    assert_eq!(running.next(), "new@2026-01-01T01:00:00Z");
    running.stop();
}

#[test]
fn an_idle_runner_starts_what_another_worker_gives_back() {
    let Some(scratch) = scratch() else { return };
    let mut store = hourly(&scratch);
    ask(&mut store, "held");
    let claimed = ClaimRequest {
        worker: "other",
        limit: 1,
        lease_ms: 300_000,
        matches: &|_| true,
        trigger: Some(windowpane::store::record::Trigger::Request),
    };
    let held = engine::claim(&mut store, &FixedClock(now()), &claimed).unwrap().runs.remove(0);
    // The occurrence is under one live claim at a time, so two of three run.
    let running = Running::start(scratch.url(), RunnerOptions::POLL_MS, 2);
    let token = held.attempt.as_ref().unwrap().token;
    engine::release(&mut store, &FixedClock(now()), &held.id(), token).unwrap();
    let freed = [running.next(), running.next()];
    assert!(freed.contains(&held.id().to_string()), "{freed:?}");
    running.stop();
}

#[test]
fn a_runner_whose_listening_connection_was_lost_listens_again() {
    let Some(scratch) = scratch() else { return };
    let mut direct = hourly(&scratch);
    let proxy = Proxy::to(&scratch.address());
    let running = Running::start(scratch.url_by(&proxy.address()), RunnerOptions::POLL_MS, 3);
    proxy.take_down();
    ask(&mut direct, "meanwhile");
    proxy.mend();
    assert_eq!(running.next(), "w0@2026-01-01T01:00:00Z#meanwhile");
    ask(&mut direct, "later");
    assert_eq!(running.next(), "w0@2026-01-01T01:00:00Z#later");
    running.stop();
}

#[test]
fn a_runner_that_cannot_listen_looks_again_now_and_then() {
    let Some(scratch) = scratch() else { return };
    let mut store = hourly(&scratch);
    let role = format!("{}_single", scratch.name());
    scratch.execute(&format!(
        "CREATE ROLE {role} LOGIN CONNECTION LIMIT 1;
        GRANT USAGE ON SCHEMA {schema} TO {role};
        GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}",
        schema = scratch.name(),
    ));
    let running = Running::start(scratch.url_of(&role), 20, 3);
    ask(&mut store, "polled");
    assert_eq!(running.next(), "w0@2026-01-01T01:00:00Z#polled");
    running.stop();
    scratch.execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}
