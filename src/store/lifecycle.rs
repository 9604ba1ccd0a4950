//! What may happen to a run: pure transitions on its record.

/// How a worker ends its attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish<'a> {
    /// How it ended.
    pub status: FinishStatus,
    /// What to say of a failure.
    pub error: Option<&'a str>,
    /// JSON text to keep as the run's output.
    pub output: Option<&'a str>,
}

/// How a worker says that its attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishStatus {
    /// Well.
    Succeeded,
    /// Not well; final, unless `retry_in_ms` asks for another attempt.
    Failed {
        /// Make the run pending again, not before now + this many milliseconds (at least 0),
        /// as long as attempts are left.
        retry_in_ms: Option<i64>,
    },
}
