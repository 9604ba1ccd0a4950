//! What SQLite reports, as errors of a store.

use rusqlite::{Error, ErrorCode, ffi};

use crate::store::StoreError;

/// Turns errors of SQLite into errors of a store.
pub(super) struct Fault;

impl Fault {
    /// An error on the file `path` as a whole.
    pub(super) fn of_file(path: &str, error: Error) -> StoreError {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
            Some(ErrorCode::NotADatabase) => {
                StoreError::Foreign { path, problem: "it is no SQLite database".to_owned() }
            }
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, problem: text(&error) },
            code => StoreError::Unavailable { path, problem: plain(code, &error) },
        }
    }

    /// An error in a statement on `table`.
    pub(super) fn of_table(path: &str, table: &'static str, error: Error) -> StoreError {
        match &error {
            Error::SqliteFailure(failure, _) if failure.code == ErrorCode::ConstraintViolation => {
                of_constraint(table, failure.extended_code, &error)
            }
            Error::InvalidColumnType(_, column, found) => {
                let problem = format!("the column `{column}` is {found}").to_lowercase();
                StoreError::Corrupt { table, problem }
            }
            Error::IntegralValueOutOfRange(_, number) => {
                StoreError::Corrupt { table, problem: format!("`{number}` is out of range") }
            }
            Error::FromSqlConversionFailure(..) | Error::Utf8Error(..) => {
                StoreError::Corrupt { table, problem: "a text is not UTF-8".to_owned() }
            }
            _ => Fault::of_file(path, error),
        }
    }
}

fn of_constraint(table: &'static str, code: i32, error: &Error) -> StoreError {
    match code {
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_ROWID => StoreError::Conflict { table },
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => StoreError::Missing { table: parent_of(table) },
        _ => StoreError::Refused { table, problem: text(error) },
    }
}

/// The table whose rows those of `table` belong to.
fn parent_of(table: &'static str) -> &'static str {
    if table == "attempt" { "run" } else { "workflow" }
}

/// The error in words that help who meets it.
fn plain(code: Option<ErrorCode>, error: &Error) -> String {
    let words = match code {
        Some(ErrorCode::DiskFull) => "the disk is full",
        Some(ErrorCode::ReadOnly) => "it can only be read",
        Some(ErrorCode::CannotOpen) => {
            "it cannot be opened; the file and its folder must be writable"
        }
        Some(ErrorCode::PermissionDenied) => "permission denied",
        Some(ErrorCode::SystemIoFailure) => "reading or writing failed",
        Some(ErrorCode::TooBig) => "a value is too long",
        _ => return text(error),
    };
    match error {
        Error::SqliteFailure(failure, _) => format!("{words} (SQLite {})", failure.extended_code),
        _ => words.to_owned(),
    }
}

fn text(error: &Error) -> String {
    match error {
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}
