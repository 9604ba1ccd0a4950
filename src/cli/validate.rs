//! `validate`: everything that is wrong with documents, at its place.

use std::io::{self, BufWriter, IsTerminal, Stdout};
use std::ops::Range;

use clap::{Args, ValueEnum};

use crate::schedule::{Code, Declaration, Reference, Severity};
use crate::time::Instant;
use crate::wire::report::{Counts, Diagnostic, Excerpt, Human, Json, JsonLines, Report, Style};

use super::args::{Documents, FormatName};
use super::console::Console;
use super::failure::{Exit, Failure};
use super::input::{self, Names, Sink, Tally};

#[derive(Debug, Args)]
pub(super) struct Validate {
    #[command(flatten)]
    documents: Documents,

    /// The form of the report
    #[arg(long, value_name = "FORM", default_value = "human")]
    format: Form,

    /// Fail on warnings, too
    #[arg(long)]
    strict: bool,

    /// Pass over warnings and notes of this kind
    #[arg(long, value_name = "CODE", value_parser = allowable)]
    allow: Vec<Code>,

    /// Take warnings and notes of this kind for errors
    #[arg(long, value_name = "CODE", value_parser = str::parse::<Code>)]
    deny: Vec<Code>,

    /// Say nothing beside the report
    #[arg(long, short)]
    quiet: bool,

    /// Take T for the present: RFC 3339, or a date (midnight UTC)
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    now: Option<Instant>,

    /// Set to anything, it turns colours off.
    #[arg(long, env = "NO_COLOR", hide = true)]
    no_color: Option<String>,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The line of the source, with a caret below what is at fault
    Human,
    /// One JSON object
    Json,
    /// One JSON object for each diagnostic
    Jsonl,
}

/// A code that `--allow` may name.
fn allowable(word: &str) -> Result<Code, String> {
    let code: Code = word.parse().map_err(|error| format!("{error}"))?;
    match code.severity() {
        // In a folder it is a warning.
        Severity::Error if code != Code::NoWorkflow => {
            Err("a document with this error cannot be used".to_owned())
        }
        _ => Ok(code),
    }
}

pub(super) fn validate(args: Validate) -> Exit {
    let console = Console::new(args.error_format());
    match args.check(&console) {
        Ok(exit) => exit,
        Err(failure) => failure.report(&console),
    }
}

impl Validate {
    /// The form of errors that follows from that of the report.
    fn error_format(&self) -> Option<FormatName> {
        match self.format {
            Form::Json => Some(FormatName::Json),
            Form::Jsonl => Some(FormatName::Jsonl),
            Form::Human => None,
        }
    }

    fn check(&self, console: &Console) -> Result<Exit, Failure> {
        if self.documents.is_empty() {
            let message = "there is nothing to check".to_owned();
            return Err(Failure::failed("usage", message, Some("name documents, or --schedule")));
        }
        let mut check = Check { args: self, report: self.report(), counts: Counts::default() };
        let tally = input::read(&self.documents, Names::Optional, &mut check)?;
        check.end(tally, console)
    }

    fn report(&self) -> Box<dyn Report> {
        let out: BufWriter<Stdout> = BufWriter::new(io::stdout());
        let is_plain = self.no_color.as_ref().is_some_and(|value| !value.is_empty())
            || !io::stdout().is_terminal();
        match self.format {
            Form::Human if is_plain => Box::new(Human::new(out, Style::Plain)),
            Form::Human => Box::new(Human::new(out, Style::Coloured)),
            Form::Json => Box::new(Json::new(out)),
            Form::Jsonl => Box::new(JsonLines::new(out)),
        }
    }
}

/// A check under way.
struct Check<'a> {
    args: &'a Validate,
    report: Box<dyn Report>,
    counts: Counts,
}

impl Sink for Check<'_> {
    fn workflow(&mut self, _: Option<Reference>, _: Declaration) {}

    fn diagnostic(
        &mut self,
        mut found: Diagnostic,
        text: &str,
        span: &Range<usize>,
    ) -> Result<(), Failure> {
        if self.args.deny.contains(&found.code) {
            found.severity = Severity::Error;
        } else if self.args.allow.contains(&found.code) && found.severity != Severity::Error {
            return Ok(());
        }
        *match found.severity {
            Severity::Error => &mut self.counts.errors,
            Severity::Warning => &mut self.counts.warnings,
            Severity::Note => &mut self.counts.notes,
        } += 1;
        Ok(self.report.found(&found, &Excerpt::of(text, span))?)
    }
}

impl Check<'_> {
    fn end(mut self, tally: Tally, console: &Console) -> Result<Exit, Failure> {
        self.counts.files = tally.files;
        self.counts.workflows = tally.workflows;
        self.report.end(&self.counts)?;
        if !self.args.quiet {
            if let Some(note) = tally.ignored.note() {
                console.aside(&note);
            }
            console.explain(|| summary(&self.counts));
        }
        for problem in &tally.problems {
            console.error(problem);
        }
        let Counts { errors, warnings, .. } = self.counts;
        let fails = errors > 0 || (self.args.strict && warnings > 0);
        Ok(match (tally.problems.is_empty(), fails) {
            (false, _) => Exit::Failed,
            (true, true) => Exit::Refused,
            (true, false) => Exit::Done,
        })
    }
}

/// What was checked and what was found, in one line.
fn summary(counts: &Counts) -> String {
    let many = |count: u64, word: &str| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    };
    let Counts { files, workflows, errors, warnings, notes } = *counts;
    let checked = format!("checked {} in {}", many(workflows, "workflow"), many(files, "file"));
    let found = [(errors, "error"), (warnings, "warning"), (notes, "note")];
    let found: Vec<String> = found
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| many(*count, word))
        .collect();
    match found.is_empty() {
        true => format!("{checked}: no faults\n"),
        false => format!("{checked}: {}\n", found.join(", ")),
    }
}
