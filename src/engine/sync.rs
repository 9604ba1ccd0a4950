//! Registers workflows, all or nothing.

use crate::clock::Clock;
use crate::plan::Cut;
use crate::schedule::{Reference, Schedule};
use crate::store::Store;
use crate::time::Instant;

use super::EngineError;

/// How to register.
#[derive(Debug, Clone)]
pub struct SyncOptions<'a> {
    /// The name of the set of documents.
    pub source: &'a str,
    /// What to do with the answer.
    pub mode: SyncMode,
}

/// What to do with the answer of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMode {
    /// Write it.
    Write,
    /// Only tell what would be written.
    DryRun,
}

/// What a sync did.
#[derive(Debug, Clone)]
pub struct SyncReport {
    /// The instant at which it was done.
    pub now: Instant,
    /// One entry for each workflow, in the order given.
    pub workflows: Vec<Synced>,
}

/// What a sync did with one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced {
    /// The workflow.
    pub reference: String,
    /// What changed.
    pub change: Change,
    /// The number of the present revision.
    pub revision: u32,
}

/// What a sync changed of one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It was not known.
    New,
    /// A new revision began.
    Edited {
        /// Where the old revision ends and the new begins.
        cut: Cut,
    },
    /// Only policies changed, which start no revision.
    Policies,
    /// Nothing.
    Unchanged,
}

/// Registers workflows, all or nothing; `None` is a schedule that is `false`.
///
/// # Errors
/// [`EngineError`]; nothing was registered.
pub fn sync(
    store: &mut dyn Store,
    clock: &dyn Clock,
    workflows: &[(Reference, Option<Schedule>)],
    options: &SyncOptions<'_>,
) -> Result<SyncReport, EngineError> {
    let _ = (store, clock, workflows, options);
    todo!()
}
