//! `cursor`: moves cursors by hand.

use clap::Args;

use crate::engine::{self, Mode};
use crate::time::Instant;
use crate::wire::CursorRow;

use super::args::Db;
use super::context::Context;
use super::failure::{Exit, Failure};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Cursor {
    /// The workflow
    #[arg(value_name = "REF", required_unless_present = "ahead", conflicts_with = "ahead")]
    reference: Option<String>,

    #[command(flatten)]
    db: Db,

    /// Every workflow whose cursor is ahead of now, and later than T
    #[arg(long)]
    ahead: bool,

    /// Set it to the last occurrence at or before T; back only where it is ahead of now
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    set: Instant,

    /// Only tell what would change
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn cursor(args: Cursor, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, context)?;
    let (clock, mode) = (&*context.clock, Mode::dry_run(args.dry_run));
    let moved = match &args.reference {
        Some(reference) => {
            vec![engine::set_cursor(&mut *store, clock, reference, args.set, mode)?]
        }
        None => engine::set_cursors_back(&mut *store, clock, args.set, mode)?,
    };
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<CursorRow<'_>>("workflows")?;
    for moved in &moved {
        rows.row(&CursorRow {
            reference: &moved.reference,
            before: moved.before,
            cursor: moved.cursor,
            skipped: &moved.skipped,
            restored: moved.restored,
        })?;
    }
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}
