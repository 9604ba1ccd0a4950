//! `coverage`: which data was evaluated once, more often, or not at all.

use clap::Args;

use crate::engine;
use crate::plan::Cover;
use crate::time::Instant;
use crate::wire::{CoverageRow, Json};

use super::args::{Db, in_order};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Coverage {
    #[command(flatten)]
    db: Db,

    /// The workflow
    #[arg(value_name = "REF")]
    reference: String,

    /// Data from T on
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    from: Instant,

    /// Data up to, not including, T
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    to: Instant,
}

pub(super) fn coverage(args: Coverage, context: &Context) -> Result<Exit, Failure> {
    let Coverage { db, reference, from, to } = args;
    in_order(from, to)?;
    let mut store = store::open(&db.url, Access::Existing, context)?;
    let coverage = engine::coverage(&mut *store, &*context.clock, &reference, from, to)?;
    let percent = coverage.evaluated_millionths().map(percent);
    let mut sheet = context.console.sheet()?;
    sheet.member("ref", reference.as_str())?;
    sheet.member("from", from)?;
    sheet.member("to", to)?;
    sheet.member("percent", percent.as_deref().map(Json))?;
    for cover in Cover::ALL {
        sheet.member(&format!("{}_ms", cover.as_str()), coverage.total_ms(cover))?;
    }
    let mut rows = sheet.list::<CoverageRow<'_>>("spans")?;
    for (window, cover) in &coverage.spans {
        rows.row(&CoverageRow { reference: &reference, window: *window, cover: *cover })?;
    }
    rows.end()?;
    sheet.end()?;
    let percent = percent.unwrap_or("nothing that is due and known, so no".to_owned());
    context.console.summarise(&format!("{reference}: {percent} % evaluated"));
    Ok(Exit::Done)
}

/// Millionths as a percentage.
fn percent(millionths: u32) -> String {
    let text = format!("{}.{:04}", millionths / 10_000, millionths % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
