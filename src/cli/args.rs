//! The flags that several commands share, and how their values are read.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::schedule::Reference;
use crate::store::record::Trigger;
use crate::time::{Instant, duration};
use crate::wire::{Format, OutputError, checked_output};

use super::failure::Failure;

/// What every command takes.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Common {
    /// Take T for the present: RFC 3339, or a date (midnight UTC)
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    pub(super) now: Option<Instant>,

    /// Follow this program's tz database where the store has seen a newer one; it is recorded
    #[arg(long)]
    pub(super) accept_older_tzdb: bool,

    /// The form of the rows on stdout [default: table on a terminal, jsonl elsewhere]
    #[arg(long, value_name = "FORM")]
    pub(super) format: Option<FormatName>,
}

/// The values of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatName {
    /// Aligned columns for people
    Table,
    /// One JSON object for each row
    Jsonl,
    /// One JSON object
    Json,
    /// A header and one line for each row
    Csv,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Format {
        match name {
            FormatName::Table => Format::Table,
            FormatName::Jsonl => Format::Jsonl,
            FormatName::Json => Format::Json,
            FormatName::Csv => Format::Csv,
        }
    }
}

/// Which documents to read.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Documents {
    /// Workflow documents (.json, .jsonl), folders of them, or - for standard input
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// A schedule in place of a path
    #[arg(long, value_name = "JSON", conflicts_with = "paths")]
    pub(super) schedule: Option<String>,

    /// The ref of the one document that names none
    #[arg(long = "ref", value_name = "REF", value_parser = Reference::new)]
    pub(super) reference: Option<Reference>,
}

impl Documents {
    /// The documents at some paths.
    pub(super) fn at(paths: Vec<PathBuf>, reference: Option<Reference>) -> Documents {
        Documents { paths, schedule: None, reference }
    }

    /// Whether none are named.
    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.schedule.is_none()
    }
}

/// Where the records are.
#[derive(Debug, Clone, Args)]
pub(super) struct Db {
    /// The store: a SQLite file, or postgres://USER:PASSWORD@HOST/DATABASE?schema=NAME
    #[arg(long = "db", value_name = "URL", env = "WINDOWPANE_DB", hide_env_values = true)]
    pub(super) url: String,
}

/// The values of `--trigger`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TriggerName {
    /// Runs that their schedule caused
    Schedule,
    /// Runs that somebody asked for
    Request,
}

impl From<TriggerName> for Trigger {
    fn from(name: TriggerName) -> Trigger {
        match name {
            TriggerName::Schedule => Trigger::Schedule,
            TriggerName::Request => Trigger::Request,
        }
    }
}

/// Refuses a span that ends before it begins.
pub(super) fn in_order(from: Instant, to: Instant) -> Result<(), Failure> {
    if from > to {
        let message = format!("--from {from} is later than --to {to}");
        return Err(Failure::failed("usage", message, None));
    }
    Ok(())
}

/// Reads a duration in milliseconds, 0 included.
pub(super) fn duration_ms(text: &str) -> Result<i64, String> {
    duration::parse_ms(text).map_err(|error| match &error.hint {
        Some(hint) => format!("{}; {hint}", error.problem),
        None => error.problem,
    })
}

/// Reads a duration in milliseconds that is longer than none.
pub(super) fn span_ms(text: &str) -> Result<i64, String> {
    match duration_ms(text)? {
        0 => Err("it must be longer than 0".to_owned()),
        ms => Ok(ms),
    }
}

/// Reads a text that says something.
pub(super) fn name(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("it must not be empty") } else { Ok(text.to_owned()) }
}

/// Reads the output of a run.
pub(super) fn output(text: &str) -> Result<String, OutputError> {
    checked_output(text).map(str::to_owned)
}
