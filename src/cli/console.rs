//! Where a command writes: rows to stdout, talk to stderr.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};

use crate::wire::{
    Case, DiagnosticForm, Format, Problem, Remark, Sheet, Strictness, Style, Warning, reporter,
    to_json,
};

use super::args::FormatName;

/// The two outputs of a command and the forms that were asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Console {
    /// The form of rows.
    pub(super) format: Format,
    talk: Talk,
}

/// The form of errors and warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Talk {
    /// `error:` and `hint:`.
    Text,
    /// One object a line.
    Json,
}

impl Console {
    /// The console for a `--format`. Without one, rows are a table on a terminal and JSON Lines
    /// elsewhere; errors are JSON only where JSON was asked for by name, so that a script's log
    /// stays readable.
    pub(super) fn new(format: Option<FormatName>) -> Console {
        let default =
            if io::stdout().is_terminal() { FormatName::Table } else { FormatName::Jsonl };
        let talk = match format {
            Some(FormatName::Json | FormatName::Jsonl) => Talk::Json,
            _ => Talk::Text,
        };
        Console { format: format.unwrap_or(default).into(), talk }
    }

    /// A sheet on stdout.
    pub(super) fn sheet(&self) -> io::Result<Sheet<File>> {
        // A file of its own, because `Stdout` looks for line ends in everything it is given.
        Ok(Sheet::new(self.format, File::from(io::stdout().as_fd().try_clone_to_owned()?)))
    }

    /// Says an error.
    pub(super) fn error(&self, problem: &Problem) {
        match self.talk {
            Talk::Text => tell(&problem.to_text("error")),
            Talk::Json => tell(&format!("{}\n", to_json(problem))),
        }
    }

    /// Says a warning.
    pub(super) fn warn(&self, problem: &Problem) {
        match self.talk {
            Talk::Text => tell(&problem.to_text("warning")),
            Talk::Json => tell(&format!("{}\n", to_json(&Warning(problem)))),
        }
    }

    /// Says what is worth knowing.
    pub(super) fn remark(&self, problem: &Problem) {
        match self.talk {
            Talk::Text => tell(&problem.to_text("note")),
            Talk::Json => tell(&format!("{}\n", to_json(&Remark(problem)))),
        }
    }

    /// Shows people diagnostics; programs are told in [`Console::error`].
    pub(super) fn show(&self, cases: &[Case<'_>]) {
        if self.talk == Talk::Text {
            let style = style_of(&io::stderr());
            let mut reporter =
                reporter(DiagnosticForm::Human(style), Strictness::Errors, io::stderr());
            // Where that fails there is nobody left to show them to.
            let _ = cases.iter().try_for_each(|case| reporter.case(case));
        }
    }

    /// The error that ends a command whose documents have `errors` errors. Programs are told the
    /// first; people have seen them all.
    pub(super) fn verdict(&self, first: Problem, errors: usize) -> Problem {
        let (message, hint) = match (self.talk, errors) {
            (Talk::Json, 1) => return first,
            (Talk::Json, _) => {
                (format!("{}, and {} errors more", first.message, errors - 1), first.hint)
            }
            (Talk::Text, 1) => {
                ("the documents have an error, so nothing was done".to_owned(), None)
            }
            (Talk::Text, _) => {
                (format!("the documents have {errors} errors, so nothing was done"), None)
            }
        };
        Problem { code: first.code, message, hint }
    }

    /// Says in one line what was done; programs count for themselves.
    pub(super) fn summarise(&self, text: &str) {
        if self.talk == Talk::Text {
            tell(&format!("{text}\n"));
        }
    }

    /// Tells people who look at a table what its rows leave out.
    pub(super) fn note(&self, text: &str) {
        if self.format == Format::Table {
            tell(&format!("{text}\n"));
        }
    }
}

/// Colours only on a terminal that knows them, and where `NO_COLOR` and its like allow them.
pub(super) fn style_of(out: &impl RawStream) -> Style {
    match AutoStream::choice(out) {
        ColorChoice::Never => Style::Plain,
        _ => Style::Coloured,
    }
}

/// Writes to stderr. Where that fails there is nobody left to tell.
fn tell(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
