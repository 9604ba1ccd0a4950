//! What becomes of an occurrence, as a value.

use crate::plan::{Run, Skip};
use crate::time::Instant;

use super::record::{Attempt, PauseRecord, RunRecord, SkipRecord};

/// What became of one occurrence, of a stretch of them, or of a requested run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The fate, with what is known of it.
    pub fate: Fate,
    /// The pause during which it was due, or by which it was skipped.
    pub pause: Option<PauseRecord>,
}

/// A fate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// There is a record of its run, scheduled or requested; the state of the run is the fate.
    Recorded {
        /// The run.
        run: Box<RunRecord>,
        /// Its attempts before the present one, oldest first.
        past: Vec<Attempt>,
    },
    /// It was skipped, together with all others of the range.
    Skipped(SkipRecord),
    /// The next claim that reaches it skips it, together with all others of the range.
    ToBeSkipped(Skip),
    /// Its run is owed now.
    Owed(Run),
    /// It is not due yet.
    NotYetDue(Run),
    /// It lies before the prune horizon, and no record of it was kept.
    Pruned(Run),
    /// A requested run whose record was pruned.
    PrunedRequest {
        /// Its occurrence.
        occurrence: Instant,
        /// The request.
        request_id: String,
    },
    /// It lies before the registration of its workflow.
    BeforeRegistration(Run),
    /// There are no occurrences: the schedule was `false`, or the workflow retired.
    NoSchedule {
        /// The edit that began it, or the first instant asked about.
        from: Instant,
        /// The edit that ended it, or the end of what was asked about.
        to: Instant,
        /// The number of the revision.
        revision: u32,
    },
}
