//! Diagnostics as SARIF 2.1.0, for code scanning.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::schedule::{Code, Severity};

use super::super::json::line;
use super::identity::{Fingerprints, path};
use super::{Case, Diagnostic, Reporter, Summary};

/// GitHub refuses a run with more results.
const RESULTS_AT_MOST: u64 = 25_000;

pub(super) struct Sarif<W: Write> {
    out: W,
    fingerprints: Fingerprints,
    results: u64,
    untold: u64,
}

impl<W: Write> Sarif<W> {
    pub(super) fn new(out: W) -> Sarif<W> {
        Sarif { out, fingerprints: Fingerprints::default(), results: 0, untold: 0 }
    }

    /// What stands before the results.
    fn begin(&mut self) -> io::Result<()> {
        let rules: Vec<Value> = Code::ALL.iter().map(|code| rule(*code)).collect();
        let driver = json!({
            "name": "windowpane",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        });
        let schema = "https://json.schemastore.org/sarif-2.1.0.json";
        write!(
            self.out,
            "{{\"$schema\":\"{schema}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":\
             {driver}}},\"columnKind\":\"unicodeCodePoints\",\"results\":["
        )
    }
}

impl<W: Write> Reporter for Sarif<W> {
    fn case(&mut self, case: &Case<'_>) -> io::Result<()> {
        for diagnostic in &case.diagnostics {
            if self.results == RESULTS_AT_MOST {
                self.untold += 1;
                continue;
            }
            if self.results == 0 {
                self.begin()?;
            }
            let before = if self.results == 0 { "\n" } else { ",\n" };
            self.results += 1;
            let result = result(diagnostic, &self.fingerprints.of(diagnostic));
            self.out.write_all(before.as_bytes())?;
            self.out.write_all(&line(&result))?;
        }
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        if self.results == 0 {
            self.begin()?;
        }
        let mut invocation = json!({ "executionSuccessful": true });
        if self.untold > 0 {
            let text = format!("{} results more are left out", self.untold);
            invocation["toolExecutionNotifications"] =
                json!([{ "level": "warning", "message": { "text": text } }]);
        }
        let properties = json!({ "files": summary.files, "workflows": summary.workflows });
        let after = if self.results == 0 { "" } else { "\n" };
        writeln!(
            self.out,
            "{after}],\"invocations\":[{invocation}],\"properties\":{properties}}}]}}"
        )?;
        self.out.flush()
    }
}

fn rule(code: Code) -> Value {
    let help = format!("{} For example, this has it: {}", code.remedy(), code.example());
    json!({
        "id": code.as_str(),
        "shortDescription": { "text": code.title() },
        "fullDescription": { "text": format!("{} {}", code.title(), code.remedy()) },
        "help": { "text": help },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn result(diagnostic: &Diagnostic<'_>, fingerprint: &str) -> Value {
    let span = diagnostic.span;
    let hint = diagnostic.hint.map_or(String::new(), |hint| format!("; {hint}"));
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&path(diagnostic.source.file)) },
            "region": {
                "startLine": span.line,
                "startColumn": span.column,
                "endLine": span.end_line,
                "endColumn": span.end_column,
            },
        },
    });
    let logical = diagnostic.workflow.map(|name| json!({ "name": name, "kind": "object" }));
    location["logicalLocations"] = json!(
        logical
            .into_iter()
            .chain([json!({ "fullyQualifiedName": diagnostic.pointer, "kind": "value" })])
            .collect::<Vec<_>>()
    );
    json!({
        "ruleId": diagnostic.code.as_str(),
        "ruleIndex": Code::ALL.iter().position(|code| *code == diagnostic.code),
        "level": level(diagnostic.severity),
        "message": { "text": format!("{}{hint}", diagnostic.message) },
        "locations": [location],
        "partialFingerprints": { "windowpane/v1": fingerprint },
    })
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for &byte in path.as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => uri.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
