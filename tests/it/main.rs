//! The one integration test binary.

mod calendar;
mod cli;
mod faults;
mod golden;
mod lifecycle;
mod properties;
mod simulation;
mod store_suite;
mod stories;
mod tidy;

use windowpane::schedule::Schedule;

/// A schedule of a test, which must be right.
#[track_caller]
fn schedule(json: &str) -> Schedule {
    Schedule::from_json(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}
