//! `release`: gives a run back.

use clap::Args;

use crate::engine;

use super::args::Db;
use super::context::Context;
use super::failure::{Exit, Failure};
use super::lease::{self, Held};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Release {
    #[command(flatten)]
    held: Held,

    #[command(flatten)]
    db: Db,
}

pub(super) fn release(args: Release, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, &context.console)?;
    let run = engine::release(&mut *store, &*context.clock, &args.held.id, args.held.token)?;
    lease::print(&run, context)
}
