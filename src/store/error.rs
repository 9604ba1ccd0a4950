//! What a store can refuse, as data.

/// An error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process held the store past the timeout. Nothing was changed.
    #[error("the store is locked by another process")]
    Busy,
    /// The server undid the transaction because others were in its way. Nothing was changed.
    #[error("`{path}` undid the transaction: {problem}")]
    RolledBack {
        /// The address, without any secret.
        path: String,
        /// What the server said.
        problem: String,
    },
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
    /// The connection to the store was lost, or could not be made. Nothing was changed.
    #[error("the connection to `{path}` failed: {problem}")]
    Unreachable {
        /// The address, without any secret.
        path: String,
        /// What the engine below said.
        problem: String,
    },
    /// The connection was lost while a transaction was committed, and the server could not be asked
    /// what became of it: it was carried out, or it was not.
    #[error(
        "the connection to `{path}` failed: {problem}; whether the change was kept is not known"
    )]
    UnknownOutcome {
        /// The address, without any secret.
        path: String,
        /// What the engine below said.
        problem: String,
    },
    /// The server has as many connections as it takes. Nothing was changed.
    #[error("`{path}` takes no more connections: {problem}")]
    TooManyConnections {
        /// The address, without any secret.
        path: String,
        /// What the server said.
        problem: String,
    },
    /// The connection cannot be encrypted as the address wants it, or the server is not trusted.
    #[error("the connection to `{path}` cannot be protected: {problem}")]
    Unprotected {
        /// The address, without any secret.
        path: String,
        /// What is in the way.
        problem: String,
    },
    /// The server knows no such user, password or database, or lets it in from elsewhere only.
    #[error("`{path}` refused the login: {problem}")]
    LoginRefused {
        /// The address, without any secret.
        path: String,
        /// What the server said.
        problem: String,
    },
    /// The user may not do on the server what a store needs.
    #[error("`{path}` denies a right: {problem}")]
    RightDenied {
        /// The address, without any secret.
        path: String,
        /// What the server said.
        problem: String,
    },
    /// The server only lets its data be read. Nothing was changed.
    #[error("`{path}` can only be read: {problem}")]
    ReadOnlyServer {
        /// The address, without any secret.
        path: String,
        /// What the server said.
        problem: String,
    },
    /// The address of a store is not one.
    #[error("the address of the store is not one: {problem}")]
    BadAddress {
        /// What is wrong with it, without any secret.
        problem: String,
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
        matches!(
            self,
            StoreError::Busy
                | StoreError::RolledBack { .. }
                | StoreError::Unreachable { .. }
                | StoreError::UnknownOutcome { .. }
                | StoreError::TooManyConnections { .. }
        )
    }

    /// The stable word for this error.
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Busy => "store_locked",
            StoreError::RolledBack { .. } => "rolled_back",
            StoreError::Foreign { .. } => "not_a_store",
            StoreError::Newer { .. } => "newer_store",
            StoreError::Conflict { .. } => "conflicting_row",
            StoreError::Missing { .. } => "missing_row",
            StoreError::Refused { .. } => "refused_row",
            StoreError::ReadOnly { .. } => "read_only",
            StoreError::Corrupt { .. } => "damaged_row",
            StoreError::Damaged { .. } => "damaged_store",
            StoreError::NoStore { .. } => "no_store",
            StoreError::Unreachable { .. } => "store_unreachable",
            StoreError::UnknownOutcome { .. } => "unknown_outcome",
            StoreError::TooManyConnections { .. } => "too_many_connections",
            StoreError::Unprotected { .. } => "unprotected",
            StoreError::LoginRefused { .. } => "login_refused",
            StoreError::RightDenied { .. } => "right_denied",
            StoreError::ReadOnlyServer { .. } => "read_only_server",
            StoreError::BadAddress { .. } => "bad_address",
            StoreError::Unavailable { .. } => "store_failed",
        }
    }

    /// What to do about it, where there is something to do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StoreError::Busy => {
                Some("try again, or look for a process that holds a transaction open")
            }
            StoreError::RolledBack { .. } => Some("the same command may be given again"),
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
            StoreError::Unreachable { .. } => Some(
                "see that the server runs and can be reached; the same command may be given again",
            ),
            StoreError::UnknownOutcome { .. } => Some(
                "look at the records, or give the same command again: it changes nothing twice, and \
                 runs of a lost `claim` come back when their lease expires",
            ),
            StoreError::TooManyConnections { .. } => Some(
                "raise max_connections of the server, or start fewer processes: a command holds one \
                 connection, a runner two",
            ),
            StoreError::Unprotected { .. } => Some(
                "verify-full wants a certificate for the host's name, from an authority that the \
                 system or the file of sslrootcert trusts; see ssl in postgresql.conf",
            ),
            StoreError::LoginRefused { .. } => {
                Some("check the user, the password and the database in the URL, and pg_hba.conf")
            }
            StoreError::RightDenied { .. } => Some(
                "GRANT the user CREATE on the database, or make the schema and its owner beforehand",
            ),
            StoreError::ReadOnlyServer { .. } => Some("name the primary, not a replica"),
            StoreError::BadAddress { .. } => Some(
                "postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME&sslmode=verify-full; write \
                 @ : / ? in a password as %40 %3A %2F %3F",
            ),
            StoreError::Conflict { .. }
            | StoreError::Missing { .. }
            | StoreError::Refused { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::Unavailable { .. } => None,
        }
    }
}
