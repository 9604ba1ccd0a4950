//! Diagnostics as workflow commands of GitHub Actions, which become annotations.

use std::io::{self, Write};

use crate::schedule::Severity;

use super::super::text::escape_controls;
use super::identity::path;
use super::{Case, Diagnostic, Reporter, Summary};

/// GitHub shows so many annotations of each kind for one step, and drops the rest.
const SHOWN_AT_MOST: u64 = 10;

pub(super) struct Github<W: Write> {
    out: W,
}

impl<W: Write> Github<W> {
    pub(super) fn new(out: W) -> Github<W> {
        Github { out }
    }
}

impl<W: Write> Reporter for Github<W> {
    fn case(&mut self, case: &Case<'_>) -> io::Result<()> {
        case.diagnostics
            .iter()
            .try_for_each(|diagnostic| writeln!(self.out, "{}", command(diagnostic)))
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let most = summary.errors.max(summary.warnings).max(summary.notes);
        if most > SHOWN_AT_MOST {
            let text = "GitHub annotates 10 errors, 10 warnings and 10 notices of a step; the rest stands only in this log";
            writeln!(self.out, "{text}")?;
        }
        self.out.flush()
    }
}

fn command(diagnostic: &Diagnostic<'_>) -> String {
    let kind = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let span = diagnostic.span;
    let file = property(&path(diagnostic.source.file));
    // Columns are refused where a command spans several lines.
    let columns = if span.line == span.end_line {
        format!(",col={},endColumn={}", span.column, span.end_column)
    } else {
        String::new()
    };
    let hint = diagnostic.hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
    let message = data(&format!("{}{hint}", diagnostic.message));
    let (line, end_line) = (span.line, span.end_line);
    let title = property(&format!("windowpane {}", diagnostic.code.as_str()));
    format!("::{kind} file={file},line={line},endLine={end_line}{columns},title={title}::{message}")
}

/// A message: `%` and line ends escaped as GitHub wants it, other controls spelled out.
fn data(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(escape_controls).collect();
    lines.join("\n").replace('%', "%25").replace('\n', "%0A")
}

/// A property: as a message, and its separators escaped too.
fn property(text: &str) -> String {
    data(&escape_controls(text)).replace(':', "%3A").replace(',', "%2C")
}
