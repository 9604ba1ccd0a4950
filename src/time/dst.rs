//! What becomes of a local time that a clock change skips or repeats.

use std::fmt;

use super::local::date_time;

/// What to do with a local time that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Gap {
    /// Read it with the offset in force before the change: 02:30 becomes 03:30.
    #[default]
    Shift,
    /// Take the first instant after the gap: 02:30 becomes 03:00.
    Next,
    /// Drop it.
    Skip,
}

/// What to do with a local time that occurs twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fold {
    /// Take the earlier instant.
    #[default]
    First,
    /// Take the later instant.
    Last,
    /// Both are occurrences.
    Both,
}

/// The two policies of a calendar cadence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Dst {
    /// Local times that do not exist.
    pub gap: Gap,
    /// Local times that occur twice.
    pub fold: Fold,
}

/// How an authored local time became its instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// It exists once.
    Exact,
    /// It does not exist and was read with the offset before the change.
    GapShifted,
    /// It does not exist and became the first instant after the gap.
    GapNext,
    /// It exists twice; this is the earlier instant.
    FoldFirst,
    /// It exists twice; this is the later instant.
    FoldLast,
}

impl Resolution {
    /// The word that records use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Resolution::Exact => "exact",
            Resolution::GapShifted => "gap_shifted",
            Resolution::GapNext => "gap_next",
            Resolution::FoldFirst => "fold_first",
            Resolution::FoldLast => "fold_last",
        }
    }
}

/// The local time that a schedule names, and how it became the instant of an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Authored {
    /// The local time in milliseconds as if it were UTC: 1970-01-01T02:30 is 9,000,000.
    pub local_ms: i64,
    /// How it was resolved.
    pub resolution: Resolution,
}

impl fmt::Display for Authored {
    /// The local time without an offset, such as `2026-03-29T02:30:00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&date_time(self.local_ms))
    }
}
