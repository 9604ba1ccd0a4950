//! What `heartbeat`, `finish` and `release` share: the runs that are meant, and how they stand
//! afterwards.

use std::io;
use std::str::FromStr;

use clap::Args;

use crate::engine::Held;
use crate::store::record::RunRecord;
use crate::store::{RunId, RunIdError};
use crate::wire::{AnswerRow, BatchError, Line, read_batch};

use super::context::Context;
use super::failure::{Exit, Failure};

/// Which run is meant, and the proof that it is held.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// The id of the run as `claim` printed it, or - for JSON Lines of {id, token, …} on standard
    /// input, all or none
    #[arg(value_name = "RUN_ID")]
    id: Named,

    /// The token of the claim
    #[arg(long, value_name = "T")]
    token: Option<i64>,
}

/// What stands for the run.
#[derive(Debug, Clone)]
enum Named {
    Run(RunId),
    StandardInput,
}

impl FromStr for Named {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Named, RunIdError> {
        if text == "-" { Ok(Named::StandardInput) } else { text.parse().map(Named::Run) }
    }
}

impl Target {
    /// The run that the command line means, or the lines of a batch, which may hold `known` beside
    /// id and token. `flags` are those that mean one run, and whether any is given.
    pub(super) fn read(self, known: &[&str], flags: Flags) -> Result<Runs, Failure> {
        match (self.id, self.token, flags) {
            (Named::Run(id), Some(token), _) => Ok(Runs::One(Held { id, token })),
            (Named::Run(_), None, _) => Err(usage("--token is missing")),
            (Named::StandardInput, None, Flags::None) => {
                Ok(Runs::Batch(read_batch(io::stdin().lock(), known)?))
            }
            (Named::StandardInput, ..) => {
                Err(usage("with `-` the lines on standard input say all, so no flag may"))
            }
        }
    }
}

/// Whether any flag is given that says something of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flags {
    None,
    Some,
}

/// The runs that are meant.
pub(super) enum Runs {
    One(Held),
    Batch(Vec<Line>),
}

impl Runs {
    /// Each run with what `flags` or `line` makes of it.
    pub(super) fn with<T>(
        self,
        flags: impl FnOnce() -> Result<T, Failure>,
        line: impl Fn(&Line) -> Result<T, BatchError>,
    ) -> Result<Vec<(Held, T)>, Failure> {
        match self {
            Runs::One(held) => Ok(vec![(held, flags()?)]),
            Runs::Batch(lines) => lines
                .into_iter()
                .map(|read| {
                    let said = line(&read)?;
                    Ok((Held { id: read.id, token: read.token }, said))
                })
                .collect(),
        }
    }
}

/// A command line that cannot be carried out.
pub(super) fn usage(message: &str) -> Failure {
    Failure::failed("usage", message.to_owned(), None)
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Failure {
        match error {
            BatchError::Io { .. } => Failure::failed("unreadable", error.to_string(), None),
            _ => Failure::refused("bad_line", error.to_string(), None),
        }
    }
}

/// Prints how runs stand now.
pub(super) fn print(runs: &[RunRecord], context: &Context) -> Result<Exit, Failure> {
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<AnswerRow<'_>>("runs")?;
    for run in runs {
        rows.row(&AnswerRow(run))?;
    }
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}
