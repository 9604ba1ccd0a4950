//! `due`: what windows run now, by the records of a store or by hand, without changing anything.

use clap::Args;

use crate::engine;
use crate::plan::{self, Plan, PlanError, Position, Revision, Timeline};
use crate::schedule::{Reference, Schedule};
use crate::store::record::Trigger;
use crate::time::Instant;
use crate::wire::{DueRow, PlanRow, SkippedRow};

use super::answer::Answer;
use super::args::Documents;
use super::context::Context;
use super::documents;
use super::failure::{Exit, Failure};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Due {
    #[command(flatten)]
    documents: Documents,

    /// The store to ask instead of documents: a SQLite file [env: WINDOWPANE_DB]
    #[arg(long = "db", value_name = "URL", conflicts_with_all = ["paths", "schedule"])]
    url: Option<String>,

    /// What stands in the environment gives way to documents, where `--db` would clash with them.
    #[arg(long = "db-of-environment", env = "WINDOWPANE_DB", hide = true)]
    url_of_environment: Option<String>,

    /// Without a store: the last settled occurrence
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date, conflicts_with = "url")]
    last_settled: Option<Instant>,

    /// Without a store: when the workflows were first seen [default: now]
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date, conflicts_with = "url")]
    first_seen: Option<Instant>,
}

pub(super) fn due(args: Due, context: &Context) -> Result<Exit, Failure> {
    match args.url.as_ref().or(args.url_of_environment.as_ref()) {
        _ if !args.documents.is_empty() => by_hand(&args, context),
        Some(url) => by_records(url, context),
        None => Err(Failure::failed(
            "usage",
            "there is nothing to ask".to_owned(),
            Some("name documents, --schedule with --ref, or --db"),
        )),
    }
}

fn by_records(url: &str, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(url, Access::Existing, context)?;
    let due = engine::due(&mut *store, &*context.clock)?;
    let answer = Answer { now: due.now, next_due: due.next_due, skipped: due.skipped.len() };
    let runs = due.runs.iter().map(|run| {
        Ok(DueRow {
            plan: PlanRow::of(&run.reference, &run.request_id, &run.plan),
            trigger: run.trigger,
            attempt: run.attempt,
            revision: run.plan.revision,
        })
    });
    let skipped = due.skipped.iter().map(|(reference, skip)| SkippedRow { reference, skip: *skip });
    answer.print(&context.console, runs, skipped)
}

/// What one workflow owes by the instants given.
struct Owing<'a> {
    reference: &'a Reference,
    timeline: Timeline,
    plan: Plan,
    next_due: Option<Instant>,
}

fn by_hand(args: &Due, context: &Context) -> Result<Exit, Failure> {
    let now = context.clock.now();
    let position =
        Position { cursor: args.last_settled, registered: args.first_seen.unwrap_or(now) };
    let workflows = documents::read_named(&args.documents, &context.console)?;
    let owing: Vec<Owing<'_>> = workflows
        .iter()
        .filter_map(|(reference, schedule)| {
            Some(Owing::of(reference, schedule.as_ref()?, position, now))
        })
        .collect();
    let answer = Answer {
        now,
        next_due: owing.iter().filter_map(|owing| owing.next_due).min(),
        skipped: owing.iter().map(|owing| owing.plan.skipped.len()).sum(),
    };
    let runs = owing.iter().flat_map(Owing::rows);
    let skipped = owing.iter().flat_map(|owing| {
        let reference = owing.reference.as_str();
        owing.plan.skipped.iter().map(move |&skip| SkippedRow { reference, skip })
    });
    answer.print(&context.console, runs, skipped)
}

impl<'a> Owing<'a> {
    fn of(
        reference: &'a Reference,
        schedule: &Schedule,
        position: Position,
        now: Instant,
    ) -> Owing<'a> {
        let definition = Some(schedule.definition.clone());
        let timeline = Timeline::new(&[Revision::new(reference, 1, None, definition)]);
        let plan = plan::owed(&timeline, &schedule.policies, position, now);
        let next_due = plan::next_due(&timeline, position, now);
        Owing { reference, timeline, plan, next_due }
    }

    fn rows(&self) -> impl Iterator<Item = Result<DueRow<'a>, Failure>> + '_ {
        self.plan.runs(&self.timeline).map(|run| {
            let run = run.map_err(|error| self.failure(error))?;
            Ok(DueRow {
                plan: PlanRow::of(self.reference.as_str(), "", &run),
                trigger: Trigger::Schedule,
                attempt: 1,
                revision: run.revision,
            })
        })
    }

    fn failure(&self, error: PlanError) -> Failure {
        Failure::refused("out_of_range", format!("`{}`: {error}", self.reference), None)
    }
}
