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
            // The client tells these apart in its text only.
            let kind = error.to_string();
            return if kind.starts_with("error performing TLS handshake") {
                StoreError::Unprotected { path, problem }
            } else if kind.starts_with("invalid configuration") {
                // The server asks for what the address does not hold: a password.
                StoreError::LoginRefused { path, problem }
            } else {
                StoreError::Unreachable { path, problem }
            };
        };
        match code {
            &SqlState::LOCK_NOT_AVAILABLE => StoreError::Busy,
            &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED => {
                StoreError::RolledBack { path, problem }
            }
            &SqlState::INVALID_PASSWORD
            | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | &SqlState::INVALID_CATALOG_NAME => StoreError::LoginRefused { path, problem },
            &SqlState::INSUFFICIENT_PRIVILEGE => StoreError::RightDenied { path, problem },
            &SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::ReadOnlyServer { path, problem },
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::CANNOT_CONNECT_NOW
            | &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => {
                StoreError::Unreachable { path, problem }
            }
            &SqlState::TOO_MANY_CONNECTIONS => StoreError::TooManyConnections { path, problem },
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
