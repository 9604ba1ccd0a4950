//! How often the data of a span was evaluated, in words.

/// How often the data of a span was evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cover {
    /// Every window over it succeeded.
    Covered,
    /// As covered, and it was counted more often than the schedule's own windows do.
    Double,
    /// Some window over it is due and has not succeeded, or no window reaches it and none will.
    Missing,
    /// Some window over it is not due yet, and none is missing.
    Pending,
    /// Some window over it lies before the prune horizon, so its record may have been removed.
    Unknown,
}

impl Cover {
    /// Every value.
    pub const ALL: [Cover; 5] =
        [Cover::Covered, Cover::Double, Cover::Missing, Cover::Pending, Cover::Unknown];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cover::Covered => "covered",
            Cover::Double => "double",
            Cover::Missing => "missing",
            Cover::Pending => "pending",
            Cover::Unknown => "unknown",
        }
    }
}
