//! `verify`: checks a whole store. `backup`: copies one while it is in use.

use std::path::PathBuf;

use clap::Args;

use crate::engine;
use crate::wire::FindingRow;

use super::args::Db;
use super::context::Context;
use super::failure::{Exit, Failure};
use super::store::{self, Access};

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
    let mut findings = store::verify(&args.db.url, context)?;
    // What the schedules say can only be asked of records that can be read.
    if findings.is_empty() {
        let mut store = store::open(&args.db.url, Access::Existing, context)?;
        findings = engine::verify(&mut *store, &*context.clock)?;
    }
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
