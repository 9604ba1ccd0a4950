//! `finish`: ends the attempt at a run.

use clap::{Args, ValueEnum};

use crate::engine;
use crate::store::lifecycle;

use super::args::{self, Db};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::lease::{self, Held};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Finish {
    #[command(flatten)]
    held: Held,

    #[command(flatten)]
    db: Db,

    /// How it ended
    #[arg(long)]
    status: Status,

    /// What to keep as the error of a failure
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,

    /// What to keep as the run's output
    #[arg(long, value_name = "JSON", value_parser = args::json)]
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
    let verdict = match args.status {
        Status::Failed => lifecycle::Verdict::Failed { retry_in_ms: args.retry_in },
        Status::Succeeded if args.error.is_some() || args.retry_in.is_some() => {
            return Err(Failure::failed(
                "usage",
                "--error and --retry-in belong to --status failed".to_owned(),
                None,
            ));
        }
        Status::Succeeded => lifecycle::Verdict::Succeeded,
    };
    let finish = lifecycle::Finish { verdict, error: args.error, output: args.output };
    let mut store = store::open(&args.db.url, Access::Existing, &context.console)?;
    let Held { id, token } = &args.held;
    let run = engine::finish(&mut *store, &*context.clock, id, *token, &finish)?;
    lease::print(&run, context)
}
