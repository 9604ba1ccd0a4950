//! `request` and `cancel`: runs that somebody asks for, and runs that somebody withdraws.

use std::str::FromStr;

use clap::{Args, ValueEnum};

use crate::engine::{self, EngineError, Mode, Note, Only, RunRequest, Selection, Windows};
use crate::store::RunId;
use crate::time::{Instant, Window};
use crate::wire::{Json, RequestedRow};

use super::args::{self, Db};
use super::context::Context;
use super::failure::{Exit, Failure};
use super::lease;
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Request {
    /// The ref of the workflow
    #[arg(value_name = "REF")]
    reference: String,

    #[command(flatten)]
    db: Db,

    /// The id of this request: 1 to 128 of A-Z a-z 0-9 . _ : -; the same id again changes nothing
    #[arg(long, value_name = "ID")]
    id: String,

    #[command(flatten)]
    selection: What,

    /// Which of the selected occurrences to run
    #[arg(long, value_enum, default_value = "missing")]
    only: OnlyName,

    /// Use the windows of the present definition
    #[arg(long)]
    rewindow: bool,

    /// Who asks for it
    #[arg(long, value_name = "NAME", value_parser = args::name)]
    by: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT", value_parser = args::name)]
    reason: Option<String>,

    /// Only tell what would run
    #[arg(long)]
    dry_run: bool,
}

/// What to run: a span of occurrences or of data, the latest, or one window.
#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = true)]
struct What {
    /// Occurrences at or after T
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date, requires = "to")]
    from: Option<Instant>,

    /// Occurrences before T
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date, requires = "from")]
    to: Option<Instant>,

    /// Every occurrence whose window meets the span from --from to --to
    #[arg(long, requires = "from")]
    covering: bool,

    /// The newest due occurrence
    #[arg(long, conflicts_with_all = ["from", "to", "covering", "window"])]
    latest: bool,

    /// One run over just this window
    #[arg(long, value_name = "START/END", conflicts_with_all = ["from", "to", "covering"])]
    window: Option<Span>,
}

/// The values of `--only`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnlyName {
    /// Without a succeeded, claimed or pending run, and not owed by the schedule
    Missing,
    /// Whose last run failed or was abandoned
    Failed,
    /// All of them
    All,
}

/// A span `START/END`.
#[derive(Debug, Clone, Copy)]
struct Span(Window);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let (start, end) = text.split_once('/').ok_or("it is no START/END")?;
        let instant = |text| Instant::parse_with_date(text).map_err(|error| error.to_string());
        let window = Window { start: instant(start)?, end: instant(end)? };
        if window.start < window.end {
            Ok(Span(window))
        } else {
            Err("it ends before it begins".to_owned())
        }
    }
}

impl What {
    fn selection(&self) -> Selection {
        match (self.window, self.from, self.to) {
            (Some(Span(window)), ..) => Selection::Window(window),
            (None, Some(start), Some(end)) if self.covering => {
                Selection::Covering(Window { start, end })
            }
            (None, Some(from), Some(to)) => Selection::Occurrences { from, to },
            _ => Selection::Latest,
        }
    }
}

pub(super) fn request(args: Request, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, context)?;
    let request = RunRequest {
        reference: &args.reference,
        id: &args.id,
        selection: args.selection.selection(),
        only: match args.only {
            OnlyName::Missing => Only::Missing,
            OnlyName::Failed => Only::Failed,
            OnlyName::All => Only::All,
        },
        windows: if args.rewindow { Windows::Present } else { Windows::Pinned },
        note: Note { by: args.by.as_deref(), reason: args.reason.as_deref() },
    };
    let mode = Mode::dry_run(args.dry_run);
    let requested = engine::request(&mut *store, &*context.clock, &request, mode)?;
    let mut sheet = context.console.sheet()?;
    sheet.member("made", requested.made)?;
    let mut rows = sheet.list::<RequestedRow<'_>>("runs")?;
    for run in &requested.runs {
        rows.row(&RequestedRow(run))?;
    }
    rows.end()?;
    sheet.member("left_out", Json(&requested.left_out_json()))?;
    sheet.end()?;
    let left_out: Vec<String> =
        requested.left_out.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    let mut summary = match requested.runs.len() + requested.pruned.len() {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    };
    if !left_out.is_empty() {
        summary.push_str(&format!("; left out: {}", left_out.join(", ")));
    }
    context.console.note(&summary);
    Ok(Exit::Done)
}

#[derive(Debug, Args)]
pub(super) struct Cancel {
    /// The pending run to withdraw
    #[arg(value_name = "RUN_ID", required_unless_present = "request", conflicts_with = "request")]
    id: Option<RunId>,

    /// Withdraw the pending runs of this request instead
    #[arg(long, value_name = "ID", requires = "reference")]
    request: Option<String>,

    /// The ref of the request's workflow
    #[arg(long = "ref", value_name = "REF")]
    reference: Option<String>,

    #[command(flatten)]
    db: Db,
}

pub(super) fn cancel(args: Cancel, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, context)?;
    let runs = match (&args.id, &args.reference, &args.request) {
        (Some(id), ..) => vec![engine::cancel(&mut *store, &*context.clock, id)?],
        (None, Some(reference), Some(request)) => {
            engine::cancel_request(&mut *store, &*context.clock, reference, request)?
        }
        _ => {
            let problem = "there is nothing to cancel".to_owned();
            return Err(EngineError::BadRequest { problem }.into());
        }
    };
    lease::print(&runs, context)
}
