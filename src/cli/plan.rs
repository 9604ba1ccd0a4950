//! `plan`: the occurrences of documents with their due instants and windows. No store.

use clap::{ArgGroup, Args};

use crate::clock::Clock;
use crate::plan::{PlanError, Revision, Run, Timeline};
use crate::schedule::{Definition, Phase};
use crate::time::Instant;
use crate::wire::PlanRow;

use super::args::{self, Documents};
use super::context::Context;
use super::documents::{self, Workflow};
use super::failure::{Exit, Failure};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("span").required(true).multiple(true).args(["from", "next", "last"]))]
pub(super) struct Plan {
    #[command(flatten)]
    documents: Documents,

    /// Occurrences at or after T
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date, requires = "to")]
    from: Option<Instant>,

    /// Occurrences before T
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date, requires = "from")]
    to: Option<Instant>,

    /// The next N occurrences of each workflow, after the present
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "last"])]
    next: Option<u64>,

    /// The last N occurrences of each workflow, up to the present
    #[arg(long, value_name = "N", conflicts_with = "from")]
    last: Option<u64>,
}

/// Which occurrences to print.
#[derive(Debug, Clone, Copy)]
enum Span {
    /// Those in `[from, to)`.
    Between(Instant, Instant),
    /// The first so many after an instant.
    Next(u64, Instant),
    /// The last so many at or before an instant.
    Last(u64, Instant),
}

pub(super) fn plan(args: Plan, context: &Context) -> Result<Exit, Failure> {
    if args.documents.is_empty() {
        let hint = "name documents, or --schedule";
        return Err(Failure::failed("usage", "there is nothing to plan".to_owned(), Some(hint)));
    }
    let span = args.span(&*context.clock)?;
    let workflows = documents::read(&args.documents, &context.console)?;
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<PlanRow<'_>>("runs")?;
    for planned in workflows.iter().filter_map(Planned::of) {
        for run in planned.runs(span) {
            let run = run.map_err(|error| planned.failure(error))?;
            rows.row(&planned.row(&run))?;
        }
    }
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}

impl Plan {
    fn span(&self, clock: &dyn Clock) -> Result<Span, Failure> {
        match (self.from.zip(self.to), self.next, self.last) {
            (Some((from, to)), ..) => {
                args::in_order(from, to)?;
                Ok(Span::Between(from, to))
            }
            (None, Some(count), _) => Ok(Span::Next(count, clock.now())),
            (None, None, count) => Ok(Span::Last(count.unwrap_or(0), clock.now())),
        }
    }
}

/// A workflow whose occurrences are being printed.
struct Planned<'a> {
    reference: Option<&'a str>,
    definition: &'a Definition,
    timeline: Timeline,
    /// Whether the phase follows from the document alone.
    is_phase_known: bool,
}

impl<'a> Planned<'a> {
    /// `None` for a schedule that is `false`.
    fn of(workflow: &'a Workflow) -> Option<Planned<'a>> {
        let definition = &workflow.schedule.as_ref()?.definition;
        let revision = match &workflow.reference {
            Some(reference) => Revision::new(reference, 1, None, Some(definition.clone())),
            None => Revision::unnamed(definition.clone()),
        };
        let reference = workflow.reference.as_ref().map(|reference| reference.as_str());
        Some(Planned {
            reference,
            definition,
            timeline: Timeline::new(&[revision]),
            is_phase_known: reference.is_some()
                || matches!(definition.phase(), Phase::Fixed { .. }),
        })
    }

    fn runs(&self, span: Span) -> impl Iterator<Item = Result<Run, PlanError>> + '_ {
        let (from, last, count) = match span {
            Span::Between(from, to) => (Some(from), to.checked_add_ms(-1), u64::MAX),
            Span::Next(count, now) => (now.checked_add_ms(1), Some(Instant::MAX), count),
            Span::Last(count, now) => {
                let end = now.just_after();
                (self.oldest_of_last(count, end), Some(now), u64::MAX)
            }
        };
        let runs = from.zip(last).map(|(from, last)| {
            let is_within = move |run: &Result<Run, PlanError>| match run {
                Ok(run) => run.occurrence <= last,
                Err(error) => error.occurrence() <= last,
            };
            self.timeline.runs_from(from).take_while(is_within)
        });
        runs.into_iter().flatten().take(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// The oldest of the last `count` occurrences before `end`.
    fn oldest_of_last(&self, count: u64, end: Instant) -> Option<Instant> {
        let cadence = self.definition.cadence();
        match count {
            0 => None,
            _ => cadence.nth_before(end, count).or_else(|| cadence.next(Instant::MIN)),
        }
    }

    fn row(&self, run: &Run) -> PlanRow<'a> {
        PlanRow {
            reference: self.reference,
            request_id: "",
            occurrence: run.occurrence,
            due: self.is_phase_known.then_some(run.due),
            window: run.window,
            interval_ms: run.interval_ms,
            phase_ms: self.is_phase_known.then_some(run.phase_ms),
        }
    }

    fn failure(&self, error: PlanError) -> Failure {
        let message = match self.reference {
            Some(reference) => format!("`{reference}`: {error}"),
            None => error.to_string(),
        };
        Failure::refused("out_of_range", message, None)
    }
}
