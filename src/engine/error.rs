//! What an operation on the records can refuse, as data.

use crate::plan::PlanError;
use crate::store::lifecycle::LifecycleError;
use crate::store::record::ClockKind;
use crate::store::{RunId, StoreError};
use crate::time::{Instant, tzdb_version};

/// An error of an operation on the records. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An occurrence cannot be planned.
    #[error("`{reference}`: {source}")]
    Plan {
        /// The workflow.
        reference: String,
        /// Why.
        source: PlanError,
    },
    /// There is no such workflow.
    #[error("there is no workflow `{reference}`")]
    UnknownWorkflow {
        /// The name as given.
        reference: String,
    },
    /// There is no such run.
    #[error("there is no run `{id}`")]
    UnknownRun {
        /// The run id as given.
        id: RunId,
    },
    /// The run does not allow what was asked.
    #[error("`{id}`: {source}")]
    Refused {
        /// The run.
        id: RunId,
        /// Why.
        source: LifecycleError,
    },
    /// The workflow was registered by another source.
    #[error("`{reference}` belongs to the source `{owner}`, not to `{source_name}`")]
    OtherSource {
        /// The workflow.
        reference: String,
        /// The source that registered it.
        owner: String,
        /// The source as given.
        source_name: String,
    },
    /// The workflow to be imported is registered already.
    #[error("`{reference}` is registered already, by the source `{owner}`")]
    AlreadyRegistered {
        /// The workflow.
        reference: String,
        /// The source that registered it.
        owner: String,
    },
    /// The cursor is to be set back, and is not ahead of now.
    #[error(
        "the cursor of `{reference}` stands at {cursor}, and only one ahead of now is set back: what was settled since {to} would be unsettled again"
    )]
    CursorNotAhead {
        /// The workflow.
        reference: String,
        /// Where its cursor stands, or its registration where it has none.
        cursor: Instant,
        /// Where it was to be set.
        to: Instant,
    },
    /// The cursor of a workflow that is retired is to be set back.
    #[error("`{reference}` is retired, so nothing of it would be owed again")]
    Retired {
        /// The workflow.
        reference: String,
    },
    /// The cursor is to be set back to where there are no records any more.
    #[error(
        "the records of `{reference}` before {horizon} are pruned, so nobody knows what ran since {to}"
    )]
    BehindHorizon {
        /// The workflow.
        reference: String,
        /// Of occurrences before it there may be no record.
        horizon: Instant,
        /// Where the cursor was to be set.
        to: Instant,
    },
    /// A request for runs cannot be carried out.
    #[error("{problem}")]
    BadRequest {
        /// Why.
        problem: String,
    },
    /// Absent workflows are to be retired, and no document was read: that would retire all.
    #[error(
        "no document was read, so all workflows of the source `{source_name}` would be retired"
    )]
    NothingLeft {
        /// The source as given.
        source_name: String,
    },
    /// One ref is given twice.
    #[error("`{reference}` is given twice")]
    RepeatedReference {
        /// The workflow.
        reference: String,
    },
    /// Records are to be copied to a store that has some already.
    #[error("there are records in the store to copy to")]
    NotEmpty,
    /// The store lives by the other kind of clock.
    #[error("this store lives by the {} clock", store.as_str())]
    OtherClock {
        /// The store's kind.
        store: ClockKind,
    },
    /// The store was written under a newer tz database, and has calendar cadences.
    #[error("this store follows the tz database {store}, and this program has {ours}", ours = tzdb_version())]
    OlderTzdb {
        /// The version that the store was last written under.
        store: String,
    },
    /// The record of a revision cannot be read by this program.
    #[error("revision {number} of `{reference}` cannot be read")]
    UnreadableRevision {
        /// The workflow.
        reference: String,
        /// The revision.
        number: u32,
    },
}

impl EngineError {
    /// The stable word for this error.
    pub fn code(&self) -> &'static str {
        match self {
            EngineError::Store(error) => error.code(),
            EngineError::Plan { .. } => "out_of_range",
            EngineError::UnknownWorkflow { .. } => "unknown_workflow",
            EngineError::UnknownRun { .. } => "unknown_run",
            EngineError::Refused { source, .. } => source.code(),
            EngineError::OtherSource { .. } => "other_source",
            EngineError::AlreadyRegistered { .. } => "already_registered",
            EngineError::CursorNotAhead { .. } => "cursor_not_ahead",
            EngineError::Retired { .. } => "retired",
            EngineError::BehindHorizon { .. } => "behind_horizon",
            EngineError::BadRequest { .. } => "bad_request",
            EngineError::NothingLeft { .. } => "nothing_left",
            EngineError::RepeatedReference { .. } => "repeated_ref",
            EngineError::NotEmpty => "not_empty",
            EngineError::OtherClock { .. } => "other_clock",
            EngineError::OlderTzdb { .. } => "older_tzdb",
            EngineError::UnreadableRevision { .. } => "unreadable_revision",
        }
    }

    /// What to do about it, where there is something to do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            EngineError::Store(error) => error.hint(),
            EngineError::Refused { source, .. } if source.is_lost_lease() => {
                Some("the run was handed to another worker or has ended; stop working on it")
            }
            EngineError::OtherSource { .. } => {
                Some("sync it under that --source, or give it another ref")
            }
            EngineError::AlreadyRegistered { .. } => {
                Some("the store knows best how far it has come; leave it out to import the others")
            }
            EngineError::NotEmpty => Some("name a new file, or another schema"),
            EngineError::CursorNotAhead { .. } => {
                Some("ask for runs again with `request REF --from T --to T --id ID`")
            }
            EngineError::Retired { .. } => Some("sync its document first"),
            EngineError::BehindHorizon { .. } => Some("set it to the horizon or later"),
            EngineError::OtherClock { store: ClockKind::Test } => {
                Some("it was first written under --now, so every write needs --now")
            }
            EngineError::OtherClock { store: ClockKind::System } => {
                Some("leave out --now, or try it on a store of its own")
            }
            EngineError::OlderTzdb { .. } => Some(
                "calendar cadences may be elsewhere under it: use a newer windowpane, or write with --accept-older-tzdb",
            ),
            EngineError::UnreadableRevision { .. } => {
                Some("use a windowpane at least as new as the one that wrote it")
            }
            _ => None,
        }
    }

    /// True when the worker no longer holds the run that it names.
    pub fn is_lost_lease(&self) -> bool {
        matches!(self, EngineError::Refused { source, .. } if source.is_lost_lease())
    }

    /// True when the input or the state of the records says no; false when the operation could
    /// not be carried out.
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            EngineError::Store(_)
                | EngineError::UnreadableRevision { .. }
                | EngineError::OtherClock { .. }
                | EngineError::OlderTzdb { .. }
        )
    }
}
