//! Hands out owed runs.

use crate::clock::Clock;
use crate::store::Store;
use crate::store::record::{RunRecord, SkipRecord, Trigger};
use crate::time::Instant;

use super::EngineError;

/// What a worker asks for.
pub struct ClaimRequest<'a> {
    /// The worker's name.
    pub worker: &'a str,
    /// At most this many runs.
    pub limit: usize,
    /// How long each lease lasts, in milliseconds, at least 1.
    pub lease_ms: i64,
    /// Only workflows whose ref passes.
    pub matches: &'a dyn Fn(&str) -> bool,
    /// Only runs with this trigger.
    pub trigger: Option<Trigger>,
}

/// What a claim did.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The instant at which it was done.
    pub now: Instant,
    /// The runs handed out, in the order of their turns.
    pub runs: Vec<RunRecord>,
    /// What was settled without a run.
    pub skipped: Vec<SkipRecord>,
    /// The earliest instant after `now` at which anything becomes due or available.
    pub next_due: Option<Instant>,
}

/// The default length of a lease: 5 minutes.
pub const DEFAULT_LEASE_MS: i64 = 5 * 60 * 1_000;

/// Hands out at most `limit` owed runs.
///
/// # Errors
/// [`EngineError::Store`]; nothing was changed.
pub fn claim(
    store: &mut dyn Store,
    clock: &dyn Clock,
    request: &ClaimRequest<'_>,
) -> Result<Claimed, EngineError> {
    let _ = (store, clock, request);
    todo!()
}
