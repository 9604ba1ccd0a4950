//! What windows run now, without changing anything.

use crate::clock::Clock;
use crate::plan::{Run, Skip};
use crate::store::Store;
use crate::store::record::Trigger;
use crate::time::Instant;

use super::EngineError;

/// What a claim without a limit would do now.
#[derive(Debug, Clone)]
pub struct Due {
    /// The instant that was asked about.
    pub now: Instant,
    /// The owed and open runs, in the order in which claims would hand them out.
    pub runs: Vec<DueRun>,
    /// What would be settled without a run.
    pub skipped: Vec<(String, Skip)>,
    /// The earliest instant after `now` at which anything becomes due or available.
    pub next_due: Option<Instant>,
}

/// One run that would be handed out now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRun {
    /// The workflow.
    pub reference: String,
    /// The run.
    pub plan: Run,
    /// What caused it.
    pub trigger: Trigger,
    /// Empty for scheduled runs.
    pub request_id: String,
    /// The number that its next attempt would have, from 1.
    pub attempt: u32,
}

/// What windows run now.
///
/// # Errors
/// [`EngineError::Store`].
pub fn due(store: &mut dyn Store, clock: &dyn Clock) -> Result<Due, EngineError> {
    let _ = (store, clock);
    todo!()
}
