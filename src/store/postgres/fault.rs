//! What PostgreSQL reports, as errors of a store.

use std::error::Error as _;

use postgres::Error;
use postgres::error::SqlState;

use crate::store::StoreError;

/// Turns errors of PostgreSQL into errors of a store.
pub(super) struct Fault;

impl Fault {
    /// An error of the server or of the way to it.
    pub(super) fn of_server(name: &str, error: &Error) -> StoreError {
        let (path, problem) = (name.to_owned(), text(error));
        let Some(code) = error.code() else {
            return StoreError::Unreachable { path, problem };
        };
        match code {
            // Others were in the way, and a second attempt may find it free.
            &SqlState::LOCK_NOT_AVAILABLE
            | &SqlState::T_R_SERIALIZATION_FAILURE
            | &SqlState::T_R_DEADLOCK_DETECTED => StoreError::Busy,
            &SqlState::INVALID_PASSWORD
            | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | &SqlState::INVALID_CATALOG_NAME => StoreError::LoginRefused { path, problem },
            &SqlState::INSUFFICIENT_PRIVILEGE => StoreError::RightDenied { path, problem },
            &SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::ReadOnlyServer { path, problem },
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::CANNOT_CONNECT_NOW
            | &SqlState::TOO_MANY_CONNECTIONS
            | &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => {
                StoreError::Unreachable { path, problem }
            }
            &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => {
                StoreError::Damaged { path, problem }
            }
            _ => StoreError::Unavailable { path, problem },
        }
    }

    /// An error in a statement on `table`.
    pub(super) fn of_table(name: &str, table: &'static str, error: &Error) -> StoreError {
        match error.code() {
            Some(&SqlState::UNIQUE_VIOLATION) => StoreError::Conflict { table },
            Some(&SqlState::CHECK_VIOLATION | &SqlState::NOT_NULL_VIOLATION) => {
                StoreError::Refused { table, problem: text(error) }
            }
            Some(&SqlState::CHARACTER_NOT_IN_REPERTOIRE) => {
                let problem = "PostgreSQL keeps no text with a NUL character".to_owned();
                StoreError::Refused { table, problem }
            }
            _ => Fault::of_server(name, error),
        }
    }

    /// An error while a transaction was committed: whether it was is not known.
    pub(super) fn of_commit(name: &str, error: &Error) -> StoreError {
        match Fault::of_server(name, error) {
            StoreError::Unreachable { path, problem } => StoreError::Unreachable {
                path,
                problem: format!("{problem}, while it was told to keep what was done"),
            },
            other => other,
        }
    }
}

/// What the server said, or the innermost cause of what went wrong here.
fn text(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut cause = error.source();
    while let Some(inner) = cause.and_then(|cause| cause.source()) {
        cause = Some(inner);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}
