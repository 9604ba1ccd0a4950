//! `heartbeat`: extends the leases of runs.

use clap::Args;

use crate::engine::{self, DEFAULT_LEASE_MS};
use crate::wire::{BatchError, Line};

use super::args::{self, Db};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::lease::{self, Flags, Target};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Heartbeat {
    #[command(flatten)]
    target: Target,

    #[command(flatten)]
    db: Db,

    /// How long the run is yours from now on [default: 5m]
    #[arg(long, value_name = "D", value_parser = args::span_ms)]
    lease: Option<i64>,

    /// What to keep as the run's output so far
    #[arg(long, value_name = "JSON", value_parser = args::output)]
    output: Option<String>,
}

pub(super) fn heartbeat(args: Heartbeat, context: &Context) -> Result<Exit, Failure> {
    let Heartbeat { target, db, lease, output } = args;
    let flags = if output.is_none() { Flags::None } else { Flags::Some };
    let lease_ms = lease.unwrap_or(DEFAULT_LEASE_MS);
    let beats = target
        .read(&["lease", "output"], flags)?
        .with(|| Ok(engine::Heartbeat { lease_ms, output }), |line| of_line(line, lease_ms))?;
    let mut store = store::open(&db.url, Access::Existing, context)?;
    let runs = engine::heartbeat_all(&mut *store, &*context.clock, &beats)?;
    lease::print(&runs, context)
}

fn of_line(line: &Line, lease_ms: i64) -> Result<engine::Heartbeat, BatchError> {
    let lease = line.text("lease")?.map(|text| args::span_ms(&text)).transpose();
    let own = lease.map_err(|problem| line.fault(format!("`lease`: {problem}")))?;
    Ok(engine::Heartbeat { lease_ms: own.unwrap_or(lease_ms), output: line.output()? })
}
