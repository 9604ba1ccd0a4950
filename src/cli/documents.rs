//! The documents that a command works on.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::schedule::{self, Declaration, Finding, Form, Reference, Schedule, Severity};

use super::args;
use super::failure::Failure;

/// One workflow as a document gives it.
#[derive(Debug, Clone)]
pub(super) struct Workflow {
    /// Its name; `None` where the document has none.
    pub(super) reference: Option<Reference>,
    /// Its schedule; `None` for one that is `false`.
    pub(super) schedule: Option<Schedule>,
}

/// Reads every document, or fails with every fault.
pub(super) fn read(args: &args::Documents) -> Result<Vec<Workflow>, Failure> {
    if let Some(text) = &args.schedule {
        let (declaration, findings) = schedule::read_schedule(text);
        refuse_errors("--schedule", &findings)?;
        let schedule = declaration.and_then(Declaration::into_schedule);
        return Ok(vec![Workflow { reference: args.reference.clone(), schedule }]);
    }
    let mut workflows = Vec::new();
    for path in &args.paths {
        for file in files(path)? {
            let text = text(&file)?;
            let form = if is_json_lines(&file) { Form::JsonLines } else { Form::Json };
            let read = schedule::read_documents(&text, form);
            refuse_errors(&file.display().to_string(), &read.findings)?;
            workflows.extend(read.documents.into_iter().map(|document| Workflow {
                reference: document.reference.or_else(|| args.reference.clone()),
                schedule: document.declaration.into_schedule(),
            }));
        }
    }
    Ok(workflows)
}

fn refuse_errors(name: &str, findings: &[Finding]) -> Result<(), Failure> {
    let errors = findings.iter().filter(|finding| finding.fault.severity() == Severity::Error);
    let lines: Vec<String> = errors
        .map(|finding| format!("{name}:{}: {}", finding.fault.pointer, finding.fault.message))
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(Failure::refused("invalid_document", lines.join("\n"), None))
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::failed("unreadable", format!("`{}` cannot be read: {error}", path.display()), None)
    };
    if path == Path::new("-") || !fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let inner = entry.map_err(failed)?.path();
        let is_document = inner.extension().is_some_and(|extension| extension == "json");
        if is_document || is_json_lines(&inner) {
            found.push(inner);
        }
    }
    found.sort();
    Ok(found)
}

fn is_json_lines(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl" || extension == "ndjson")
}

fn text(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        Failure::failed("unreadable", format!("`{}` cannot be read: {error}", path.display()), None)
    };
    if path != Path::new("-") {
        return fs::read_to_string(path).map_err(failed);
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// Reads every document, each of which needs a ref.
pub(super) fn read_named(
    args: &args::Documents,
) -> Result<Vec<(Reference, Option<Schedule>)>, Failure> {
    read(args)?
        .into_iter()
        .map(|workflow| match workflow.reference {
            Some(reference) => Ok((reference, workflow.schedule)),
            None => Err(Failure::refused(
                "missing-ref",
                "a document has no ref".to_owned(),
                Some("add \"ref\", or give --ref for a single document"),
            )),
        })
        .collect()
}
