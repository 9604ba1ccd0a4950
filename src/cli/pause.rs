//! `pause` and `resume`: hold the scheduled runs of workflows back, and let them go on.

use clap::{Args, ValueEnum};

use crate::engine::{self, Note, Paused};
use crate::store::record::Resume as Policy;
use crate::wire::PauseRow;

use super::args::{self, Db};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::pattern::Pattern;
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Pause {
    /// A ref, or a glob over refs; `*` crosses `/`
    #[arg(value_name = "REF")]
    pattern: Pattern,

    #[command(flatten)]
    db: Db,

    /// Who asks for it
    #[arg(long, value_name = "NAME", value_parser = args::name)]
    by: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT", value_parser = args::name)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Resume {
    /// A ref, or a glob over refs; `*` crosses `/`
    #[arg(value_name = "REF")]
    pattern: Pattern,

    #[command(flatten)]
    db: Db,

    /// What becomes of what was missed
    #[arg(long, value_enum, default_value = "catch-up")]
    policy: PolicyName,
}

/// The values of `--policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyName {
    /// The catch-up rule decides
    CatchUp,
    /// Skip what is due, cancel what is pending, abandon what has expired
    Drop,
}

pub(super) fn pause(args: Pause, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, context)?;
    let note = Note { by: args.by.as_deref(), reason: args.reason.as_deref() };
    let pattern = args.pattern.known(&mut *store.begin_read()?)?;
    let matches = |reference: &str| pattern.matches(reference);
    let paused = engine::pause(&mut *store, &*context.clock, &matches, note)?;
    answer(&paused, context)
}

pub(super) fn resume(args: Resume, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, context)?;
    let policy = match args.policy {
        PolicyName::CatchUp => Policy::CatchUp,
        PolicyName::Drop => Policy::Drop,
    };
    let pattern = args.pattern.known(&mut *store.begin_read()?)?;
    let matches = |reference: &str| pattern.matches(reference);
    let resumed = engine::resume(&mut *store, &*context.clock, &matches, policy)?;
    answer(&resumed, context)
}

fn answer(changed: &[Paused], context: &Context) -> Result<Exit, Failure> {
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<PauseRow<'_>>("workflows")?;
    for paused in changed {
        rows.row(&PauseRow {
            reference: &paused.reference,
            pause: paused.pause.as_ref(),
            skipped: &paused.skipped,
            ended: paused.ended.len() as u64,
        })?;
    }
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}
