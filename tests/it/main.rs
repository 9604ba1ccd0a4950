//! The one integration test binary.

mod account;
mod apiary;
mod calendar;
mod cli;
mod cron;
mod diagnostics;
mod faults;
mod golden;
mod lifecycle;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(not(feature = "postgres"))]
mod postgres_left_out;
mod properties;
mod readme;
mod schemas;
mod simulation;
mod store_suite;
mod stories;
mod sync;
mod tidy;
mod tz_change;
mod verify;
mod watched;

use windowpane::schedule::Schedule;

/// A schedule of a test, which must be right.
#[track_caller]
fn schedule(json: &str) -> Schedule {
    Schedule::from_json(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// What the environment sets for the tests: seeds, counts, whether to rewrite fixtures.
#[expect(clippy::disallowed_methods, reason = "tests may be told to do more, or to write fixtures")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
