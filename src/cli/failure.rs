//! How a command ends: its exit status, and what it says when it fails.

use std::io;
use std::process::ExitCode;

use crate::engine::EngineError;
use crate::store::StoreError;
use crate::wire::Problem;

use super::console::Console;

/// The exit statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// Done.
    Done = 0,
    /// The input is at fault, or the answer is no.
    Refused = 1,
    /// The command could not be carried out.
    Failed = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command did not do its job.
#[derive(Debug)]
pub(super) enum Failure {
    /// Whoever read our output has gone. That is their right, and no error.
    Closed,
    /// This went wrong.
    Problem(Exit, Problem),
}

impl Failure {
    /// The input is at fault, or the answer is no.
    pub(super) fn refused(code: &'static str, message: String, hint: Option<&str>) -> Failure {
        let hint = hint.map(str::to_owned);
        Failure::Problem(Exit::Refused, Problem { code, message, hint })
    }

    /// Says what went wrong, and gives back the exit status.
    pub(super) fn report(self, console: &Console) -> Exit {
        match self {
            Failure::Closed => Exit::Done,
            Failure::Problem(exit, problem) => {
                console.error(&problem);
                exit
            }
        }
    }

    /// The command could not be carried out.
    pub(super) fn failed(code: &'static str, message: String, hint: Option<&str>) -> Failure {
        let hint = hint.map(str::to_owned);
        Failure::Problem(Exit::Failed, Problem { code, message, hint })
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        let exit = if error.is_refusal() { Exit::Refused } else { Exit::Failed };
        let hint = error.hint().map(str::to_owned);
        Failure::Problem(exit, Problem { code: error.code(), message: error.to_string(), hint })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        EngineError::from(error).into()
    }
}

/// Only our output reports plain IO errors; files that are read have errors of their own.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::failed("output_failed", format!("the output failed: {error}"), None),
        }
    }
}
