//! An account of a store, kept apart from the code under test: what every occurrence came to, and
//! what may have become of each record since the account before.
//!
//! It uses the arithmetic of cadences, which has tests of its own against independent programs, and
//! nothing of the engine.

mod changes;
mod fates;
mod snapshot;

use std::fmt;

pub(crate) use changes::{Act, changes};
pub(crate) use fates::{count_in, faults, settled, still_to_come};
pub(crate) use snapshot::{Kept, Snapshot};

/// One thing that is wrong with the records.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    what: String,
}

/// How it is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// An occurrence was settled and has no fate, or a record is gone.
    Lost,
    /// An occurrence has two fates.
    Twice,
    /// A record is past the cursor, or a run is not one of the timeline.
    Stray,
    /// Two leases on one occurrence, or on one workflow that runs alone, at one time.
    Together,
    /// A token was handed out twice, or did not grow.
    Token,
    /// What was final changed, or a run went where it may not go.
    Transition,
    /// What was done was not allowed to be done there.
    Forbidden,
}

impl Fault {
    pub(crate) fn new(kind: Kind, what: impl Into<String>) -> Fault {
        Fault { kind, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.what)
    }
}
