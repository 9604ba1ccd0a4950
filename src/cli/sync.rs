//! `sync`: registers documents, all or nothing.

use std::path::PathBuf;

use clap::Args;

use crate::engine::{self, Absent, Change, Mode, SyncOptions, SyncReport, Synced};
use crate::schedule::Reference;
use crate::wire::SyncRow;

use super::args::{self, Db, Documents};
use super::context::Context;
use super::documents;
use super::failure::{Exit, Failure};
use super::store::{self, Access};

/// The source of documents that name none.
pub(super) const DEFAULT_SOURCE: &str = "default";

#[derive(Debug, Args)]
pub(super) struct Sync {
    /// Workflow documents (.json, .jsonl), folders of them, or - for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// The ref of the one document that names none
    #[arg(long = "ref", value_name = "REF", value_parser = Reference::new)]
    reference: Option<Reference>,

    #[command(flatten)]
    db: Db,

    /// The name of this set of documents; a workflow belongs to one
    #[arg(long, value_name = "NAME", default_value = DEFAULT_SOURCE, value_parser = args::name)]
    source: String,

    /// Retire what this source registered and no longer has
    #[arg(long)]
    retire_absent: bool,

    /// Only tell what would change
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn sync(args: Sync, context: &Context) -> Result<Exit, Failure> {
    let documents = Documents::at(args.paths, args.reference);
    let workflows = documents::read_named(&documents, &context.console)?;
    let (mode, access) = match args.dry_run {
        true => (Mode::DryRun, Access::Imagine),
        false => (Mode::Write, Access::Create),
    };
    let absent = if args.retire_absent { Absent::Retire } else { Absent::Keep };
    let mut store = store::open(&args.db.url, access, context)?;
    let options = SyncOptions { source: &args.source, mode, absent };
    let report = engine::sync(&mut *store, &*context.clock, &workflows, &options)?;
    let mut sheet = context.console.sheet()?;
    sheet.member("now", report.now)?;
    let mut rows = sheet.list::<SyncRow<'_>>("workflows")?;
    for synced in &report.workflows {
        rows.row(&row(synced))?;
    }
    rows.end()?;
    sheet.end()?;
    context.console.note(&summary(&report, mode));
    Ok(Exit::Done)
}

fn row<'a>(synced: &'a Synced<'_>) -> SyncRow<'a> {
    let (change, cut) = match &synced.change {
        Change::New => ("new", None),
        Change::Edited { cut } => ("changed", Some(&**cut)),
        // Policies start no revision, so they cut nothing.
        Change::Policies => ("changed", None),
        Change::Unchanged => ("unchanged", None),
        Change::Retired { .. } => ("retired", None),
    };
    SyncRow { reference: &synced.reference, change, revision: synced.revision, cut }
}

/// What a sync did, in one line.
pub(super) fn summary(report: &SyncReport<'_>, mode: Mode) -> String {
    let count = |change: &str| {
        report.workflows.iter().filter(|synced| row(synced).change == change).count()
    };
    let (new, changed, unchanged) = (count("new"), count("changed"), count("unchanged"));
    let suffix = match mode {
        Mode::Write => "",
        Mode::DryRun => "; a dry run: nothing was written",
    };
    let retired = match count("retired") {
        0 => String::new(),
        retired => format!(", {retired} retired"),
    };
    format!("{new} new, {changed} changed, {unchanged} unchanged{retired}{suffix}")
}
