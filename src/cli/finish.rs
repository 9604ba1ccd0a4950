//! `finish`: ends the attempts at runs.

use clap::{Args, ValueEnum};

use crate::engine;
use crate::store::lifecycle::{self, Verdict};
use crate::wire::{BatchError, Line};

use super::args::{self, Db};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::lease::{self, Flags, Target, usage};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Finish {
    #[command(flatten)]
    target: Target,

    #[command(flatten)]
    db: Db,

    #[command(flatten)]
    end: End,
}

/// What there is to say of the end of one attempt.
#[derive(Debug, Args)]
struct End {
    /// How it ended
    #[arg(long)]
    status: Option<Status>,

    /// What to keep as the error of a failure
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,

    /// What to keep as the run's output
    #[arg(long, value_name = "JSON", value_parser = args::output)]
    output: Option<String>,

    /// After a failure, try again no earlier than in D, as long as attempts are left
    #[arg(long, value_name = "D", value_parser = args::duration_ms)]
    retry_in: Option<i64>,
}

/// The values of `--status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Status {
    /// Well
    Succeeded,
    /// Not well
    Failed,
}

pub(super) fn finish(args: Finish, context: &Context) -> Result<Exit, Failure> {
    let Finish { target, db, end } = args;
    let flags = end.flags();
    let runs = target.read(&["status", "error", "output", "retry_in"], flags)?;
    let ends = runs.with(
        || end.check().map_err(|problem| usage(&format!("--{problem}"))),
        |line| End::of_line(line)?.check().map_err(|problem| line.fault(problem)),
    )?;
    let mut store = store::open(&db.url, Access::Existing, context)?;
    let runs = engine::finish_all(&mut *store, &*context.clock, &ends)?;
    lease::print(&runs, context)
}

impl End {
    fn flags(&self) -> Flags {
        match self {
            End { status: None, error: None, output: None, retry_in: None } => Flags::None,
            _ => Flags::Some,
        }
    }

    /// What a line of a batch says.
    fn of_line(line: &Line) -> Result<End, BatchError> {
        let status = line.text("status")?.map(|word| Status::from_str(&word, false)).transpose();
        let retry_in = line.text("retry_in")?.map(|text| args::duration_ms(&text)).transpose();
        Ok(End {
            status: status.map_err(|_| line.fault("status must be `succeeded` or `failed`"))?,
            error: line.text("error")?,
            output: line.output()?,
            retry_in: retry_in.map_err(|problem| line.fault(format!("retry_in: {problem}")))?,
        })
    }

    /// The end, if all of it goes together.
    fn check(self) -> Result<lifecycle::Finish, &'static str> {
        let verdict = match (self.status, &self.error, self.retry_in) {
            (None, ..) => return Err("status is missing"),
            (Some(Status::Failed), _, retry_in_ms) => Verdict::Failed { retry_in_ms },
            (Some(Status::Succeeded), None, None) => Verdict::Succeeded,
            (Some(Status::Succeeded), Some(_), _) => {
                return Err("error belongs to a failure only");
            }
            (Some(Status::Succeeded), None, Some(_)) => {
                return Err("retry-in belongs to a failure only");
            }
        };
        Ok(lifecycle::Finish { verdict, error: self.error, output: self.output })
    }
}
