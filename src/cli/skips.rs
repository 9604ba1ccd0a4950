//! `skips`: what was skipped, and why.

use clap::Args;

use crate::store::record::SkipFilter;
use crate::wire::SkipRow;

use super::context::Context;
use super::failure::{Exit, Failure};
use super::pattern::Pattern;
use super::records::Records;
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Skips {
    #[command(flatten)]
    records: Records,
}

pub(super) fn skips(mut args: Skips, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.records.db.url, Access::Existing, context)?;
    let mut transaction = store.begin_read()?;
    args.records.prefer_names(&mut *transaction)?;
    let records = &args.records;
    // The store knows names, not patterns: with one, what is left out counts for no limit.
    let limit = match records.pattern {
        Some(Pattern::Glob(_)) => None,
        _ => Some(records.limit()),
    };
    let filter = SkipFilter {
        workflow: records.workflow(&mut *transaction)?,
        from: records.from,
        to: records.to,
        limit,
    };
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<SkipRow<'_>>("skips")?;
    let skips = transaction.skips(&filter)?;
    let wanted = skips.iter().filter(|skip| records.matches(&skip.reference));
    for skip in wanted.take(records.limit()) {
        rows.row(&SkipRow(skip))?;
    }
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}
