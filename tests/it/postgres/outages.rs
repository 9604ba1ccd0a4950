//! The server is away for a while: the runner goes on, and what is done is done once.

use std::collections::HashMap;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use windowpane::clock::{FixedClock, SystemClock, wait_for};
use windowpane::engine::runner::{Report, Runner, RunnerOptions, Until};
use windowpane::engine::{self, ClaimRequest, EngineError, finish};
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::postgres::{Options, PostgresStore};
use windowpane::store::record::{RunFilter, RunState};
use windowpane::store::{RunId, Store};
use windowpane::time::Instant;

use super::cluster::Cluster;
use super::cuts::{hourly, register};
use super::proxy::Proxy;
use super::scratch;

/// What the runner of a test tells.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Busy(&'static str),
    Finished(RunId),
}

fn options(command: &str) -> RunnerOptions<'_> {
    RunnerOptions {
        command,
        worker: "w",
        concurrency: 4,
        lease_ms: 300_000,
        timeout_ms: None,
        grace_ms: 0,
        until: Until::Told,
        matches: &|_| true,
        trigger: None,
        poll_ms: RunnerOptions::POLL_MS,
    }
}

#[test]
fn a_runner_goes_on_when_the_server_was_away_while_its_commands_ran() {
    let Some(scratch) = scratch() else { return };
    let mut direct = hourly(&scratch);
    let proxy = Proxy::to(&scratch.address());
    let url = scratch.url_by(&proxy.address());
    let folder = tempfile::tempdir().unwrap();
    let (started, go) = (folder.path().join("started"), folder.path().join("go"));
    let command = format!(
        "echo >> {}; while [ ! -e {} ]; do sleep 0.05; done",
        started.display(),
        go.display()
    );
    let runner = Runner::default();
    let stopper = runner.stopper();
    let (tells, told) = mpsc::channel();
    let running = thread::spawn(move || {
        let now: Instant = "2026-01-01T01:00:00Z".parse().unwrap();
        let mut store = PostgresStore::open(&url).unwrap();
        runner.run(&mut store, &FixedClock(now), &options(&command), &mut |_, report| {
            // Nobody may listen any more.
            let _ = match report {
                Report::Busy(error) => tells.send(Told::Busy(error.code())),
                Report::Finished(run) => tells.send(Told::Finished(run.id())),
                Report::Refused(error) => panic!("{error}"),
                Report::Stopping(_) | Report::CursorsAhead(_) => Ok(()),
            };
        })
    });
    while std::fs::read_to_string(&started).unwrap_or_default().lines().count() < 3 {
        wait_for(Duration::from_millis(5));
    }
    proxy.take_down();
    std::fs::write(&go, "").unwrap();
    assert_eq!(told.recv().unwrap(), Told::Busy("store_unreachable"));
    proxy.mend();
    let mut finished = Vec::new();
    while finished.len() < 3 {
        if let Told::Finished(id) = told.recv().unwrap() {
            finished.push(id);
        }
    }
    stopper.stop();
    running.join().unwrap().unwrap();
    let runs = direct.begin_read().unwrap().runs(&RunFilter::default()).unwrap();
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert_eq!((run.state, run.attempts), (RunState::Succeeded, 1), "{}", run.id());
    }
}

const WORKERS: usize = 4;
const WORKFLOWS: usize = 400;

/// Does something until the server answers.
fn insist<T>(mut work: impl FnMut() -> Result<T, EngineError>) -> T {
    loop {
        match work() {
            Ok(done) => return done,
            Err(EngineError::Store(error)) if error.is_retryable() => {
                assert_ne!(error.code(), "unknown_outcome", "the server was away for a moment");
                wait_for(Duration::from_millis(20));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Claims and finishes until nothing is owed; each run that it was handed, as it is.
fn work(url: &str, worker: &str, handed: &mpsc::Sender<RunId>) {
    let options = Options { wait: Some(wait_for), ..Options::default() };
    let mut store = insist(|| Ok(PostgresStore::open_with(url, &options)?));
    let done = Finish { verdict: Verdict::Succeeded, error: None, output: None };
    loop {
        let request =
            ClaimRequest { worker, limit: 3, lease_ms: 300_000, matches: &|_| true, trigger: None };
        let claimed = insist(|| engine::claim(&mut store, &SystemClock, &request));
        if claimed.runs.is_empty() {
            return;
        }
        for run in claimed.runs {
            handed.send(run.id()).unwrap();
            let token = run.attempt.as_ref().unwrap().token;
            insist(|| finish(&mut store, &SystemClock, &run.id(), token, &done));
        }
    }
}

#[test]
fn a_server_that_is_killed_under_load_loses_and_doubles_nothing() {
    let Some(cluster) = Cluster::start("max_connections = 20") else { return };
    let url = cluster.url("windowpane", "sslmode=disable");
    let mut store = PostgresStore::open(&url).unwrap();
    // One owed run each, and no more for a year.
    let schedule = r#"{"every": "365d", "phase": {"fixed": "0s"}}"#;
    register(&mut store, &SystemClock, schedule, WORKFLOWS);
    let (tells, handed) = mpsc::channel();
    let mut times: HashMap<RunId, u32> = HashMap::new();
    thread::scope(|scope| {
        for number in 0..WORKERS {
            let (url, tells) = (&url, tells.clone());
            scope.spawn(move || work(url, &format!("w{number}"), &tells));
        }
        drop(tells);
        for (count, id) in (1..).zip(handed) {
            *times.entry(id).or_default() += 1;
            if count == WORKFLOWS / 4 || count == WORKFLOWS / 2 {
                cluster.kill();
                cluster.start_again();
            }
        }
    });
    assert_eq!(times.len(), WORKFLOWS, "each is handed out");
    assert!(times.values().all(|times| *times == 1), "and once: {times:?}");
    let runs = store.begin_read().unwrap().runs(&RunFilter::default()).unwrap();
    assert_eq!(runs.len(), WORKFLOWS);
    for run in runs {
        assert_eq!((run.state, run.attempts), (RunState::Succeeded, 1), "{}", run.id());
    }
    assert_eq!(store.verify().unwrap(), []);
}
