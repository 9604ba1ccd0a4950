//! Schedules as authors write them: strict reading of JSON into a checked [`Schedule`].

mod canonical;
mod code;
mod describe;
mod document;
mod fault;
mod raw;
mod reader;
mod reference;
mod span;

pub use code::{Code, Severity};
pub use document::{Document, Documents, Form, ScheduleError, read_documents, read_schedule};
pub use fault::{Fault, Part};
pub(crate) use raw::is_deceptive;
pub use reader::Declaration;
pub use reference::{Reference, ReferenceError};
pub use span::locate;

use crate::time::{Cadence, Interval, PHASE_CAP_MS, spread_phase_ms};

/// A checked schedule: every default filled in, every rule of the format held.
///
/// It has two halves. The [`Definition`] says when a workflow occurs and over which data;
/// changing it is an edit, which starts a new revision. The [`Policies`] say what to do about
/// what was missed; the present ones always decide.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// When it occurs, and over which data.
    pub definition: Definition,
    /// What to do about missed and overlapping runs.
    pub policies: Policies,
}

/// When a workflow occurs, when its runs start, and which data they evaluate.
///
/// Held in a canonical form: two definitions are equal when they mean the same, however they
/// were spelled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Definition {
    pub(crate) cadence: Cadence,
    pub(crate) delay_ms: i64,
    pub(crate) window_ms: Option<i64>,
    pub(crate) phase: Phase,
}

/// How the start of a run is offset from its occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Exactly this many milliseconds, at least 0.
    Fixed {
        /// The offset.
        phase_ms: i64,
    },
    /// A hash of the ref modulo this many milliseconds, at least 1.
    Spread {
        /// The exclusive upper bound of the phase.
        cap_ms: i64,
    },
}

/// What to do about missed and overlapping runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policies {
    /// Which of the missed occurrences are still run.
    pub catch_up: CatchUp,
    /// A run more than this late is not owed: milliseconds, at least 0.
    pub max_age_ms: Option<i64>,
    /// What a workflow without a cursor owes.
    pub first_run: FirstRun,
    /// Whether runs of one ref may be claimed at the same time.
    pub overlap: Overlap,
    /// How often one run may be handed out, 1 to 100.
    pub max_attempts: u32,
}

/// Which of the missed occurrences are still run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CatchUp {
    /// None: only the newest due occurrence.
    Latest,
    /// At most this many of the newest missed ones, 1 to 100,000, oldest first.
    Backfill {
        /// How many.
        limit: u32,
    },
}

/// What a workflow without a cursor owes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FirstRun {
    /// The newest due occurrence, even one from before registration.
    #[default]
    Newest,
    /// Only occurrences after registration.
    Next,
}

/// Whether runs of one ref may be claimed at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Overlap {
    /// Any number.
    #[default]
    Allow,
    /// One; the next waits.
    Wait,
    /// One; what becomes due before it ends is skipped.
    Skip,
}

impl Overlap {
    /// The word that schedules use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Overlap::Allow => "allow",
            Overlap::Wait => "wait",
            Overlap::Skip => "skip",
        }
    }
}

impl Policies {
    /// The default of [`Policies::max_attempts`].
    pub const DEFAULT_MAX_ATTEMPTS: u32 = 3;
    /// The largest [`Policies::max_attempts`].
    pub const MAX_ATTEMPTS_LIMIT: u32 = 100;
    /// The largest limit of [`CatchUp::Backfill`].
    pub const BACKFILL_LIMIT: u32 = 100_000;
}

impl Default for Policies {
    fn default() -> Policies {
        Policies {
            catch_up: CatchUp::Latest,
            max_age_ms: None,
            first_run: FirstRun::default(),
            overlap: Overlap::default(),
            max_attempts: Policies::DEFAULT_MAX_ATTEMPTS,
        }
    }
}

impl Phase {
    /// The cap of an interval's phase where the author names none: the interval or 15 minutes,
    /// whichever is shorter.
    pub fn default_of(interval: Interval) -> Phase {
        Phase::Spread { cap_ms: PHASE_CAP_MS.min(interval.as_ms()) }
    }
}

impl Definition {
    /// When it occurs.
    pub fn cadence(&self) -> &Cadence {
        &self.cadence
    }

    /// How far the window ends before the occurrence, in milliseconds, at least 0.
    pub fn delay_ms(&self) -> i64 {
        self.delay_ms
    }

    /// The length of the window in milliseconds, at least 1, or `None` where it reaches back to
    /// the end of the previous window. An interval as long as its window has `None`.
    pub fn window_ms(&self) -> Option<i64> {
        self.window_ms
    }

    /// How the start of a run is offset from its occurrence.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The offset from an occurrence to the start of its run for the workflow `reference`, in
    /// milliseconds. It never changes between versions, hosts or restarts.
    pub fn phase_ms(&self, reference: &Reference) -> i64 {
        match self.phase {
            Phase::Fixed { phase_ms } => phase_ms,
            Phase::Spread { cap_ms } => spread_phase_ms(reference.as_str(), cap_ms),
        }
    }
}
