//! `verify`: checks a whole store. `backup`: copies one while it is in use.

use std::path::PathBuf;

use clap::Args;

use crate::wire::FindingRow;

use super::args::Db;
use super::context::Context;
use super::failure::{Exit, Failure};
use super::store;

#[derive(Debug, Args)]
pub(super) struct Verify {
    #[command(flatten)]
    db: Db,
}

#[derive(Debug, Args)]
pub(super) struct Backup {
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    target: PathBuf,

    #[command(flatten)]
    db: Db,
}

pub(super) fn verify(args: Verify, context: &Context) -> Result<Exit, Failure> {
    let findings = store::verify(&args.db.url, context)?;
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<FindingRow<'_>>("findings")?;
    for finding in &findings {
        rows.row(&FindingRow(finding))?;
    }
    rows.end()?;
    sheet.end()?;
    if findings.is_empty() {
        context.console.note("nothing is wrong");
        return Ok(Exit::Done);
    }
    Ok(Exit::Refused)
}

pub(super) fn backup(args: Backup, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open_file(&args.db.url)?;
    store.backup(&args.target)?;
    context.console.note(&format!("copied to {}", args.target.display()));
    Ok(Exit::Done)
}
