//! `run`: a small runner on the command line.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use clap::Args;
use rustix::process::getpid;
use rustix::system::uname;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::engine::runner::{Report, Runner, RunnerOptions, Stopper, Until};
use crate::engine::{self, Absent, Mode, SyncOptions};
use crate::store::Store;
use crate::store::record::{ClockKind, RunRecord};
use crate::wire::{List, Problem, RunRow};

use super::args::{self, Db, Documents};
use super::claim::{Choice, warn_of_cursors_ahead};
use super::console::Console;
use super::context::Context;
use super::documents;
use super::failure::{Exit, Failure};
use super::store::{self, Access};
use super::sync::{DEFAULT_SOURCE, summary};

/// No runner carries out more commands than this at a time.
const CONCURRENCY_LIMIT: i64 = 1_024;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Run {
    /// Documents to register first, as `sync` does
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    db: Db,

    /// The command, carried out by `sh -c` once for each window
    #[arg(long, value_name = "CMD", value_parser = args::name)]
    exec: String,

    /// At most N commands at a time
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=CONCURRENCY_LIMIT))]
    concurrency: u32,

    /// Look for owed runs at least every D; on PostgreSQL, a runner hears of new ones at once
    #[arg(long, value_name = "D", default_value = "1m", value_parser = args::span_ms)]
    poll: i64,

    /// Stop when nothing is owed
    #[arg(long)]
    once: bool,

    /// End a command that takes longer than D; its run has failed
    #[arg(long, value_name = "D", value_parser = args::span_ms)]
    timeout: Option<i64>,

    /// After SIGTERM, SIGINT or SIGHUP, let commands go on for D, then end them and give their runs back
    #[arg(long, value_name = "D", default_value = "30s", value_parser = args::duration_ms)]
    grace: i64,

    /// The name of this worker, kept with each attempt [default: HOST:PID]
    #[arg(long, value_name = "W", value_parser = args::name)]
    worker: Option<String>,

    #[command(flatten)]
    choice: Choice,
}

const AFTER_HELP: &str = "\
CMD finds in its environment WINDOWPANE_RUN_ID, _REF, _OCCURRENCE, _WINDOW_START, _WINDOW_END, \
_INTERVAL_MS, _PHASE_MS, _ATTEMPT, _TOKEN and _OUTPUT, a file whose JSON becomes the output of \
the run, and on its standard input the claimed run as one JSON object.

Exit status 0 is success, 75 a failure to be tried again in a minute, any other a failure. The \
last lines of its stderr become the error text. What CMD leaves running in its process group is \
ended with it.";

pub(super) fn run(args: Run, context: &Context) -> Result<Exit, Failure> {
    if context.clock.kind() == ClockKind::Test && !args.once {
        return Err(Failure::failed(
            "usage",
            "under --now the clock stands still, so nothing more would ever be due".to_owned(),
            Some("add --once"),
        ));
    }
    let mut store = if args.paths.is_empty() {
        store::open(&args.db.url, Access::Existing, context)?
    } else {
        open_and_sync(&args, context)?
    };
    carry_out(&args, &mut *store, context)
}

/// Opens the store, and registers the documents as `sync` does.
fn open_and_sync(args: &Run, context: &Context) -> Result<Box<dyn Store>, Failure> {
    let documents = Documents::at(args.paths.clone(), None);
    let workflows = documents::read_named(&documents, &context.console)?;
    let mut store = store::open(&args.db.url, Access::Create, context)?;
    let options = SyncOptions { source: DEFAULT_SOURCE, mode: Mode::Write, absent: Absent::Keep };
    let report = engine::sync(&mut *store, &*context.clock, &workflows, &options)?;
    context.console.note(&summary(&report, Mode::Write));
    Ok(store)
}

fn carry_out(args: &Run, store: &mut dyn Store, context: &Context) -> Result<Exit, Failure> {
    let worker = args.worker.clone().unwrap_or_else(default_worker);
    let options = RunnerOptions {
        command: &args.exec,
        worker: &worker,
        concurrency: args.concurrency as usize,
        lease_ms: args.choice.lease_ms(),
        timeout_ms: args.timeout,
        grace_ms: args.grace,
        until: if args.once { Until::NothingOwed } else { Until::Told },
        matches: &|reference| args.choice.matches(reference),
        trigger: args.choice.trigger(),
        poll_ms: args.poll,
    };
    let runner = Runner::default();
    let signals = stop_on_signals(runner.stopper())?;
    let mut sheet = context.console.sheet()?;
    let mut rows = Some(sheet.list::<RunRow<'_>>("runs")?);
    let console = &context.console;
    let result = runner.run(store, &*context.clock, &options, &mut |store, report| {
        tell(report, store, &mut rows, console);
    });
    signals.close();
    result?;
    if let Some(rows) = rows {
        rows.end()?;
        sheet.end()?;
    }
    Ok(Exit::Done)
}

/// `HOST:PID`.
fn default_worker() -> String {
    let host = uname().nodename().to_string_lossy().into_owned();
    format!("{host}:{}", getpid().as_raw_nonzero())
}

/// Passes SIGTERM, SIGINT and SIGHUP on to a runner, from a thread of its own.
fn stop_on_signals(stopper: Stopper) -> Result<Handle, Failure> {
    let failed = |error: io::Error| {
        Failure::failed("no_signals", format!("signals cannot be received: {error}"), None)
    };
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(failed)?;
    let handle = signals.handle();
    let listen = move || signals.forever().for_each(|_| stopper.stop());
    std::thread::Builder::new().spawn(listen).map_err(failed)?;
    Ok(handle)
}

/// Prints a row for a finished attempt, and a warning for anything else. When nobody reads the
/// rows any more, the work goes on without them.
fn tell(
    report: Report<'_>,
    store: &mut dyn Store,
    rows: &mut Option<List<'_, File>>,
    console: &Console,
) {
    let problem = match report {
        Report::Finished(run) => match rows.as_mut().map(|rows| print(run, store, rows)) {
            None | Some(Ok(())) => return,
            Some(Err(Failure::Closed)) => {
                *rows = None;
                return;
            }
            Some(Err(Failure::Problem(_, problem))) => problem,
        },
        Report::Refused(error) => Problem {
            code: error.code(),
            message: error.to_string(),
            hint: Some("what the command did counts no more".to_owned()),
        },
        Report::Stopping(1) => return console.note("stopping; 1 command still runs"),
        Report::Stopping(many) => {
            return console.note(&format!("stopping; {many} commands still run"));
        }
        Report::CursorsAhead(references) => return warn_of_cursors_ahead(references, console),
        Report::Busy(error) => Problem {
            code: error.code(),
            message: error.to_string(),
            hint: Some("it is tried again".to_owned()),
        },
    };
    console.warn(&problem);
}

fn print(run: &RunRecord, store: &mut dyn Store, rows: &mut List<'_, File>) -> Result<(), Failure> {
    let past = store.begin_read()?.past_attempts(&run.key)?;
    rows.row(&RunRow::of(run, &past))?;
    Ok(rows.flush()?)
}
