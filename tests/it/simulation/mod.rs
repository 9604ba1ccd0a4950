//! A deterministic simulation: several workers over one store, a clock that jumps both ways, two
//! workers whose clocks are five minutes off, crashes between any two steps, edits, pauses,
//! requests, retirement, slow workers that finish late.
//!
//! After each step the account of the store is taken, and the step is held to what it may change;
//! at the end everything is drained and every occurrence accounted for. A failure prints its seed;
//! `WINDOWPANE_SIMULATION_SEED=7 cargo test simulation` replays one, and
//! `WINDOWPANE_SIMULATION_SEEDS=100000` runs that many, from `WINDOWPANE_SIMULATION_FIRST` on.

mod commands;
mod drain;
mod leases;
mod requests;
mod tally;

use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;

use fastrand::Rng;
use windowpane::clock::{Clock, FixedClock};
use windowpane::engine::{self, EngineError};
use windowpane::store::model::ModelStore;
use windowpane::store::record::{ClockKind, RunRecord};
use windowpane::store::sqlite::{Durability, Options, SqliteStore};
use windowpane::store::{RunId, Store, StoreError};
use windowpane::time::Instant;

use crate::account::{self, Act, Snapshot};
use crate::watched::{COMMITTED, Watched};

use tally::Tally;

/// So many days over the model, and every tenth of them over SQLite.
const SEEDS: u64 = 1_000;
const STEPS: u32 = 120;
/// By how much the clocks of workers differ from the true one, in milliseconds.
const SKEWS_MS: [i64; 4] = [0, 0, 300_000, -300_000];

/// A run that a worker believes it holds.
#[derive(Clone)]
struct Held {
    worker: usize,
    id: RunId,
    token: i64,
}

/// Where the engine crashes next, and how far it came.
struct Crash {
    /// How many steps are left before it; afterwards every step fails.
    fuse: Cell<u32>,
    last_step: Cell<&'static str>,
    has_begun: Cell<bool>,
    has_committed: Cell<bool>,
}

/// A clock that is right only inside a transaction: who reads it before has waited for the lock
/// meanwhile.
struct PatientClock {
    now: Instant,
    crash: Rc<Crash>,
}

impl Clock for PatientClock {
    fn now(&self) -> Instant {
        let waited_ms = if self.crash.has_begun.get() { 0 } else { 600_000 };
        self.now.checked_add_ms(-waited_ms).unwrap()
    }

    fn kind(&self) -> ClockKind {
        ClockKind::Test
    }
}

struct Simulation {
    rng: Rng,
    store: Watched,
    crash: Rc<Crash>,
    now: Instant,
    held: Vec<Held>,
    /// The account before the last step, and after it.
    before: Snapshot,
    seen: Snapshot,
    /// What was done and answered, for comparison with another store.
    trace: Vec<String>,
    tally: Tally,
}

impl Simulation {
    fn new(seed: u64, inner: Box<dyn Store>) -> Simulation {
        let crash = Rc::new(Crash {
            fuse: Cell::new(u32::MAX),
            last_step: Cell::new(""),
            has_begun: Cell::new(false),
            has_committed: Cell::new(false),
        });
        let watching = Rc::clone(&crash);
        let watch = Rc::new(move |step| watching.reach(step));
        Simulation {
            rng: Rng::with_seed(seed),
            store: Watched { inner, watch },
            crash,
            // The night before a clock change in Amsterdam.
            now: "2026-10-24T20:00:00Z".parse().unwrap(),
            held: Vec::new(),
            before: Snapshot::default(),
            seen: Snapshot::default(),
            trace: Vec::new(),
            tally: Tally::default(),
        }
    }

    fn run(&mut self) {
        for _ in 0..STEPS {
            // One step in four crashes somewhere on its way.
            let crashes = self.rng.u32(..4) == 0;
            self.crash.fuse.set(if crashes { self.rng.u32(..40) } else { u32::MAX });
            match self.rng.u32(..37) {
                0..=3 => self.sync(),
                4 => self.retire(),
                5..=13 => self.claim(),
                14..=17 => self.finish(),
                18 => self.finish_several(),
                19..=20 => self.heartbeat(),
                21 => self.release(),
                22..=23 => self.request(),
                24 => self.cancel(),
                25 => self.cancel_request(),
                26 => self.pause(),
                27..=28 => self.resume(),
                29 => self.import(),
                30 => self.prune(),
                31 => self.set_cursor(),
                _ => self.pass_time(),
            }
        }
        self.crash.fuse.set(u32::MAX);
        self.drain();
    }

    fn pass_time(&mut self) {
        let ms = match self.rng.u32(..28) {
            0..=1 => -self.rng.i64(0..4 * 3_600_000),
            2 => -3_600_000,
            3..=4 => self.rng.i64(0..40 * 86_400_000),
            5..=10 => self.rng.i64(0..4 * 3_600_000),
            11..=16 => self.ms_to_an_edge(),
            _ => self.rng.i64(0..20 * 60_000),
        };
        self.tally.add_if("set back", ms < 0);
        self.now = self.now.checked_add_ms(ms).unwrap();
        let (store, clock) = (&mut *self.store.inner, FixedClock(self.now));
        let seen = (engine::due(store, &clock).unwrap(), engine::list(store, &clock).unwrap());
        self.trace.push(format!("{seen:?}"));
    }

    /// How far it is to the instant at which a lease or a delay ends, as some worker sees it, or to
    /// just before it.
    fn ms_to_an_edge(&mut self) -> i64 {
        let edges: Vec<Instant> = self.seen.runs().filter_map(|run| run.available).collect();
        let edge = self.rng.choice(edges).unwrap_or(self.now);
        let (skew_ms, early_ms) = (self.rng.choice(SKEWS_MS).unwrap(), self.rng.i64(0..2));
        edge.ms_since(self.now) - skew_ms - early_ms
    }

    /// Does one thing by a clock that says `now`, and holds the records to what it may change.
    /// `None` when it crashed or was refused.
    fn act<T: Debug>(
        &mut self,
        act: Act,
        now: Instant,
        work: impl FnOnce(&mut dyn Store, &dyn Clock) -> Result<T, EngineError>,
    ) -> Option<T> {
        self.crash.has_begun.set(false);
        self.crash.has_committed.set(false);
        self.crash.last_step.set("before anything");
        let clock = PatientClock { now, crash: Rc::clone(&self.crash) };
        let answer = work(&mut self.store, &clock);
        self.trace.push(format!("{act:?} at {now}: {answer:?}"));
        let crashed = self.crash.fuse.get() == 0;
        if crashed {
            self.tally.add(self.crash.last_step.get());
        }
        let done = if self.crash.has_committed.get() { act } else { Act::Nothing };
        self.take_account(done, now);
        self.check_queue();
        match answer {
            Ok(answer) => Some(answer),
            Err(EngineError::Store(StoreError::Unavailable { .. })) if crashed => None,
            Err(error) if error.is_refusal() => {
                assert_eq!(done, Act::Nothing, "{error}, and it was committed");
                self.tally.add(error.code());
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn take_account(&mut self, done: Act, now: Instant) {
        let seen = Snapshot::read(&mut *self.store.inner, &self.seen);
        self.before = std::mem::replace(&mut self.seen, seen);
        let mut faults = account::changes(&self.before, &self.seen, done, now);
        faults.extend(account::faults(&self.seen));
        if let Some(fault) = faults.first() {
            let (last, runs) = (self.trace.last(), self.seen.runs().count());
            panic!("{fault}\nof {} faults among {runs} runs, after\n{last:?}", faults.len());
        }
        self.tally.note(&self.before, &self.seen);
    }

    /// What was answered is on record as it was answered.
    #[track_caller]
    fn check_on_record<'r>(&self, runs: impl IntoIterator<Item = &'r RunRecord>) {
        for run in runs {
            let kept = &self.seen.workflows[&run.reference];
            let (found, _) = kept.runs.get(&run.key).expect("an answered run is on record");
            assert_eq!(found, run, "an answered run is on record otherwise");
        }
    }
}

impl Crash {
    fn reach(&self, step: &'static str) -> Result<(), StoreError> {
        match step {
            "begin_write" => self.has_begun.set(true),
            COMMITTED => self.has_committed.set(true),
            _ => {}
        }
        match self.fuse.get().checked_sub(1) {
            None => Err(StoreError::Unavailable {
                path: "simulation".to_owned(),
                problem: "crash".to_owned(),
            }),
            Some(left) => {
                self.fuse.set(left);
                self.last_step.set(step);
                Ok(())
            }
        }
    }
}

/// Runs one seed, and names it when it fails.
fn replay(seed: u64, store: impl FnOnce() -> Box<dyn Store>) -> (Tally, Vec<String>) {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut simulation = Simulation::new(seed, store());
        simulation.run();
        (simulation.tally, simulation.trace)
    }));
    result.unwrap_or_else(|_| {
        panic!("seed {seed} fails; replay it with WINDOWPANE_SIMULATION_SEED={seed}")
    })
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| crate::setting(name).map(|text| text.parse::<u64>().unwrap());
    if let Some(seed) = number("WINDOWPANE_SIMULATION_SEED") {
        return seed..seed + 1;
    }
    let first = number("WINDOWPANE_SIMULATION_FIRST").unwrap_or(0);
    first..first + number("WINDOWPANE_SIMULATION_SEEDS").unwrap_or(SEEDS)
}

#[test]
fn a_bad_day_over_the_model_leaves_every_occurrence_with_one_fate() {
    let mut total = Tally::default();
    for seed in seeds() {
        total.add_all(replay(seed, || Box::new(ModelStore::new())).0);
    }
    println!("{} seeds of {STEPS} steps over the model\n{total}", seeds().count());
    total.has_teeth();
}

/// The same day over SQLite is answered the same, step by step.
#[test]
fn a_bad_day_over_sqlite_goes_as_over_the_model() {
    let scratch = tempfile::tempdir().unwrap();
    let mut total = Tally::default();
    for seed in seeds().step_by(10) {
        let path = scratch.path().join(seed.to_string());
        let options = Options { durability: Durability::Process, ..Options::default() };
        let sqlite = || Box::new(SqliteStore::open_with(&path, &options).unwrap());
        let (tally, trace) = replay(seed, || sqlite());
        let (_, expected) = replay(seed, || Box::new(ModelStore::new()));
        for (told, expected) in trace.iter().zip(&expected) {
            assert_eq!(told, expected, "seed {seed}: SQLite (left) and the model (right)");
        }
        assert_eq!(sqlite().verify().unwrap(), [], "seed {seed}");
        total.add_all(tally);
    }
    println!("{} seeds of {STEPS} steps over SQLite\n{total}", seeds().step_by(10).count());
}
