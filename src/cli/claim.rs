//! `claim`: hands out owed runs.

use clap::Args;

use crate::engine::{self, ClaimRequest, DEFAULT_LEASE_MS};
use crate::store::Transaction;
use crate::wire::{ClaimRow, Problem, SkippedRow};

use super::answer::Answer;
use super::args::{self, Db, TriggerName};
use super::console::Console;
use super::context::Context;
use super::failure::{Exit, Failure};
use super::pattern::Pattern;
use super::store::{self, Access};

/// No claim hands out more runs than this at once.
pub(super) const CLAIM_LIMIT: i64 = 100_000;

#[derive(Debug, Args)]
pub(super) struct Claim {
    #[command(flatten)]
    db: Db,

    /// The name of the worker, kept with each attempt
    #[arg(long, value_name = "W", value_parser = args::name)]
    worker: String,

    /// At most K runs
    #[arg(long, value_name = "K", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=CLAIM_LIMIT))]
    limit: u32,

    #[command(flatten)]
    choice: Choice,
}

/// Which runs to take, and for how long.
#[derive(Debug, Args)]
pub(super) struct Choice {
    /// How long a run is yours without a heartbeat [default: 5m]
    #[arg(long, value_name = "D", value_parser = args::span_ms)]
    pub(super) lease: Option<i64>,

    /// Only workflows whose ref matches; `*` crosses `/`
    #[arg(long = "ref", value_name = "GLOB")]
    pattern: Option<Pattern>,

    /// Only runs that were caused so
    #[arg(long)]
    trigger: Option<TriggerName>,
}

impl Choice {
    /// The length of a lease in milliseconds.
    pub(super) fn lease_ms(&self) -> i64 {
        self.lease.unwrap_or(DEFAULT_LEASE_MS)
    }

    /// Takes the pattern as the store knows it.
    pub(super) fn look_up(&mut self, transaction: &mut dyn Transaction) -> Result<(), Failure> {
        self.pattern = Pattern::known_if_any(self.pattern.take(), transaction)?;
        Ok(())
    }

    /// Whether runs of a workflow are wanted.
    pub(super) fn matches(&self, reference: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(reference))
    }

    /// The cause that is wanted, if only one is.
    pub(super) fn trigger(&self) -> Option<crate::store::record::Trigger> {
        self.trigger.map(Into::into)
    }
}

pub(super) fn claim(mut args: Claim, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, context)?;
    args.choice.look_up(&mut *store.begin_read()?)?;
    let request = ClaimRequest {
        worker: &args.worker,
        limit: args.limit as usize,
        lease_ms: args.choice.lease_ms(),
        matches: &|reference| args.choice.matches(reference),
        trigger: args.choice.trigger(),
    };
    let claimed = engine::claim(&mut *store, &*context.clock, &request)?;
    warn_of_cursors_ahead(&claimed.cursors_ahead, &context.console);
    let answer =
        Answer { now: claimed.now, next_due: claimed.next_due, skipped: claimed.skipped.len() };
    let runs = claimed.runs.iter().map(|run| Ok(ClaimRow(run)));
    answer.print(&context.console, runs, claimed.skipped.iter().map(SkippedRow::from))
}

/// Says of which workflows nothing is handed out because their cursor lies ahead of now.
pub(super) fn warn_of_cursors_ahead(references: &[String], console: &Console) {
    let Some((first, others)) = references.split_first() else { return };
    let more = match others.len() {
        0 => String::new(),
        many => format!(" and {many} more"),
    };
    console.warn(&Problem {
        code: "cursor_ahead",
        message: format!(
            "the cursor of `{first}`{more} lies ahead of now, so nothing of it is owed"
        ),
        hint: Some("`list` names them; `cursor --ahead --set T` sets them back".to_owned()),
    });
}
