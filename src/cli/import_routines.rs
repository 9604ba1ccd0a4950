//! `import-routines`: registers Apiary's routines in a store, each where it stands.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::apiary::{self, Config, Entry, REQUEST_LIMIT_BYTES, Routine, State, StateFault};
use crate::engine::{self, Import, Imported, Mode};
use crate::schedule::Schedule;
use crate::wire::ImportRow;

use super::args::{self, Db};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct ImportRoutines {
    /// The plugin's config as JSON: a file, or - for standard input
    #[arg(value_name = "CONFIG")]
    config: PathBuf,

    /// The plugin's state file; the one that the config names is not looked for
    #[arg(long, value_name = "FILE")]
    state: PathBuf,

    #[command(flatten)]
    db: Db,

    /// The name of this set of workflows; a workflow belongs to one
    #[arg(long, value_name = "NAME", default_value = "routines", value_parser = args::name)]
    source: String,

    /// Only tell what would be registered
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn import_routines(args: ImportRoutines, context: &Context) -> Result<Exit, Failure> {
    let config = Config::from_json(&read_text(&args.config)?)
        .map_err(|error| Failure::refused("invalid_config", error.to_string(), None))?;
    let state = apiary::read_state(&args.state).map_err(refuse_state)?;
    let (mode, access) = match args.dry_run {
        true => (Mode::DryRun, Access::Imagine),
        false => (Mode::Write, Access::Create),
    };
    let imports: Vec<Import> =
        config.routines.iter().map(|routine| import(routine, &state)).collect();
    let mut store = store::open(&args.db.url, access, context)?;
    let imported = engine::import(&mut *store, &*context.clock, &args.source, &imports, mode)?;
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<ImportRow<'_>>("workflows")?;
    for workflow in &imported {
        rows.row(&row(workflow))?;
    }
    rows.end()?;
    sheet.end()?;
    let suffix = if args.dry_run { "; a dry run: nothing was written" } else { "" };
    context.console.note(&format!("{} imported{suffix}", imported.len()));
    Ok(Exit::Done)
}

fn row(workflow: &Imported) -> ImportRow<'_> {
    ImportRow {
        reference: &workflow.reference,
        registered: workflow.registered,
        cursor: workflow.cursor,
        next_due: workflow.due,
    }
}

/// A routine as a workflow that stands where its entry says.
fn import(routine: &Routine, state: &State) -> Import {
    Import {
        reference: routine.id.clone(),
        schedule: Schedule {
            definition: routine.schedule.definition.clone(),
            policies: routine.policies(),
        },
        position: state.entry(routine.id.as_str()).and_then(Entry::position),
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let limit_bytes = REQUEST_LIMIT_BYTES as u64 + 1;
    let read = match path.as_os_str() == "-" {
        true => io::stdin().lock().take(limit_bytes).read_to_string(&mut text),
        false => std::fs::File::open(path)
            .and_then(|file| file.take(limit_bytes).read_to_string(&mut text)),
    };
    match read {
        Ok(bytes) if bytes > REQUEST_LIMIT_BYTES => Err(Failure::refused(
            "too_large",
            format!("`{}` is longer than {REQUEST_LIMIT_BYTES} bytes", path.display()),
            None,
        )),
        Ok(_) => Ok(text),
        Err(error) => {
            let message = format!("`{}` cannot be read: {error}", path.display());
            Err(Failure::failed("unreadable", message, None))
        }
    }
}

fn refuse_state(fault: StateFault) -> Failure {
    let message = fault.to_string();
    match fault {
        StateFault::Corrupt { .. } => Failure::refused("invalid_state", message, None),
        _ => Failure::failed("unreadable", message, Some("--state names the plugin's state file")),
    }
}
