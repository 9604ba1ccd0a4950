//! One process that claims and finishes until nothing is owed.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use windowpane::clock::{SystemClock, wait_for};
use windowpane::engine::{ClaimRequest, DEFAULT_LEASE_MS, EngineError, Held, claim, finish_all};
use windowpane::store::Store;
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::postgres::{self, PostgresStore};
use windowpane::store::sqlite::{self, SqliteStore};

const BATCH: usize = 100;

/// Opens the store in a file, or on a server.
pub(crate) fn open(url: &str) -> Box<dyn Store> {
    if url.starts_with("postgres://") {
        let options = postgres::Options { wait: Some(wait_for), ..postgres::Options::default() };
        Box::new(insist(|| Ok(PostgresStore::open_with(url, &options)?)))
    } else {
        let options = sqlite::Options { wait: Some(wait_for), ..sqlite::Options::default() };
        Box::new(SqliteStore::open_with(Path::new(url), &options).expect("a store"))
    }
}

/// Prints the id of each run that it was handed.
pub(crate) fn work(url: &str, name: &str) {
    let mut store = open(url);
    let request = ClaimRequest {
        worker: name,
        limit: BATCH,
        lease_ms: DEFAULT_LEASE_MS,
        matches: &|_| true,
        trigger: None,
    };
    loop {
        let claimed = insist(|| claim(&mut *store, &SystemClock, &request));
        if claimed.runs.is_empty() {
            return;
        }
        let mut lines = String::new();
        let mut ends = Vec::with_capacity(claimed.runs.len());
        for run in &claimed.runs {
            lines.push_str(&format!("{}\n", run.id()));
            let token = run.attempt.as_ref().expect("an attempt").token;
            let done = Finish { verdict: Verdict::Succeeded, error: None, output: None };
            ends.push((Held { id: run.id(), token }, done));
        }
        std::io::stdout().write_all(lines.as_bytes()).expect("somebody who listens");
        insist(|| finish_all(&mut *store, &SystemClock, &ends));
    }
}

/// Does something until the store can be reached.
fn insist<T>(mut work: impl FnMut() -> Result<T, EngineError>) -> T {
    loop {
        match work() {
            Ok(done) => return done,
            Err(EngineError::Store(error)) if error.is_retryable() => {
                assert_ne!(error.code(), "unknown_outcome", "the server was away for too long");
                wait_for(Duration::from_millis(20));
            }
            Err(error) => panic!("{error}"),
        }
    }
}
