//! `explain`: the fate of each occurrence of one workflow.

use clap::Args;

use crate::engine;
use crate::time::Instant;
use crate::wire::ExplainRow;

use super::args::{Db, in_order};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Explain {
    #[command(flatten)]
    db: Db,

    /// The workflow
    #[arg(value_name = "REF")]
    reference: String,

    /// From T on
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    from: Instant,

    /// Up to, not including, T
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    to: Instant,
}

pub(super) fn explain(args: Explain, context: &Context) -> Result<Exit, Failure> {
    let Explain { db, reference, from, to } = args;
    in_order(from, to)?;
    let mut store = store::open(&db.url, Access::Existing, context)?;
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<ExplainRow<'_>>("fates")?;
    engine::explain(&mut *store, &*context.clock, &reference, (from, to), |explained| {
        Ok::<(), Failure>(rows.row(&ExplainRow::of(&reference, &explained))?)
    })?;
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}
