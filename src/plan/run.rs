//! One planned run, one skipped range, and what can go wrong in planning them.

use crate::time::{Authored, Instant, Window};

/// A run of one occurrence as its revision defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The nominal instant; identity.
    pub occurrence: Instant,
    /// When the run may start.
    pub due: Instant,
    /// The half-open span of data that the run evaluates.
    pub window: Window,
    /// The span from the previous occurrence to this one, in milliseconds, at least 1,000.
    pub interval_ms: i64,
    /// The offset from the occurrence to the start of the run, in milliseconds. `due` is earlier
    /// than `occurrence + phase_ms` only where the next revision has begun to be due.
    pub phase_ms: i64,
    /// The number of the revision, counted from 1.
    pub revision: u32,
    /// The local time that the schedule names (an interval's is UTC).
    pub authored: Authored,
}

/// Occurrences that will not run: contiguous in the timeline, one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skip {
    /// The oldest of them.
    pub first: Instant,
    /// The newest of them; equal to `first` for one.
    pub last: Instant,
    /// How many, at least 1.
    pub count: u64,
    /// Why.
    pub reason: SkipReason,
    /// The revision of `last`.
    pub revision: u32,
}

/// Why an occurrence does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// It fell between registration and the newest occurrence of a first run.
    FirstRun,
    /// A newer occurrence was due, and only the newest is kept.
    Superseded,
    /// More were missed than the backfill limit keeps.
    BeyondLimit,
    /// It was later than `max_age` allows.
    TooOld,
    /// A run of the workflow was still going on.
    Overlap,
    /// It was dropped at the end of a pause.
    Paused,
    /// Its workflow was retired.
    Retired,
    /// A new tz database moved it before what was settled, by its authored local time.
    TzChange,
    /// A new tz database moved it behind the cursor.
    TzPassed,
    /// The cursor was set past it by hand.
    CursorSet,
}

impl SkipReason {
    /// The word that records use.
    pub const fn as_str(self) -> &'static str {
        match self {
            SkipReason::FirstRun => "first_run",
            SkipReason::Superseded => "superseded",
            SkipReason::BeyondLimit => "beyond_limit",
            SkipReason::TooOld => "too_old",
            SkipReason::Overlap => "overlap",
            SkipReason::Paused => "paused",
            SkipReason::Retired => "retired",
            SkipReason::TzChange => "tz_change",
            SkipReason::TzPassed => "tz_passed",
            SkipReason::CursorSet => "cursor_set",
        }
    }
}

/// What can go wrong in planning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The window or the due instant of an occurrence lies outside the range of instants.
    #[error("the {what} of the occurrence {occurrence} lies outside the range of instants")]
    Range {
        /// `window` or `due instant`.
        what: &'static str,
        /// The occurrence.
        occurrence: Instant,
    },
}

impl PlanError {
    /// The occurrence that cannot be planned.
    pub fn occurrence(&self) -> Instant {
        match self {
            PlanError::Range { occurrence, .. } => *occurrence,
        }
    }
}
