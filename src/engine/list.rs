//! The state of each workflow.

use crate::clock::Clock;
use crate::store::Store;
use crate::store::record::Workflow;
use crate::time::Instant;

use super::EngineError;

/// Where one workflow stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The workflow, with its cursor.
    pub workflow: Workflow,
    /// The number of its present revision.
    pub revision: u32,
    /// Its present schedule as canonical JSON; `None` while it is `false`.
    pub schedule: Option<String>,
    /// The due instant of the oldest occurrence that is not settled.
    pub next_due: Option<Instant>,
    /// How long its oldest owed run has been due, in milliseconds; 0 when nothing is owed.
    pub lag_ms: i64,
    /// How many of its runs are claimed under a live lease.
    pub live_claims: u64,
    /// What needs a look: `cursor_ahead`.
    pub incidents: Vec<&'static str>,
}

/// The state of each workflow, ordered by ref.
pub fn list(store: &mut dyn Store, clock: &dyn Clock) -> Result<Vec<Standing>, EngineError> {
    let _ = (store, clock);
    todo!()
}
