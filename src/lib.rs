//! Which windows run now? Exact schedules, the windows of data that their runs evaluate, and
//! durable run records that are handed out exactly once.
//!
//! The floors, in reading order; each uses only those before it:
//!
//! - [`time`]: instants, lengths, the epoch grid, local time, cadences, windows, phase
//! - [`schedule`]: JSON to a checked [`schedule::Schedule`], with every fault as data
//! - [`plan`]: what is owed, what is skipped and why
//! - [`store`]: the records, in SQLite or in memory
//! - [`wire`]: the rows that leave the process
//! - [`clock`]: the one reader of the clock, and the one waiter
//! - [`engine`]: read, plan, write: what may happen to the records, and the small runner
//! - [`apiary`]: Apiary's plugin protocol, over a state file of its own
//! - `cli`: the command line
//!
//! Nothing above `clock` knows what time it is: `now` is an argument everywhere else.

pub mod apiary;
#[cfg(feature = "cli")]
pub mod cli;
pub mod clock;
pub mod engine;
pub mod plan;
pub mod schedule;
pub mod store;
pub mod time;
pub mod wire;

/// The examples of the README, held to compile and to be right.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
