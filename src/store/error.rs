//! What a store can refuse, as data.

/// An error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process held the store past the timeout. Nothing was changed.
    #[error("the store is locked by another process")]
    Busy,
    /// The file is not a store of this program. Nothing was changed.
    #[error("`{path}` is not a windowpane store: {problem}")]
    Foreign {
        /// The file.
        path: String,
        /// How that shows.
        problem: String,
    },
    /// The store was written by a newer version. Nothing was changed.
    #[error("`{path}` has store format {found}, and this program knows formats up to {known}")]
    Newer {
        /// The file.
        path: String,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// A row exists already: a rule of this program was broken.
    #[error("a row of `{table}` exists already")]
    Conflict {
        /// The table.
        table: &'static str,
    },
    /// A row that was to be changed is not there: a rule of this program was broken.
    #[error("a row of `{table}` is missing")]
    Missing {
        /// The table.
        table: &'static str,
    },
    /// A row breaks a constraint of the store: a rule of this program was broken.
    #[error("a row of `{table}` was refused: {problem}")]
    Refused {
        /// The table.
        table: &'static str,
        /// What the engine below said.
        problem: String,
    },
    /// A transaction that only reads was asked to write.
    #[error("a transaction that only reads cannot write to `{table}`")]
    ReadOnly {
        /// The table.
        table: &'static str,
    },
    /// A row is not what was written.
    #[error("a row of `{table}` is damaged: {problem}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The file itself is damaged.
    #[error("the store `{path}` is damaged: {problem}")]
    Damaged {
        /// The file.
        path: String,
        /// What the engine below said.
        problem: String,
    },
    /// There is no store where one is only to be read.
    #[error("there is no store `{path}`")]
    NoStore {
        /// The file.
        path: String,
    },
    /// The store cannot be opened, read or written.
    #[error("the store `{path}` failed: {problem}")]
    Unavailable {
        /// The file or address, without any secret.
        path: String,
        /// What the engine below said.
        problem: String,
    },
}

impl StoreError {
    /// True when the same transaction may succeed if it is run again.
    pub fn is_retryable(&self) -> bool {
        matches!(self, StoreError::Busy)
    }

    /// The stable word for this error.
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Busy => "store_locked",
            StoreError::Foreign { .. } => "not_a_store",
            StoreError::Newer { .. } => "newer_store",
            StoreError::Conflict { .. } => "conflicting_row",
            StoreError::Missing { .. } => "missing_row",
            StoreError::Refused { .. } => "refused_row",
            StoreError::ReadOnly { .. } => "read_only",
            StoreError::Corrupt { .. } => "damaged_row",
            StoreError::Damaged { .. } => "damaged_store",
            StoreError::NoStore { .. } => "no_store",
            StoreError::Unavailable { .. } => "store_failed",
        }
    }

    /// What to do about it, where there is something to do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StoreError::Busy => {
                Some("try again, or look for a process that holds a transaction open")
            }
            StoreError::Foreign { .. } => {
                Some("name another file; a new one is made where none exists")
            }
            StoreError::Newer { .. } => {
                Some("use a windowpane at least as new as the one that wrote it")
            }
            StoreError::Corrupt { .. } | StoreError::Damaged { .. } => {
                Some("keep the file for diagnosis, and restore a backup")
            }
            StoreError::NoStore { .. } => Some("`sync` makes one"),
            StoreError::Conflict { .. }
            | StoreError::Missing { .. }
            | StoreError::Refused { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::Unavailable { .. } => None,
        }
    }
}
