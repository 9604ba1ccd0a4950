//! What the program says of itself, and of a command line that it cannot read.

use std::ffi::OsString;
use std::sync::LazyLock;

use clap::error::ErrorKind;

use crate::time::tzdb_version;
use crate::wire::Problem;

use super::args::FormatName;
use super::console::Console;
use super::failure::Exit;

/// The version of the program and of its tz database.
pub(super) fn version() -> &'static str {
    static VERSION: LazyLock<String> =
        LazyLock::new(|| format!("{} (tz database {})", env!("CARGO_PKG_VERSION"), tzdb_version()));
    &VERSION
}

/// Prints help where it was asked for, else what is wrong with the command line.
pub(super) fn report(error: &clap::Error, args: &[OsString]) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that has gone needs no help.
            let _ = error.print();
            Exit::Done
        }
        _ => {
            match asked_for(args) {
                Some(format) => Console::new(Some(format)).error(&problem(error)),
                None => drop(error.print()),
            }
            Exit::Failed
        }
    }
}

/// The JSON form that an unreadable command line asks for.
fn asked_for(args: &[OsString]) -> Option<FormatName> {
    let values = args.windows(2).filter(|pair| pair[0] == "--format").map(|pair| &*pair[1]);
    let joined = args.iter().filter_map(|arg| arg.to_str()?.strip_prefix("--format="));
    let mut values = values.filter_map(|value| value.to_str()).chain(joined);
    values.find_map(|value| match value {
        "json" => Some(FormatName::Json),
        "jsonl" => Some(FormatName::Jsonl),
        _ => None,
    })
}

/// clap's text as one problem: its first paragraph, with the rest as the hint.
fn problem(error: &clap::Error) -> Problem {
    let text = error.render().to_string();
    let text = text.trim().trim_start_matches("error: ");
    let (message, hint) = match text.split_once("\n\n") {
        Some((message, hint)) => (message, Some(hint)),
        None => (text, None),
    };
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    Problem { code: "usage", message: line(message), hint: hint.map(line) }
}
