//! The documents that a command works on: all of them, or none where one has an error.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use crate::schedule::{Code, Declaration, Documents, Fault, Part, Reference, Schedule, Severity};
use crate::wire::{Case, Problem, cases};

use super::args;
use super::console::Console;
use super::failure::{Exit, Failure};
use super::input::{self, Event, InputError, Request, Text};

/// One workflow as a document gives it.
#[derive(Debug, Clone)]
pub(super) struct Workflow {
    /// Its name; `None` where the document has none.
    pub(super) reference: Option<Reference>,
    /// Its schedule, shared by all that have the same; `None` for one that is `false`.
    pub(super) schedule: Option<Arc<Schedule>>,
}

/// One workflow with its name, as [`Workflow`] has it.
pub(super) type Named = (Reference, Option<Arc<Schedule>>);

/// So many errors are shown; `validate` shows all.
const SHOWN_AT_MOST: usize = 20;

/// So many ignored files are named.
const NAMED_AT_MOST: usize = 3;

/// Whether each workflow needs a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Optional,
    Required,
}

/// Reads every document, or fails after all were read and every fault was found.
pub(super) fn read(args: &args::Documents, console: &Console) -> Result<Vec<Workflow>, Failure> {
    gather(args, Naming::Optional, console)
}

fn gather(
    args: &args::Documents,
    naming: Naming,
    console: &Console,
) -> Result<Vec<Workflow>, Failure> {
    let request = Request { paths: &args.paths, schedule: args.schedule.as_deref(), today: None };
    let mut gathered = Gathered::new(console);
    // With --ref it shows at the end whether one document is left without a name.
    let needs_names = naming == Naming::Required && args.reference.is_none();
    let tally = input::read(&request, &mut io::stdin().lock(), &mut |event| match event {
        Event::Text(mut text) => {
            if needs_names {
                note_missing_refs(&mut text.documents);
            }
            gathered.add(text)
        }
        Event::Duplicates(text) => {
            gathered.judge(&text.documents, &cases(text.source, &text.documents))
        }
        Event::Unreadable(error) => Err(error.into()),
    })?;
    say_ignored(&tally.ignored, console);
    gathered.end(args.reference.as_ref())
}

/// Reads every document, each of which needs a ref.
pub(super) fn read_named(args: &args::Documents, console: &Console) -> Result<Vec<Named>, Failure> {
    let workflows = gather(args, Naming::Required, console)?;
    // Those without a name were faults, or have that of --ref.
    let named = |Workflow { reference, schedule }| Some((reference?, schedule));
    Ok(workflows.into_iter().filter_map(named).collect())
}

/// Notes each sound document that has no ref.
fn note_missing_refs(documents: &mut Documents) {
    for document in &mut documents.documents {
        if document.reference.is_none() && document.declaration.is_some() {
            document.faults.push(Fault {
                code: Code::MissingKey,
                pointer: document.pointer.clone(),
                part: Part::Key,
                message: "the document has no `ref`".to_owned(),
                hint: Some("add \"ref\", or give --ref for a single document".to_owned()),
            });
        }
    }
}

/// Says what ignore files kept from being read, so that nothing is left out in silence.
pub(super) fn say_ignored(ignored: &[String], console: &Console) {
    if ignored.is_empty() {
        return;
    }
    let named: Vec<String> =
        ignored.iter().take(NAMED_AT_MOST).map(|name| format!("`{name}`")).collect();
    let more = match ignored.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("ignore files leave out {}{more}", named.join(", "));
    console.remark(&Problem { code: "ignored", message, hint: None });
}

/// What was read so far.
struct Gathered<'c> {
    console: &'c Console,
    workflows: Vec<Workflow>,
    /// Each schedule once: of many workflows, most have one in common.
    schedules: HashSet<Arc<Schedule>>,
    errors: usize,
    /// The first error, for programs.
    first: Option<Problem>,
}

impl<'c> Gathered<'c> {
    fn new(console: &'c Console) -> Gathered<'c> {
        Gathered {
            console,
            workflows: Vec::new(),
            schedules: HashSet::new(),
            errors: 0,
            first: None,
        }
    }

    fn add(&mut self, text: Text<'_>) -> Result<(), Failure> {
        let Text { source, documents, .. } = text;
        self.judge(&documents, &cases(source, &documents))?;
        for document in documents.documents {
            let Some(declaration) = document.declaration else { continue };
            let schedule = Declaration::into_schedule(declaration).map(|one| self.share(one));
            self.workflows.push(Workflow { reference: document.reference, schedule });
        }
        Ok(())
    }

    /// The same schedule as it was kept before.
    fn share(&mut self, schedule: Schedule) -> Arc<Schedule> {
        if let Some(known) = self.schedules.get(&schedule) {
            return Arc::clone(known);
        }
        let schedule = Arc::new(schedule);
        self.schedules.insert(Arc::clone(&schedule));
        schedule
    }

    /// Takes note of errors, and says what was passed over. Other warnings are for `validate`.
    fn judge(&mut self, documents: &Documents, cases: &[Case<'_>]) -> Result<(), Failure> {
        if documents.is_clean() {
            return Ok(());
        }
        let mut told = cases.to_vec();
        for case in &mut told {
            case.diagnostics.retain(|one| one.severity == Severity::Error);
            self.errors += case.diagnostics.len();
        }
        if self.errors <= SHOWN_AT_MOST {
            self.console.show(&told);
        }
        for diagnostic in cases.iter().flat_map(|case| &case.diagnostics) {
            let (file, line) = (diagnostic.source.file, diagnostic.span.line);
            let hint = diagnostic.hint.map(str::to_owned);
            if diagnostic.code == Code::PassedOver {
                let message = format!("`{file}` is {}", diagnostic.message);
                self.console.warn(&Problem { code: "passed_over", message, hint });
            } else if diagnostic.severity == Severity::Error && self.first.is_none() {
                let pointer = match diagnostic.pointer {
                    "" => String::new(),
                    pointer => format!(" at `{pointer}`"),
                };
                let message = format!(
                    "{file}:{line}:{}: {}{pointer}",
                    diagnostic.span.column, diagnostic.message
                );
                self.first = Some(Problem { code: "invalid_document", message, hint });
            }
        }
        Ok(())
    }

    fn end(self, reference: Option<&Reference>) -> Result<Vec<Workflow>, Failure> {
        if let Some(first) = self.first {
            return Err(Failure::Problem(Exit::Refused, self.console.verdict(first, self.errors)));
        }
        let mut workflows = self.workflows;
        if let Some(reference) = reference {
            name_the_nameless(&mut workflows, reference)?;
        }
        Ok(workflows)
    }
}

/// Gives `--ref` to the one document without a ref.
fn name_the_nameless(workflows: &mut [Workflow], reference: &Reference) -> Result<(), Failure> {
    let named = |workflow: &Workflow| workflow.reference.as_ref() == Some(reference);
    if let [workflow] = workflows
        && (workflow.reference.is_none() || named(workflow))
    {
        workflow.reference = Some(reference.clone());
        return Ok(());
    }
    let message = "--ref names a single document that has no ref, and this is another case";
    Err(Failure::refused("misplaced_ref", message.to_owned(), Some("leave --ref out")))
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Failure {
        Failure::failed(error.code(), error.to_string(), error.hint())
    }
}
