//! Where a command writes: rows to stdout, talk to stderr.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use crate::wire::{Format, Problem, Sheet, Warning, to_json};

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

    /// Whether people read what it says.
    pub(super) fn talks_to_people(&self) -> bool {
        self.talk == Talk::Text
    }

    /// Says something to people only.
    pub(super) fn explain(&self, text: impl FnOnce() -> String) {
        if self.talks_to_people() {
            tell(&text());
        }
    }

    /// Says what did not keep the command from its job, to people only.
    pub(super) fn aside(&self, text: &str) {
        self.explain(|| format!("note: {text}\n"));
    }

    /// Tells people who look at a table what its rows leave out.
    pub(super) fn note(&self, text: &str) {
        if self.format == Format::Table {
            tell(&format!("{text}\n"));
        }
    }
}

/// Writes to stderr. Where that fails there is nobody left to tell.
fn tell(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
