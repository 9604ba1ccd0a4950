//! What a check of a whole store finds wrong.

use std::fmt;

/// One thing that is wrong with a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The table that it is wrong with, or `file`.
    pub place: &'static str,
    /// What is wrong, and with which row.
    pub problem: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}
