//! The documents that a command works on.

use std::ops::Range;

use crate::schedule::{Declaration, Reference, Schedule, Severity};
use crate::wire::Problem;
use crate::wire::report::{Diagnostic, Excerpt, Style, render};

use super::args;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::input::{self, Names, Sink, Tally};

/// One workflow as a document gives it.
#[derive(Debug, Clone)]
pub(super) struct Workflow {
    /// Its name; `None` where the document has none.
    pub(super) reference: Option<Reference>,
    /// Its schedule; `None` for one that is `false`.
    pub(super) schedule: Option<Schedule>,
}

/// Reads every document, or fails with every fault.
pub(super) fn read(args: &args::Documents, console: &Console) -> Result<Vec<Workflow>, Failure> {
    gather(args, Names::Optional, console)
}

/// Reads every document, each of which needs a ref.
pub(super) fn read_named(
    args: &args::Documents,
    console: &Console,
) -> Result<Vec<(Reference, Option<Schedule>)>, Failure> {
    let workflows = gather(args, Names::Required, console)?.into_iter();
    let named = |workflow: Workflow| Some((workflow.reference?, workflow.schedule));
    Ok(workflows.filter_map(named).collect())
}

fn gather(
    args: &args::Documents,
    names: Names,
    console: &Console,
) -> Result<Vec<Workflow>, Failure> {
    let mut gathered = Gathered { workflows: Vec::new(), console, errors: 0, first: None };
    let tally = input::read(args, names, &mut gathered)?;
    if let Some(note) = tally.ignored.note() {
        console.aside(&note);
    }
    gathered.into_workflows(tally)
}

/// What was read so far. Of errors, the first is kept for programs; people are told at once.
struct Gathered<'c> {
    workflows: Vec<Workflow>,
    console: &'c Console,
    errors: u64,
    first: Option<Diagnostic>,
}

impl Sink for Gathered<'_> {
    fn workflow(&mut self, reference: Option<Reference>, declaration: Declaration) {
        self.workflows.push(Workflow { reference, schedule: declaration.into_schedule() });
    }

    fn diagnostic(
        &mut self,
        found: Diagnostic,
        text: &str,
        span: &Range<usize>,
    ) -> Result<(), Failure> {
        if found.severity != Severity::Error {
            self.console.warn(&problem(&found));
            return Ok(());
        }
        self.console.explain(|| render(&found, &Excerpt::of(text, span), Style::Plain));
        self.errors += 1;
        self.first.get_or_insert(found);
        Ok(())
    }
}

impl Gathered<'_> {
    fn into_workflows(self, tally: Tally) -> Result<Vec<Workflow>, Failure> {
        let mut problems = tally.problems.into_iter();
        if let Some(first) = problems.next() {
            for problem in problems {
                self.console.error(&problem);
            }
            return Err(Failure::Problem(Exit::Failed, first));
        }
        let Some(first) = self.first else { return Ok(self.workflows) };
        let (message, hint) = match self.errors {
            // People were shown each of them.
            1 if self.console.talks_to_people() => ("a document has an error".to_owned(), None),
            many if self.console.talks_to_people() => {
                (format!("the documents have {many} errors"), None)
            }
            1 => (located(&first), first.hint),
            many => (format!("{} (and {} more)", located(&first), many - 1), first.hint),
        };
        Err(Failure::Problem(Exit::Refused, Problem { code: "invalid_document", message, hint }))
    }
}

fn located(found: &Diagnostic) -> String {
    format!("{}:{}: {}", found.file, found.start, found.message)
}

fn problem(found: &Diagnostic) -> Problem {
    Problem { code: found.code.as_str(), message: located(found), hint: found.hint.clone() }
}
