//! One process of the storm. It says a step to the storm, and each answer to a log of its own, once
//! it has it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;

use fastrand::Rng;
use windowpane::clock::{Clock, Moment, SystemClock, wait_until};
use windowpane::engine::{
    self, Absent, ClaimRequest, EngineError, Mode, Note, Only, RunRequest, Selection, SyncOptions,
    Windows,
};
use windowpane::schedule::{Reference, Schedule};
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::record::{ClockKind, Resume, RunFilter, RunRecord, RunState};
use windowpane::store::sqlite::SqliteStore;
use windowpane::store::{Store, StoreError};
use windowpane::time::Instant;

use crate::faults::count;
use crate::setting;

const FOLDER: &str = "WINDOWPANE_STORM_FOLDER";
const BEGUN: &str = "WINDOWPANE_STORM_BEGUN";
const NUMBER: &str = "WINDOWPANE_STORM_NUMBER";
const SEED: &str = "WINDOWPANE_STORM_SEED";

/// So many times as fast as the machine's goes the clock of the storm: a minute in 60 ms.
const SPEED: i64 = 1_000;
/// One process in so many stalls past its lease, whenever it claims.
const STALLS_ONE_IN: u64 = 40;
/// The lease that it stalls past: short, so that it seldom is killed before.
const STALLED_LEASE_MS: i64 = 20_000;

/// Edited, paused and requested by anyone.
const REFS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
/// Of these the records are pruned, too.
pub(super) const PRUNED: [&str; 2] = ["k", "l"];
/// Older records than this are pruned, in the storm's time.
const PRUNED_AFTER_MS: i64 = 600_000;
/// Never edited, and at most one of its runs is claimed at any time.
pub(super) const ALONE: &str = "alone";
/// Of these one is retired while the other is not.
const GUESTS: [&str; 2] = ["guest/one", "guest/two"];
const SCHEDULES: [&str; 8] = [
    "false",
    r#"{"every":"30s","phase":{"fixed":"0s"},"catch_up":{"backfill":{"limit":20}}}"#,
    r#"{"every":"1m","catch_up":{"backfill":{"limit":5}}}"#,
    r#"{"every":"1m","phase":{"fixed":"90s"}}"#,
    r#"{"every":"2m","overlap":"skip","max_attempts":2}"#,
    r#"{"every":"1m","overlap":"wait","catch_up":{"backfill":{"limit":9}}}"#,
    r#"{"every":"10s","catch_up":{"latest":{"max_age":"5m"}}}"#,
    r#"{"every":{"cron":"*/2 * * * *"},"timezone":"Europe/Amsterdam","first_run":"next"}"#,
];
const ALONE_SCHEDULE: &str =
    r#"{"every":"30s","overlap":"wait","catch_up":{"backfill":{"limit":50}},"max_attempts":50}"#;

/// Where a storm takes place, and when it began.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) begun: Instant,
    pub(super) seed: u64,
}

impl Place {
    pub(super) fn store(&self) -> PathBuf {
        self.folder.join("store.db")
    }

    pub(super) fn acks(&self) -> PathBuf {
        self.folder.join("acks")
    }

    pub(super) fn errors_of(&self, number: u64) -> PathBuf {
        self.folder.join(format!("errors-{number}"))
    }

    /// Tells a process where it is, and its number.
    pub(super) fn tell(&self, command: &mut Command, number: u64) {
        command.env(FOLDER, &self.folder).env(BEGUN, self.begun.as_ms().to_string());
        command.env(NUMBER, number.to_string()).env(SEED, self.seed.to_string());
    }

    fn told() -> Option<Place> {
        let begun = Instant::from_ms(count(BEGUN, 0).cast_signed()).unwrap();
        Some(Place { folder: setting(FOLDER)?.into(), begun, seed: count(SEED, 0) })
    }
}

/// The clock of the storm: the machine's, sped up, so that leases and schedules are short.
impl Clock for Place {
    fn now(&self) -> Instant {
        let passed_ms = SystemClock.now().ms_since(self.begun);
        self.begun.checked_add_ms(passed_ms * SPEED).unwrap()
    }

    fn kind(&self) -> ClockKind {
        ClockKind::Test
    }
}

/// Registers everything.
pub(super) fn register(place: &Place) {
    let mut store = SqliteStore::open(&place.store()).unwrap();
    let own =
        REFS.iter().zip(SCHEDULES.iter().cycle()).map(|(reference, text)| (*reference, *text));
    let documents: Vec<_> = own
        .chain([(ALONE, ALONE_SCHEDULE)])
        .map(|(reference, text)| document(reference, text))
        .collect();
    engine::sync(&mut store, place, &documents, &options("default", Absent::Keep)).unwrap();
    let guests = GUESTS.map(|reference| document(reference, SCHEDULES[2]));
    engine::sync(&mut store, place, &guests, &options("guests", Absent::Keep)).unwrap();
}

fn document(reference: &str, text: &str) -> (Reference, Option<Schedule>) {
    let schedule = (text != "false").then(|| crate::schedule(text));
    (Reference::new(reference).unwrap(), schedule)
}

fn options(source: &str, absent: Absent) -> SyncOptions<'_> {
    SyncOptions { source, mode: Mode::Write, absent }
}

struct Worker {
    place: Place,
    name: String,
    stalls: bool,
    rng: Rng,
    store: SqliteStore,
    acks: File,
    requests: u32,
}

#[test]
fn work() {
    let Some(place) = Place::told() else { return };
    let number = count(NUMBER, 0);
    let name = format!("w{number}");
    let acks = OpenOptions::new().create(true).append(true).open(place.acks().join(&name)).unwrap();
    let mut worker = Worker {
        stalls: number.is_multiple_of(STALLS_ONE_IN),
        rng: Rng::with_seed(place.seed.wrapping_mul(1_000_003) + number),
        store: open(&place.store()),
        place,
        name,
        acks,
        requests: 0,
    };
    loop {
        worker.step();
    }
}

/// Others may hold the file for a moment while it is opened.
fn open(path: &Path) -> SqliteStore {
    loop {
        match SqliteStore::open(path) {
            Err(StoreError::Busy) => {}
            other => return other.unwrap(),
        }
    }
}

impl Worker {
    fn step(&mut self) {
        match self.rng.u32(..42) {
            0..=27 => self.claim(),
            28..=30 => self.edit(),
            31..=33 => self.request(),
            34 => self.pause(),
            35..=36 => self.resume(),
            37 => self.cancel(),
            38 => self.retire(),
            39 => self.prune(),
            40 => self.set_cursor(),
            _ => {
                let place = self.place.clone();
                self.done(|store| engine::due(store, &place));
            }
        }
    }

    /// Does one thing, and tells the storm of the step. `None` when it was refused.
    fn done<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Store) -> Result<T, EngineError>,
    ) -> Option<Result<T, EngineError>> {
        let answer = work(&mut self.store);
        let mut storm = std::io::stdout().lock();
        storm.write_all(b".").and_then(|()| storm.flush()).unwrap();
        match answer {
            Err(EngineError::Store(StoreError::Busy)) => None,
            Err(error) if !error.is_refusal() => panic!("{error}"),
            answer => Some(answer),
        }
    }

    /// Says an answer to the log, in one write.
    fn say(&mut self, line: String) {
        self.acks.write_all((line + "\n").as_bytes()).unwrap();
    }

    fn claim(&mut self) {
        let (place, name, limit) = (self.place.clone(), self.name.clone(), self.rng.usize(1..5));
        let lease_ms = if self.stalls { STALLED_LEASE_MS } else { self.rng.i64(60_000..180_000) };
        let request =
            ClaimRequest { worker: &name, limit, lease_ms, matches: &|_| true, trigger: None };
        let claimed = self.done(|store| engine::claim(store, &place, &request));
        let Some(Ok(claimed)) = claimed else { return };
        for run in &claimed.runs {
            let claimed_ms = run.attempt.as_ref().unwrap().claimed.as_ms();
            self.say(format!("claimed {} {} {claimed_ms} {}", run.id(), token(run), expiry(run)));
        }
        if self.stalls && !claimed.runs.is_empty() {
            let (_never, nothing) = mpsc::channel::<()>();
            wait_until(&nothing, Moment::now().after_ms(lease_ms * 3 / 2 / SPEED));
        }
        for run in claimed.runs {
            self.work_on(&run);
        }
    }

    fn work_on(&mut self, run: &RunRecord) {
        let (place, id, token) = (self.place.clone(), run.id(), token(run));
        if self.rng.u32(..4) == 0 {
            let beaten =
                self.done(|store| engine::heartbeat(store, &place, &id, token, 120_000, None));
            self.told("extended", run, beaten);
        }
        let retry_in_ms = self.rng.bool().then(|| self.rng.i64(0..100_000));
        let (word, verdict) = match self.rng.u32(..16) {
            0 => return,
            1 => {
                let released = self.done(|store| engine::release(store, &place, &id, token));
                return self.told("released", run, released);
            }
            2..=4 => ("failed", Verdict::Failed { retry_in_ms }),
            _ => ("succeeded", Verdict::Succeeded),
        };
        let finish = Finish { verdict, error: None, output: None };
        let finished = self.done(|store| engine::finish(store, &place, &id, token, &finish));
        self.told(word, run, finished);
    }

    /// Says what came of a worker's word about a run.
    fn told(
        &mut self,
        word: &str,
        run: &RunRecord,
        answer: Option<Result<RunRecord, EngineError>>,
    ) {
        let (id, token) = (run.id(), token(run));
        match answer {
            Some(Ok(run)) => self.say(format!("{word} {id} {token} {}", expiry(&run))),
            Some(Err(error)) if error.is_lost_lease() => self.say(format!("fenced {id} {token}")),
            // Another one finished it long ago.
            Some(Err(EngineError::UnknownRun { .. })) if PRUNED.contains(&&*id.reference) => {}
            Some(Err(error)) => panic!("{error}"),
            None => {}
        }
    }

    fn edit(&mut self) {
        let (reference, text) =
            (*self.rng.choice(&REFS).unwrap(), *self.rng.choice(&SCHEDULES).unwrap());
        self.sync(&[document(reference, text)], "default", Absent::Keep);
    }

    fn retire(&mut self) {
        let present = *self.rng.choice(&GUESTS).unwrap();
        self.sync(&[document(present, SCHEDULES[2])], "guests", Absent::Retire);
    }

    fn sync(&mut self, documents: &[(Reference, Option<Schedule>)], source: &str, absent: Absent) {
        let place = self.place.clone();
        let synced =
            self.done(|store| engine::sync(store, &place, documents, &options(source, absent)));
        if let Some(synced) = synced {
            let changed = synced.unwrap().workflows.into_iter();
            changed.for_each(|synced| {
                self.say(format!("synced {} {}", synced.reference, synced.revision))
            });
        }
    }

    fn request(&mut self) {
        let (place, name) = (self.place.clone(), self.name.clone());
        let reference = *self.rng.choice(&REFS).unwrap();
        self.requests += 1;
        let id = format!("{name}-{}", self.requests);
        let from = place.now().checked_add_ms(-self.rng.i64(0..600_000)).unwrap();
        let to = from.checked_add_ms(90_000).unwrap();
        let request = RunRequest {
            reference,
            id: &id,
            selection: Selection::Occurrences { from, to },
            only: *self.rng.choice(&[Only::Missing, Only::Failed, Only::All]).unwrap(),
            windows: Windows::Pinned,
            note: Note::default(),
        };
        let requested = self.done(|store| engine::request(store, &place, &request, Mode::Write));
        if let Some(requested) = requested {
            let made = requested.unwrap().runs.len();
            self.say(format!("requested {reference} {id} {made}"));
        }
    }

    fn pause(&mut self) {
        let (place, wanted) = (self.place.clone(), *self.rng.choice(&REFS).unwrap());
        let paused = self
            .done(|store| engine::pause(store, &place, &|name| name == wanted, Note::default()));
        paused.into_iter().for_each(|paused| drop(paused.unwrap()));
    }

    fn resume(&mut self) {
        let (place, policy) = (self.place.clone(), *self.rng.choice(Resume::ALL).unwrap());
        let resumed = self.done(|store| engine::resume(store, &place, &|_| true, policy));
        resumed.into_iter().for_each(|resumed| drop(resumed.unwrap()));
    }

    fn prune(&mut self) {
        let place = self.place.clone();
        let matches = |name: &str| PRUNED.contains(&name);
        let pruned =
            self.done(|store| engine::prune(store, &place, &matches, PRUNED_AFTER_MS, Mode::Write));
        for pruned in pruned.into_iter().flat_map(Result::unwrap) {
            self.say(format!("pruned {} {}", pruned.reference, pruned.horizon.as_ms()));
        }
    }

    /// Past what is due, which nobody will run.
    fn set_cursor(&mut self) {
        let (place, reference) = (self.place.clone(), *self.rng.choice(&REFS).unwrap());
        let to = place.now();
        let moved =
            self.done(|store| engine::set_cursor(store, &place, reference, to, Mode::Write));
        if let Some(Ok(moved)) = moved {
            let cursor_ms = moved.cursor.map_or(i64::MIN, Instant::as_ms);
            self.say(format!("moved {reference} {cursor_ms}"));
        }
    }

    fn cancel(&mut self) {
        let place = self.place.clone();
        let states = vec![RunState::Pending];
        let filter = RunFilter { states, limit: Some(1), ..RunFilter::default() };
        let pending = self.done(|store| Ok(store.begin_read()?.runs(&filter)?));
        let Some(Ok(pending)) = pending else { return };
        for run in pending {
            if let Some(Ok(run)) = self.done(|store| engine::cancel(store, &place, &run.id())) {
                self.say(format!("cancelled {} 0 0", run.id()));
            }
        }
    }
}

fn token(run: &RunRecord) -> i64 {
    run.attempt.as_ref().unwrap().token
}

/// The end of the lease, in milliseconds; 0 for a run that is final.
fn expiry(run: &RunRecord) -> i64 {
    run.available.map_or(0, Instant::as_ms)
}
