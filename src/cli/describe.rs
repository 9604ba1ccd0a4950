//! `describe`: each schedule as one sentence, with its next occurrences in local time and UTC.

use clap::Args;

use crate::schedule::{Reference, Schedule};
use crate::time::{Cadence, Instant, Zone};
use crate::wire::{DescribeRow, Format, Named};

use super::args::Documents;
use super::context::Context;
use super::documents::{self, Workflow};
use super::failure::{Exit, Failure};

#[derive(Debug, Args)]
pub(super) struct Describe {
    #[command(flatten)]
    documents: Documents,

    /// So many occurrences of each, after the present
    #[arg(long, value_name = "N", default_value_t = 5)]
    next: usize,
}

pub(super) fn describe(args: Describe, context: &Context) -> Result<Exit, Failure> {
    let now = context.clock.now();
    let workflows = documents::read(&args.documents, &context.console)?;
    let mut sheet = context.console.sheet()?;
    sheet.member("now", now)?;
    let mut rows = sheet.list::<DescribeRow<'_>>("occurrences")?;
    for described in workflows.iter().map(Described::of) {
        rows.heading(&described.heading())?;
        let mut is_empty = true;
        for named in described.next(now).take(args.next) {
            rows.row(&described.row(Some(&named)))?;
            is_empty = false;
        }
        if is_empty && context.console.format != Format::Table {
            rows.row(&described.row(None))?;
        }
    }
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}

/// A workflow and what is said of it.
struct Described<'a> {
    workflow: &'a Workflow,
    sentence: String,
}

impl Described<'_> {
    fn of(workflow: &Workflow) -> Described<'_> {
        let sentence = workflow.schedule.as_deref().map(Schedule::describe);
        let sentence = sentence.unwrap_or_else(|| "Never: it has no schedule.".to_owned());
        Described { workflow, sentence }
    }

    fn heading(&self) -> String {
        match &self.workflow.reference {
            Some(reference) => format!("{reference}: {}", self.sentence),
            None => self.sentence.clone(),
        }
    }

    fn row<'r>(&'r self, named: Option<&'r Named>) -> DescribeRow<'r> {
        let reference = self.workflow.reference.as_ref().map(Reference::as_str);
        DescribeRow { reference, description: &self.sentence, named }
    }

    /// What the schedule names after `now`.
    fn next(&self, now: Instant) -> impl Iterator<Item = Named> {
        self.workflow.schedule.iter().flat_map(move |schedule| next(schedule, now))
    }
}

/// What a schedule names after `now`.
fn next(schedule: &Schedule, now: Instant) -> impl Iterator<Item = Named> {
    let cadence = schedule.definition.cadence();
    let zone = match cadence {
        Cadence::Interval(_) => Zone::utc(),
        Cadence::Calendar(calendar) => calendar.zone(),
    };
    let mut before = now;
    let after_now = now.just_after();
    cadence.occurrences(after_now, Instant::MAX).filter_map(move |occurrence| {
        let left_out = cadence.left_out(before, occurrence);
        before = occurrence;
        let authored = cadence.authored(occurrence)?;
        Some(Named::new(occurrence, zone.local(occurrence), authored, left_out))
    })
}
