//! `skips`: what was skipped, and why.

use clap::Args;

use crate::store::record::SkipFilter;
use crate::wire::SkipRow;

use super::context::Context;
use super::failure::{Exit, Failure};
use super::records::{PAGE, Records};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Skips {
    #[command(flatten)]
    records: Records,
}

pub(super) fn skips(mut args: Skips, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.records.db.url, Access::Existing, context)?;
    let mut transaction = store.begin_read()?;
    args.records.look_up(&mut *transaction)?;
    let records = &args.records;
    let mut filter = SkipFilter {
        workflow: records.workflow(&mut *transaction)?,
        from: records.from,
        to: records.to,
        after: None,
        limit: Some(PAGE),
    };
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<SkipRow<'_>>("skips")?;
    let mut left = records.limit();
    while left > 0 {
        let page = transaction.skips(&filter)?;
        for skip in page.iter().filter(|skip| records.matches(&skip.reference)).take(left) {
            rows.row(&SkipRow(skip))?;
            left -= 1;
        }
        match page.last() {
            Some(last) if page.len() == PAGE => filter = filter.page_after(Some(last), PAGE),
            _ => break,
        }
    }
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}
