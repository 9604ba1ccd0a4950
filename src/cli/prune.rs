//! `prune`: removes the records of what is long over.

use clap::Args;

use crate::engine::{self, Mode};
use crate::wire::PruneRow;

use super::args::{self, Db};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::pattern::Pattern;
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Prune {
    #[command(flatten)]
    db: Db,

    /// Remove records of occurrences more than D ago, such as 90d
    #[arg(long, value_name = "D", value_parser = args::duration_ms)]
    older_than: i64,

    /// Only workflows whose ref matches; `*` crosses `/`
    #[arg(long = "ref", value_name = "GLOB")]
    pattern: Option<Pattern>,

    /// Only tell what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn prune(args: Prune, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, context)?;
    let pattern = Pattern::known_if_any(args.pattern, &mut *store.begin_read()?)?;
    let matches =
        |reference: &str| pattern.as_ref().is_none_or(|pattern| pattern.matches(reference));
    let mode = Mode::dry_run(args.dry_run);
    let pruned = engine::prune(&mut *store, &*context.clock, &matches, args.older_than, mode)?;
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<PruneRow<'_>>("workflows")?;
    for pruned in &pruned {
        rows.row(&PruneRow {
            reference: &pruned.reference,
            horizon: pruned.horizon,
            runs: pruned.runs,
            skips: pruned.skips,
        })?;
    }
    rows.end()?;
    sheet.end()?;
    let runs: u64 = pruned.iter().map(|pruned| pruned.runs).sum();
    let skips: u64 = pruned.iter().map(|pruned| pruned.skips).sum();
    let note = if args.dry_run { "; a dry run: nothing was removed" } else { "" };
    context.console.summarise(&format!("{runs} runs and {skips} skip records{note}"));
    Ok(Exit::Done)
}
