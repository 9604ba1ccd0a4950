//! The command line: arguments in, rows and exit statuses out. No rule lives here.

mod answer;
mod args;
mod claim;
mod console;
mod context;
mod copy;
mod coverage;
mod cursor;
mod describe;
mod documents;
mod due;
mod explain;
mod failure;
mod finish;
mod heartbeat;
mod import_routines;
mod input;
mod install_plugin;
mod lease;
mod list;
mod pattern;
mod pause;
mod plan;
mod poll;
mod progress;
mod prune;
mod records;
mod release;
mod request;
mod run;
mod runs;
mod schema;
mod skips;
mod store;
mod sync;
mod usage;
mod validate;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use args::Common;
use context::Context;
use failure::{Exit, Failure};

/// Which windows run now? Exact schedules, the windows of data that their runs evaluate, and
/// durable run records that are handed out exactly once.
#[derive(Debug, Parser)]
#[command(name = "windowpane", version = usage::version(), max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check documents: every fault at once, each at its place
    Validate(validate::Validate),
    /// Print the occurrences of documents with their due instants and windows
    Plan(With<plan::Plan>),
    /// Say schedules in words, with their next occurrences in local time and UTC
    Describe(With<describe::Describe>),
    /// Print what windows run now, without changing anything
    Due(With<due::Due>),
    /// Register documents in a store, all or nothing
    Sync(With<sync::Sync>),
    /// Hand out owed runs
    Claim(With<claim::Claim>),
    /// Extend the lease of a run
    Heartbeat(With<heartbeat::Heartbeat>),
    /// End the attempt at a run
    Finish(With<finish::Finish>),
    /// Give a run back
    Release(With<release::Release>),
    /// Run a command once for each owed window
    Run(With<run::Run>),
    /// Print where each workflow stands
    List(With<list::List>),
    /// Print run records
    Runs(With<runs::Runs>),
    /// Print what was skipped and why
    Skips(With<skips::Skips>),
    /// Print what became of each occurrence of a workflow, and why
    Explain(With<explain::Explain>),
    /// Print which data a workflow's runs evaluated: once, more often, or not at all
    Coverage(With<coverage::Coverage>),
    /// Ask for runs beside the schedule: a backfill, a repetition, or one window
    Request(With<request::Request>),
    /// Withdraw pending runs
    Cancel(With<request::Cancel>),
    /// Hold the scheduled runs of workflows back
    Pause(With<pause::Pause>),
    /// Let paused workflows go on
    Resume(With<pause::Resume>),
    /// Remove the records of what is long over
    Prune(With<prune::Prune>),
    /// Set a cursor: forward past what need not run, or back where a clock ran ahead
    Cursor(With<cursor::Cursor>),
    /// Answer one request of Apiary's plugin protocol: stdin to stdout
    Poll(With<poll::Poll>),
    /// Register Apiary's routines in a store, each where its state file says that it stands
    ImportRoutines(With<import_routines::ImportRoutines>),
    /// Put the Apiary plugin where a host looks for it
    InstallPlugin(With<install_plugin::InstallPlugin>),
    /// Check a whole store: the file, every row, and what must hold between them
    Verify(With<verify::Verify>),
    /// Copy a store while it is in use
    Backup(With<verify::Backup>),
    /// Copy all records from one store to another, which must be empty
    Copy(With<copy::Copy>),
    /// Print a JSON Schema: of documents, of answers, or of rows
    Schema(schema::Schema),
}

/// The arguments of one command beside those that every command takes.
#[derive(Debug, Args)]
struct With<A: Args> {
    #[command(flatten)]
    own: A,
    #[command(flatten)]
    common: Common,
}

/// Runs the command line `args`, the name of the program first.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    match Cli::try_parse_from(&args) {
        Ok(cli) => cli.command.run().into(),
        Err(error) => usage::report(&error, &args).into(),
    }
}

impl Command {
    fn run(self) -> Exit {
        match self {
            Command::Validate(args) => validate::validate(&args),
            Command::Plan(args) => args.run(plan::plan),
            Command::Describe(args) => args.run(describe::describe),
            Command::Due(args) => args.run(due::due),
            Command::Sync(args) => args.run(sync::sync),
            Command::Claim(args) => args.run(claim::claim),
            Command::Heartbeat(args) => args.run(heartbeat::heartbeat),
            Command::Finish(args) => args.run(finish::finish),
            Command::Release(args) => args.run(release::release),
            Command::Run(args) => args.run(run::run),
            Command::List(args) => args.run(list::list),
            Command::Runs(args) => args.run(runs::runs),
            Command::Skips(args) => args.run(skips::skips),
            Command::Explain(args) => args.run(explain::explain),
            Command::Coverage(args) => args.run(coverage::coverage),
            Command::Request(args) => args.run(request::request),
            Command::Cancel(args) => args.run(request::cancel),
            Command::Pause(args) => args.run(pause::pause),
            Command::Resume(args) => args.run(pause::resume),
            Command::Prune(args) => args.run(prune::prune),
            Command::Cursor(args) => args.run(cursor::cursor),
            Command::Poll(args) => args.run(poll::poll),
            Command::ImportRoutines(args) => args.run(import_routines::import_routines),
            Command::InstallPlugin(args) => args.run(install_plugin::install_plugin),
            Command::Verify(args) => args.run(verify::verify),
            Command::Backup(args) => args.run(verify::backup),
            Command::Copy(args) => args.run(copy::copy),
            Command::Schema(args) => schema::schema(&args),
        }
    }
}

impl<A: Args> With<A> {
    fn run(self, command: impl FnOnce(A, &Context) -> Result<Exit, Failure>) -> Exit {
        let context = Context::new(&self.common);
        match command(self.own, &context) {
            Ok(exit) => exit,
            Err(failure) => failure.report(&context.console),
        }
    }
}
