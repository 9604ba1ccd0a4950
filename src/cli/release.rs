//! `release`: gives runs back.

use clap::Args;

use crate::engine::{self, Held};

use super::args::Db;
use super::context::Context;
use super::failure::{Exit, Failure};
use super::lease::{self, Flags, Target};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Release {
    #[command(flatten)]
    target: Target,

    #[command(flatten)]
    db: Db,
}

pub(super) fn release(args: Release, context: &Context) -> Result<Exit, Failure> {
    let runs = args.target.read(&[], Flags::None)?.with(|| Ok(()), |_| Ok(()))?;
    let runs: Vec<Held> = runs.into_iter().map(|(held, ())| held).collect();
    let mut store = store::open(&args.db.url, Access::Existing, context)?;
    let runs = engine::release_all(&mut *store, &*context.clock, &runs)?;
    lease::print(&runs, context)
}
