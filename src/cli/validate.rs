//! `validate`: every fault of every document, at its place, in the form that the reader wants.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::clock::{Clock, FixedClock, SystemClock};
use crate::schedule::{Code, Documents, Fault, Part, Reference, Severity};
use crate::time::Instant;
use crate::wire::{
    Case, DiagnosticForm, Problem, Reporter, Source, Strictness, Style, Summary, cases, reporter,
};

use super::args::FormatName;
use super::console::{Console, style_of};
use super::documents::say_ignored;
use super::failure::{Exit, Failure};
use super::input::{self, Event, InputError, Request, Text};
use super::progress::Progress;

#[derive(Debug, Args)]
pub(super) struct Validate {
    /// Workflow documents (.json, .jsonl), folders of them, globs, or - for standard input
    #[arg(value_name = "PATH", required_unless_present = "schedule")]
    paths: Vec<PathBuf>,

    /// A schedule in place of a path
    #[arg(long, value_name = "JSON", conflicts_with = "paths")]
    schedule: Option<String>,

    /// The ref of the one document that names none
    #[arg(long = "ref", value_name = "REF", value_parser = Reference::new)]
    reference: Option<Reference>,

    /// Take T for the present: RFC 3339, or a date (midnight UTC)
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    now: Option<Instant>,

    /// The form of the diagnostics on stdout
    #[arg(long, value_name = "FORM", default_value = "human")]
    format: FormName,

    /// Let warnings fail too
    #[arg(long)]
    strict: bool,

    /// Leave out warnings or notes of this kind
    #[arg(long, value_name = "CODE", value_parser = allowable, value_delimiter = ',')]
    allow: Vec<Code>,

    /// Make errors of warnings of this kind
    #[arg(long, value_name = "CODE", value_parser = deniable, value_delimiter = ',')]
    deny: Vec<Code>,

    /// Print nothing but diagnostics
    #[arg(long, short)]
    quiet: bool,
}

/// The values of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormName {
    /// The line at fault, for people
    #[value(alias = "table")]
    Human,
    /// One JSON object
    Json,
    /// One JSON object for each diagnostic
    Jsonl,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands of GitHub Actions
    Github,
    /// A code quality report of GitLab
    Gitlab,
    /// JUnit XML
    Junit,
}

impl FormName {
    fn form(self, style: Style) -> DiagnosticForm {
        match self {
            FormName::Human => DiagnosticForm::Human(style),
            FormName::Json => DiagnosticForm::Json,
            FormName::Jsonl => DiagnosticForm::Jsonl,
            FormName::Sarif => DiagnosticForm::Sarif,
            FormName::Github => DiagnosticForm::Github,
            FormName::Gitlab => DiagnosticForm::Gitlab,
            FormName::Junit => DiagnosticForm::Junit,
        }
    }

    /// The form of errors that are no diagnostics.
    fn talk(self) -> Option<FormatName> {
        match self {
            FormName::Json => Some(FormatName::Json),
            FormName::Jsonl => Some(FormatName::Jsonl),
            _ => None,
        }
    }
}

/// Runs `validate`.
pub(super) fn validate(args: &Validate) -> Exit {
    let console = Console::new(args.format.talk());
    match check(args, &console) {
        Ok(exit) => exit,
        Err(Failure::Closed) => Exit::Done,
        Err(Failure::Problem(exit, problem)) => {
            console.error(&problem);
            exit
        }
    }
}

fn check(args: &Validate, console: &Console) -> Result<Exit, Failure> {
    let now = args.now.map_or_else(|| SystemClock.now(), |now| FixedClock(now).now());
    let request =
        Request { paths: &args.paths, schedule: args.schedule.as_deref(), today: Some(now) };
    let is_terminal = io::stdout().is_terminal();
    let out: Box<dyn Write> = match is_terminal {
        // Line by line, so that the progress bar stands below what was told.
        true => Box::new(io::stdout().lock()),
        false => Box::new(BufWriter::with_capacity(64 * 1024, io::stdout().lock())),
    };
    let has_bar = !args.quiet && (!is_terminal || args.format == FormName::Human);
    let form = args.format.form(style_of(&io::stdout()));
    let mut check = Check {
        args,
        reporter: reporter(form, args.strictness(), out),
        summary: Summary { strictness: args.strictness(), ..Summary::default() },
        unreadable: Vec::new(),
        progress: has_bar.then(Progress::default),
    };
    let read = input::read(&request, &mut io::stdin().lock(), &mut |event| check.take(event));
    check.end(read, console)
}

impl Validate {
    fn strictness(&self) -> Strictness {
        if self.strict { Strictness::Warnings } else { Strictness::Errors }
    }
}

struct Check<'a> {
    args: &'a Validate,
    reporter: Box<dyn Reporter + 'a>,
    summary: Summary,
    /// What could not be read, told at the end so that it is seen.
    unreadable: Vec<InputError>,
    progress: Option<Progress>,
}

impl Check<'_> {
    fn take(&mut self, event: Event<'_>) -> Result<(), Failure> {
        let text = match event {
            Event::Unreadable(error) => return self.take_unreadable(error),
            Event::Text(text) => {
                self.summary.workflows += text.documents.documents.len() as u64;
                if let Some(progress) = &mut self.progress {
                    progress.show(1, text.progress);
                }
                self.named(text)
            }
            Event::Duplicates(text) => text,
        };
        for mut case in cases(text.source, &text.documents) {
            self.judge(&mut case);
            self.tell(&case)?;
        }
        Ok(())
    }

    fn tell(&mut self, case: &Case<'_>) -> Result<(), Failure> {
        self.summary.count(case);
        if let Some(progress) = &mut self.progress
            && !case.diagnostics.is_empty()
        {
            progress.clear();
        }
        Ok(self.reporter.case(case)?)
    }

    /// Tells of a path among the diagnostics, so that every report has it.
    fn take_unreadable(&mut self, error: InputError) -> Result<(), Failure> {
        let fault = Fault {
            code: Code::Unreadable,
            pointer: String::new(),
            part: Part::Value,
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
        };
        let source = Source { file: error.path(), text: "", first_line: 1 };
        let documents = Documents { documents: Vec::new(), faults: vec![fault] };
        for case in cases(source, &documents) {
            self.tell(&case)?;
        }
        self.unreadable.push(error);
        Ok(())
    }

    /// Gives `--ref` to a document without a ref.
    fn named<'t>(&self, mut text: Text<'t>) -> Text<'t> {
        if let [document] = &mut *text.documents.documents {
            document.reference = document.reference.take().or_else(|| self.args.reference.clone());
        }
        text
    }

    /// Carries out `--allow` and `--deny`.
    fn judge(&self, case: &mut Case<'_>) {
        case.diagnostics.retain(|one| !self.args.allow.contains(&one.code));
        for diagnostic in &mut case.diagnostics {
            if self.args.deny.contains(&diagnostic.code) {
                diagnostic.severity = Severity::Error;
            }
        }
    }

    fn end(
        mut self,
        read: Result<input::Tally, Failure>,
        console: &Console,
    ) -> Result<Exit, Failure> {
        if let Some(progress) = &mut self.progress {
            progress.clear();
        }
        // What was found is told, whatever went wrong after it.
        let (tally, failure) = match read {
            Ok(tally) => (tally, None),
            Err(Failure::Closed) => return Err(Failure::Closed),
            Err(failure) => (input::Tally::default(), Some(failure)),
        };
        self.summary.files = tally.files;
        self.reporter.finish(&self.summary)?;
        if let Some(failure) = failure {
            return Err(failure);
        }
        if !self.args.quiet {
            say_ignored(&tally.ignored, console);
            console.summarise(&self.summary.to_string());
        }
        for error in &self.unreadable {
            let hint = error.hint().map(str::to_owned);
            console.error(&Problem { code: error.code(), message: error.to_string(), hint });
        }
        Ok(match (self.unreadable.is_empty(), self.summary.is_clean()) {
            (false, _) => Exit::Failed,
            (true, false) => Exit::Refused,
            (true, true) => Exit::Done,
        })
    }
}

fn allowable(word: &str) -> Result<Code, String> {
    let code = named(word)?;
    match code.severity() {
        Severity::Error => {
            Err("it is an error, and a document with an error cannot be used".into())
        }
        Severity::Warning | Severity::Note => Ok(code),
    }
}

fn deniable(word: &str) -> Result<Code, String> {
    let code = named(word)?;
    match code.severity() {
        Severity::Note => Err("it depends on today's date, so it never fails".into()),
        Severity::Warning | Severity::Error => Ok(code),
    }
}

fn named(word: &str) -> Result<Code, String> {
    Code::named(word).ok_or_else(|| {
        let warnings = Code::ALL.iter().filter(|code| code.severity() != Severity::Error);
        let words: Vec<&str> = warnings.map(|code| code.as_str()).collect();
        format!("there is no such code; warnings and notes are {}", words.join(", "))
    })
}
