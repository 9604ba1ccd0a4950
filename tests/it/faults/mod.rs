//! What disks and machines do to a store: flipped bits, full disks, files cut short, power cuts,
//! processes that are killed at any step.
//!
//! The long form of each is one line of `tests/faults/run`.

mod flips;
mod limits;
mod powercut;
mod steps;
mod storm;
mod truncated;
mod workload;

use std::path::Path;

use windowpane::clock::FixedClock;
use windowpane::engine::{self, ClaimRequest};
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::record::{Resume, RunRecord};
use windowpane::store::sqlite::SqliteStore;
use windowpane::store::{Store, StoreError};
use windowpane::time::Instant;

use crate::store_suite::sample::everything;

/// The number that the environment gives for `name`, else `default`.
fn count(name: &str, default: u64) -> u64 {
    crate::setting(name).map_or(default, |text| text.parse().expect(name))
}

/// What can be read from a file, and what the check of it finds: an error is a finding too.
fn examine(path: &Path) -> (Result<String, StoreError>, Vec<String>) {
    let mut store = match SqliteStore::open_existing(path) {
        Ok(store) => store,
        Err(error) => {
            let finding = error.to_string();
            return (Err(error), vec![finding]);
        }
    };
    let findings = match store.verify() {
        Ok(findings) => findings.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    };
    (everything(&mut store), findings)
}

/// At an instant past all leases and delays, claims and finishes until nothing is left.
fn drain(store: &mut dyn Store, now: Instant) {
    let clock = FixedClock(now);
    engine::resume(store, &clock, &|_| true, Resume::CatchUp).unwrap();
    let request = ClaimRequest {
        worker: "drain",
        limit: 1_000,
        lease_ms: 1,
        matches: &|_| true,
        trigger: None,
    };
    loop {
        let claimed = engine::claim(store, &clock, &request).unwrap();
        if claimed.runs.is_empty() {
            return;
        }
        let finish = Finish { verdict: Verdict::Succeeded, error: None, output: None };
        let held = |run: &RunRecord| {
            let token = run.attempt.as_ref().unwrap().token;
            engine::Held { id: run.id(), token }
        };
        let ends: Vec<_> = claimed.runs.iter().map(|run| (held(run), finish.clone())).collect();
        engine::finish_all(store, &clock, &ends).unwrap();
    }
}
