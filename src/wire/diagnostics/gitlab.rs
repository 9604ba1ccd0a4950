//! Diagnostics as a code quality report of GitLab: one JSON array.

use std::io::{self, Write};

use serde_json::json;

use crate::schedule::Severity;

use super::super::json::line;
use super::identity::{Fingerprints, path};
use super::{Case, Diagnostic, Reporter, Summary};

pub(super) struct Gitlab<W: Write> {
    out: W,
    fingerprints: Fingerprints,
    is_empty: bool,
}

impl<W: Write> Gitlab<W> {
    pub(super) fn new(out: W) -> Gitlab<W> {
        Gitlab { out, fingerprints: Fingerprints::default(), is_empty: true }
    }

    fn entry(&mut self, diagnostic: &Diagnostic<'_>) -> serde_json::Value {
        let severity = match diagnostic.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Note => "info",
        };
        let hint = diagnostic.hint.map_or(String::new(), |hint| format!("; {hint}"));
        let span = diagnostic.span;
        json!({
            "description": format!("{}{hint}", diagnostic.message),
            "check_name": diagnostic.code.as_str(),
            "fingerprint": self.fingerprints.of(diagnostic),
            "severity": severity,
            "location": {
                "path": path(diagnostic.source.file),
                "lines": { "begin": span.line, "end": span.end_line },
                // GitLab shows lines; other readers of the form show columns, too.
                "positions": {
                    "begin": { "line": span.line, "column": span.column },
                    "end": { "line": span.end_line, "column": span.end_column },
                },
            },
        })
    }
}

impl<W: Write> Reporter for Gitlab<W> {
    fn case(&mut self, case: &Case<'_>) -> io::Result<()> {
        for diagnostic in &case.diagnostics {
            let before = if self.is_empty { "[\n" } else { ",\n" };
            self.is_empty = false;
            let entry = self.entry(diagnostic);
            self.out.write_all(before.as_bytes())?;
            self.out.write_all(&line(&entry))?;
        }
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        self.out.write_all(if self.is_empty { b"[]\n" } else { b"\n]\n" })?;
        self.out.flush()
    }
}
