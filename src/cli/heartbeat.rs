//! `heartbeat`: extends the lease of a run.

use clap::Args;

use crate::engine::{self, DEFAULT_LEASE_MS};

use super::args::{self, Db};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::lease::{self, Held};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Heartbeat {
    #[command(flatten)]
    held: Held,

    #[command(flatten)]
    db: Db,

    /// How long the run is yours from now on [default: 5m]
    #[arg(long, value_name = "D", value_parser = args::span_ms)]
    lease: Option<i64>,

    /// What to keep as the run's output so far
    #[arg(long, value_name = "JSON", value_parser = args::json)]
    output: Option<String>,
}

pub(super) fn heartbeat(args: Heartbeat, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, &context.console)?;
    let lease_ms = args.lease.unwrap_or(DEFAULT_LEASE_MS);
    let Held { id, token } = &args.held;
    let output = args.output.as_deref();
    let run = engine::heartbeat(&mut *store, &*context.clock, id, *token, lease_ms, output)?;
    lease::print(&run, context)
}
