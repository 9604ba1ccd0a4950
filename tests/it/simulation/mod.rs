//! A deterministic simulation: several workers over one store, a clock that jumps both ways,
//! crashes between any two steps, edits, slow workers that finish late.
//!
//! After each step the records are audited: every settled occurrence has exactly one fate, cursors
//! only move forward, no run is handed out under a live lease or after it was finished. A failure
//! prints its seed; `WINDOWPANE_SIMULATION_SEED=7 cargo test simulation` replays one, and
//! `WINDOWPANE_SIMULATION_SEEDS=100000` runs that many.

mod audit;
mod crashing;

use std::cell::Cell;
use std::rc::Rc;

use fastrand::Rng;
use windowpane::clock::FixedClock;
use windowpane::engine::{self, Absent, ClaimRequest, EngineError, SyncMode, SyncOptions};
use windowpane::schedule::Reference;
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::model::ModelStore;
use windowpane::store::record::RunRecord;
use windowpane::store::sqlite::SqliteStore;
use windowpane::store::{RunId, Store};
use windowpane::time::Instant;

use audit::Audit;
use crashing::{Crashing, Fuse};

const STEPS: u32 = 120;
const REFS: [&str; 4] = ["a", "b", "c/d", "e@f"];
const SCHEDULES: [&str; 12] = [
    "false",
    r#"{"every":"1h"}"#,
    r#"{"every":"5m","phase":{"fixed":"0s"},"catch_up":{"backfill":{"limit":3}}}"#,
    r#"{"every":"5m","delay":"1m","catch_up":{"backfill":{"limit":3}}}"#,
    r#"{"every":"10m","catch_up":{"latest":{"max_age":"20m"}},"max_attempts":1}"#,
    r#"{"every":"30m","phase":{"fixed":"3h"},"catch_up":{"backfill":{"limit":50}}}"#,
    r#"{"every":"1s","phase":{"fixed":"0s"}}"#,
    r#"{"every":"1h","first_run":"next","catch_up":{"backfill":{"limit":2,"max_age":"90m"}}}"#,
    r#"{"every":{"day":{"at":["01:30","02:30","03:30","14:00"]}},"timezone":"Europe/Amsterdam","dst":{"fold":"both"},"catch_up":{"backfill":{"limit":9}}}"#,
    r#"{"every":{"day":{"at":["01:30","02:30","14:00"]}},"timezone":"Europe/Amsterdam","dst":{"gap":"next","fold":"last"},"catch_up":{"backfill":{"limit":9}}}"#,
    r#"{"every":{"week":{"on":"sunday","at":["02:15","02:45"]}},"timezone":"Australia/Lord_Howe","phase":{"spread":{"max":"2h"}}}"#,
    r#"{"every":"15m","window":"1h","max_attempts":2,"catch_up":{"backfill":{"limit":1}}}"#,
];

/// A run that a worker believes it holds.
struct Held {
    id: RunId,
    token: i64,
}

struct Simulation {
    rng: Rng,
    store: Crashing,
    fuse: Fuse,
    now: Instant,
    held: Vec<Held>,
    audit: Audit,
}

impl Simulation {
    fn new(seed: u64, inner: Box<dyn Store>) -> Simulation {
        let fuse: Fuse = Rc::new(Cell::new(u32::MAX));
        Simulation {
            rng: Rng::with_seed(seed),
            store: Crashing { inner, fuse: Rc::clone(&fuse) },
            fuse,
            // The night before a clock change in Amsterdam.
            now: "2026-10-24T20:00:00Z".parse().unwrap(),
            held: Vec::new(),
            audit: Audit::default(),
        }
    }

    fn run(&mut self) {
        for _ in 0..STEPS {
            // One step in four crashes somewhere on its way.
            let calls = if self.rng.u32(..4) == 0 { self.rng.u32(..40) } else { u32::MAX };
            self.fuse.set(calls);
            match self.rng.u32(..20) {
                0..=2 => self.sync(),
                3..=9 => self.claim(),
                10..=13 => self.finish(),
                14 => self.heartbeat(),
                15 => self.release(),
                _ => self.pass_time(),
            }
            self.fuse.set(u32::MAX);
            self.audit.check(&mut *self.store.inner, self.now);
        }
    }

    fn clock(&self) -> FixedClock {
        FixedClock(self.now)
    }

    fn pass_time(&mut self) {
        let ms = match self.rng.u32(..12) {
            0 => -self.rng.i64(0..4 * 3_600_000),
            1 => self.rng.i64(0..40 * 86_400_000),
            2..=5 => self.rng.i64(0..4 * 3_600_000),
            _ => self.rng.i64(0..20 * 60_000),
        };
        self.now = self.now.checked_add_ms(ms).unwrap();
    }

    fn sync(&mut self) {
        let workflows: Vec<_> = REFS
            .into_iter()
            .filter_map(|reference| {
                let text = self.rng.u32(..3) == 0;
                let schedule = self.rng.choice(SCHEDULES).unwrap();
                let schedule = (schedule != "false").then(|| crate::schedule(schedule));
                text.then(|| (Reference::new(reference).unwrap(), schedule))
            })
            .collect();
        let clock = self.clock();
        let options =
            SyncOptions { source: "default", mode: SyncMode::Write, absent: Absent::Keep };
        self.tolerate(|store| engine::sync(store, &clock, &workflows, &options).map(drop));
    }

    fn claim(&mut self) {
        let lease_ms = self.rng.i64(1..30 * 60_000);
        let limit = self.rng.usize(1..8);
        let worker = format!("w{}", self.rng.u32(..4));
        let prefix = if self.rng.u32(..5) == 0 { "c" } else { "" };
        let clock = self.clock();
        let request = ClaimRequest {
            worker: &worker,
            limit,
            lease_ms,
            matches: &|reference| reference.starts_with(prefix),
            trigger: None,
        };
        let claimed = self.tolerate(|store| engine::claim(store, &clock, &request));
        for run in claimed.iter().flat_map(|claimed| &claimed.runs) {
            self.audit.handed_out(run, self.now);
            self.held.push(Held { id: run.id(), token: token(run) });
        }
    }

    /// One held run, which stays held: its worker may come back late.
    fn pick(&mut self) -> Option<(RunId, i64)> {
        let index = (!self.held.is_empty()).then(|| self.rng.usize(..self.held.len()))?;
        let held = &self.held[index];
        let picked = (held.id.clone(), held.token);
        if self.rng.u32(..3) == 0 {
            self.held.swap_remove(index);
        }
        Some(picked)
    }

    fn finish(&mut self) {
        let Some((id, token)) = self.pick() else { return };
        let verdict = match self.rng.u32(..4) {
            0 => Verdict::Failed { retry_in_ms: None },
            1 => Verdict::Failed { retry_in_ms: Some(self.rng.i64(0..3_600_000)) },
            _ => Verdict::Succeeded,
        };
        let finish = Finish { verdict, error: None, output: None };
        let clock = self.clock();
        let finished = self.tolerate(|store| engine::finish(store, &clock, &id, token, &finish));
        self.audit.ended(&id, token, finished.as_ref());
    }

    fn heartbeat(&mut self) {
        let Some((id, token)) = self.pick() else { return };
        let (clock, lease_ms) = (self.clock(), self.rng.i64(1..3_600_000));
        if let Some(run) =
            self.tolerate(|store| engine::heartbeat(store, &clock, &id, token, lease_ms, None))
        {
            self.audit.extended(&run, token);
        }
    }

    fn release(&mut self) {
        let Some((id, token)) = self.pick() else { return };
        let clock = self.clock();
        let released = self.tolerate(|store| engine::release(store, &clock, &id, token));
        self.audit.ended(&id, token, released.as_ref());
    }

    /// What a crash or a lost lease leaves behind is for the audit to find.
    fn tolerate<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Store) -> Result<T, EngineError>,
    ) -> Option<T> {
        match work(&mut self.store) {
            Ok(done) => Some(done),
            Err(EngineError::Store(_)) if self.fuse.get() == 0 => None,
            Err(error @ EngineError::Refused { .. }) => {
                self.audit.refused(&error);
                None
            }
            Err(EngineError::UnknownRun { .. }) => None,
            Err(error) => panic!("{error}"),
        }
    }
}

fn token(run: &RunRecord) -> i64 {
    run.attempt.as_ref().unwrap().token
}

/// Runs one seed, and names it when it fails.
fn replay(seed: u64, store: impl FnOnce() -> Box<dyn Store>) -> Audit {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut simulation = Simulation::new(seed, store());
        simulation.run();
        simulation.audit
    }));
    result.unwrap_or_else(|_| {
        panic!("seed {seed} fails; replay it with WINDOWPANE_SIMULATION_SEED={seed}")
    })
}

fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str| crate::setting(name).map(|text| text.parse::<u64>().unwrap());
    match (number("WINDOWPANE_SIMULATION_SEED"), number("WINDOWPANE_SIMULATION_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, count) => 0..count.unwrap_or(default),
    }
}

#[test]
fn a_bad_day_over_the_model_leaves_every_occurrence_with_one_fate() {
    let mut total = Audit::default();
    for seed in seeds(1_000) {
        total.add(replay(seed, || Box::new(ModelStore::new())));
    }
    println!("{total}");
    total.has_teeth();
}

#[test]
fn a_bad_day_over_sqlite_leaves_every_occurrence_with_one_fate() {
    let scratch = tempfile::tempdir().unwrap();
    let mut total = Audit::default();
    for seed in seeds(100) {
        let path = scratch.path().join(seed.to_string());
        total.add(replay(seed, || Box::new(SqliteStore::open(&path).unwrap())));
    }
    println!("{total}");
    total.has_teeth();
}
