//! The commands that crash, each on a store in which it has something to do.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use windowpane::clock::FixedClock;
use windowpane::engine::{
    self, Absent, ClaimRequest, EngineError, Heartbeat, Mode, Note, Only, RunRequest, Selection,
    SyncOptions, Windows,
};
use windowpane::schedule::Reference;
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::record::{Resume, RunFilter, RunRecord, RunState};
use windowpane::store::sqlite::{Missing, Options, SqliteStore};
use windowpane::store::{Store, StoreError};
use windowpane::time::Instant;

use crate::account::Act;
use crate::faults::count;
use crate::setting;
use crate::watched::Watched;

const STORE: &str = "WINDOWPANE_STEPS_STORE";
const COMMAND: &str = "WINDOWPANE_STEPS_COMMAND";
/// The step at which the process kills itself; without it, it comes to its end.
pub(super) const STEP: &str = "WINDOWPANE_STEPS_STEP";

/// A command, and what it may change.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) name: &'static str,
    pub(super) act: Act,
    work: fn(&mut dyn Store) -> Result<(), EngineError>,
}

const fn named(
    name: &'static str,
    act: Act,
    work: fn(&mut dyn Store) -> Result<(), EngineError>,
) -> Named {
    Named { name, act, work }
}

pub(super) const COMMANDS: &[Named] = &[
    named("claim", Act::Claim, |store| claim(store, NOW()).map(drop)),
    named("heartbeat", Act::Heartbeat, |store| {
        let (held, run) = held(store, "a")?;
        let lease_ms = 600_000;
        engine::heartbeat(store, &clock(), &run.id(), held.token, lease_ms, Some("1")).map(drop)
    }),
    named("heartbeat of several", Act::Heartbeat, |store| {
        let beat = Heartbeat { lease_ms: 600_000, output: None };
        let beats = [(held(store, "a")?.0, beat.clone()), (held(store, "b")?.0, beat)];
        engine::heartbeat_all(store, &clock(), &beats).map(drop)
    }),
    named("finish", Act::Finish, |store| {
        let (held, _) = held(store, "b")?;
        engine::finish(store, &clock(), &held.id, held.token, &SUCCEEDED).map(drop)
    }),
    named("finish to be retried", Act::Finish, |store| {
        let (held, _) = held(store, "c")?;
        let verdict = Verdict::Failed { retry_in_ms: Some(60_000) };
        let finish = Finish { verdict, ..SUCCEEDED };
        engine::finish(store, &clock(), &held.id, held.token, &finish).map(drop)
    }),
    named("finish of several", Act::Finish, |store| {
        let ends = [(held(store, "a")?.0, SUCCEEDED), (held(store, "b")?.0, SUCCEEDED)];
        engine::finish_all(store, &clock(), &ends).map(drop)
    }),
    named("release", Act::Release, |store| {
        let (held, _) = held(store, "c")?;
        engine::release(store, &clock(), &held.id, held.token).map(drop)
    }),
    named("sync of a new one", Act::Sync, |store| {
        sync(store, NOW(), "default", Absent::Keep, &[("new", r#"{"every":"5m"}"#)])
    }),
    named("edit", Act::Sync, |store| {
        let edited = [
            ("a", r#"{"every":"15m","catch_up":{"backfill":{"limit":2}}}"#),
            ("b", r#"{"every":"10m","phase":{"fixed":"0s"},"overlap":"wait"}"#),
        ];
        sync(store, NOW(), "default", Absent::Keep, &edited)
    }),
    named("retire", Act::Retire, |store| {
        sync(store, NOW(), "guests", Absent::Retire, &[("stays", EVERY_10_MINUTES)])
    }),
    named("request", Act::Request, |store| request(store, "new", NOW())),
    named("cancel", Act::Cancel, |store| {
        let states = vec![RunState::Pending, RunState::Cancelled];
        let runs = store.begin_read()?.runs(&RunFilter { states, ..RunFilter::default() })?;
        engine::cancel(store, &clock(), &runs[0].id()).map(drop)
    }),
    named("cancel a request", Act::Cancel, |store| {
        engine::cancel_request(store, &clock(), "a", "old").map(drop)
    }),
    named("pause", Act::Pause, |store| {
        engine::pause(store, &clock(), &|name| name != "paused", Note::default()).map(drop)
    }),
    named("resume", Act::Resume(Resume::CatchUp), |store| {
        engine::resume(store, &clock(), &|_| true, Resume::CatchUp).map(drop)
    }),
    named("cursor", Act::Cursor, |store| {
        engine::set_cursor(store, &clock(), "stays", NOW(), Mode::Write).map(drop)
    }),
    named("resume and drop", Act::Resume(Resume::Drop), |store| {
        engine::resume(store, &clock(), &|_| true, Resume::Drop).map(drop)
    }),
];

const EVERY_10_MINUTES: &str = r#"{"every":"10m","phase":{"fixed":"0s"}}"#;
const SUCCEEDED: Finish = Finish { verdict: Verdict::Succeeded, error: None, output: None };

/// The instant of the commands.
#[expect(non_snake_case, reason = "it is a constant, but for its text form")]
pub(super) fn NOW() -> Instant {
    at("2026-01-01T00:32:00Z")
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn clock() -> FixedClock {
    FixedClock(NOW())
}

/// Brings the store to where every command has something to do: expired leases, live ones, owed
/// occurrences, requested runs, a paused workflow.
pub(super) fn prepare(store: &mut dyn Store) {
    let own = [
        ("a", r#"{"every":"10m","phase":{"fixed":"0s"},"catch_up":{"backfill":{"limit":3}}}"#),
        ("b", r#"{"every":"10m","phase":{"fixed":"0s"},"overlap":"skip"}"#),
        ("c", r#"{"every":"10m","phase":{"fixed":"0s"},"overlap":"wait","max_attempts":2}"#),
        ("paused", r#"{"every":"10m","phase":{"fixed":"0s"},"max_attempts":1}"#),
        ("spent", r#"{"every":"10m","phase":{"fixed":"0s"},"max_attempts":1}"#),
    ];
    let guests = [("goes", EVERY_10_MINUTES), ("stays", EVERY_10_MINUTES)];
    sync(store, at("2026-01-01T00:00:00Z"), "default", Absent::Keep, &own).unwrap();
    sync(store, at("2026-01-01T00:00:00Z"), "guests", Absent::Keep, &guests).unwrap();
    for claimed in [at("2026-01-01T00:01:00Z"), at("2026-01-01T00:22:00Z")] {
        claim(store, claimed).unwrap();
    }
    let later = at("2026-01-01T00:23:00Z");
    request(store, "old", later).unwrap();
    let (held, _) = held(store, "goes").unwrap();
    engine::release(store, &FixedClock(later), &held.id, held.token).unwrap();
    engine::pause(store, &FixedClock(later), &|name| name == "paused", Note::default()).unwrap();
}

fn sync(
    store: &mut dyn Store,
    now: Instant,
    source: &str,
    absent: Absent,
    documents: &[(&str, &str)],
) -> Result<(), EngineError> {
    let documents: Vec<_> = documents
        .iter()
        .map(|(name, text)| (Reference::new(name).unwrap(), Some(crate::schedule(text))))
        .collect();
    let options = SyncOptions { source, mode: Mode::Write, absent };
    engine::sync(store, &FixedClock(now), &documents, &options).map(drop)
}

fn claim(store: &mut dyn Store, now: Instant) -> Result<engine::Claimed, EngineError> {
    let request = ClaimRequest {
        worker: "w",
        limit: 100,
        lease_ms: 8 * 60_000,
        matches: &|_| true,
        trigger: None,
    };
    engine::claim(store, &FixedClock(now), &request)
}

fn request(store: &mut dyn Store, id: &str, now: Instant) -> Result<(), EngineError> {
    let (from, to) = (at("2026-01-01T00:00:00Z"), at("2026-01-01T00:20:00Z"));
    let request = RunRequest {
        reference: "a",
        id,
        selection: Selection::Occurrences { from, to },
        only: Only::All,
        windows: Windows::Pinned,
        note: Note::default(),
    };
    engine::request(store, &FixedClock(now), &request, Mode::Write).map(drop)
}

/// The oldest run of a workflow that a worker was handed last, and its token.
fn held(store: &mut dyn Store, reference: &str) -> Result<(engine::Held, RunRecord), EngineError> {
    let runs = store.begin_read()?.runs(&RunFilter::default())?;
    let mut runs = runs.into_iter().filter(|run| run.reference == reference);
    let run = runs.find(|run| run.attempt.is_some()).expect("it was claimed");
    let token = run.attempt.as_ref().map_or(0, |attempt| attempt.token);
    Ok((engine::Held { id: run.id(), token }, run))
}

/// Carries a command out, again where it was before; one that finds its work done may be refused.
pub(super) fn carry_out(command: Named, store: &mut dyn Store) {
    match (command.work)(store) {
        Ok(()) => {}
        Err(error) if error.is_refusal() => {}
        Err(error) => panic!("{}: {error}", command.name),
    }
}

/// A process that carries the command out.
pub(super) fn process(command: Named, store: &Path) -> Command {
    let mut process = super::this_program();
    process.env(STORE, store).env(COMMAND, command.name);
    process
}

#[test]
fn carry_out_and_die() {
    let Some(path) = setting(STORE).map(PathBuf::from) else { return };
    let name = setting(COMMAND).unwrap();
    let command = COMMANDS.iter().find(|command| command.name == name).unwrap();
    let options = Options { missing: Missing::Refuse, ..Options::default() };
    let inner = Box::new(SqliteStore::open_with(&path, &options).unwrap());
    let (last, steps) = (count(STEP, 0), AtomicU64::new(0));
    let watch = move |step: &'static str| -> Result<(), StoreError> {
        if steps.fetch_add(1, Ordering::Relaxed) + 1 == last {
            let mut storm = std::io::stdout().lock();
            writeln!(storm, "\n{step}").and_then(|()| storm.flush()).unwrap();
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        }
        Ok(())
    };
    (command.work)(&mut Watched { inner, watch: Rc::new(watch) }).unwrap();
    println!("\ndone");
}
