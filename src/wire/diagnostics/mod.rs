//! Diagnostics: what is wrong with documents, each with its place, in seven forms.

mod github;
mod gitlab;
mod human;
mod identity;
mod json;
mod junit;
mod position;
mod sarif;

use std::io::{self, Write};
use std::ops::Range;

use crate::schedule::{Code, Documents, Fault, Severity, locate};

use super::row::row;
pub use human::Style;
pub use position::Span;

/// One thing that is wrong with a document, or worth a look.
#[derive(Debug, Clone)]
pub struct Diagnostic<'a> {
    /// The text that has it.
    pub source: Source<'a>,
    /// The name of the workflow that has it, where one is known.
    pub workflow: Option<&'a str>,
    /// Its place: lines and columns.
    pub span: Span,
    /// Its place: the range of bytes in the text.
    pub range: Range<usize>,
    /// Its place: an RFC 6901 pointer.
    pub pointer: &'a str,
    /// Its kind.
    pub code: Code,
    /// How bad it is here.
    pub severity: Severity,
    /// One sentence.
    pub message: &'a str,
    /// What to do about it.
    pub hint: Option<&'a str>,
}

row!(Diagnostic<'_>: row => {
    shown "file" = row.source.file,
    shown "line" = row.span.line,
    shown "column" = row.span.column,
    data "end_line" = row.span.end_line,
    data "end_column" = row.span.end_column,
    shown "pointer" = row.pointer,
    data "ref" = row.workflow,
    shown "code" = row.code.as_str(),
    shown "severity" = row.severity.as_str(),
    shown "message" = row.message,
    shown "hint" = row.hint,
});

/// One JSON text of a file.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The name of the file, as people know it.
    pub file: &'a str,
    /// The JSON text.
    pub text: &'a str,
    /// The line of the file on which it begins, from 1.
    pub first_line: u64,
}

/// One checked workflow, or a text that declares none, with everything found in it.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The name of the workflow, or else its pointer; `None` for a text as a whole.
    pub name: Option<&'a str>,
    /// What was found.
    pub diagnostics: Vec<Diagnostic<'a>>,
}

/// What was checked and found in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files that were read.
    pub files: u64,
    /// Workflows in them.
    pub workflows: u64,
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// Whether warnings fail too.
    pub strictness: Strictness,
}

/// What fails a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// Errors.
    #[default]
    Errors,
    /// Errors and warnings.
    Warnings,
}

impl Strictness {
    /// Whether something this bad fails a check.
    pub fn fails(self, severity: Severity) -> bool {
        match self {
            Strictness::Errors => severity == Severity::Error,
            Strictness::Warnings => severity >= Severity::Warning,
        }
    }
}

impl Summary {
    /// Whether the documents pass.
    pub fn is_clean(&self) -> bool {
        let fails = |severity, count| self.strictness.fails(severity) && count > 0;
        !fails(Severity::Error, self.errors) && !fails(Severity::Warning, self.warnings)
    }

    /// Counts what was found in a case.
    pub fn count(&mut self, case: &Case<'_>) {
        for diagnostic in &case.diagnostics {
            match diagnostic.severity {
                Severity::Error => self.errors += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Note => self.notes += 1,
            }
        }
    }
}

impl std::fmt::Display for Summary {
    /// One line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counted = |count: u64, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let found = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let found: Vec<String> = found
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| counted(count, what))
            .collect();
        let found = if found.is_empty() { "no faults".to_owned() } else { found.join(", ") };
        write!(f, "{} in {}: ", counted(self.workflows, "workflow"), counted(self.files, "file"))?;
        f.write_str(&found)
    }
}

/// The forms of diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticForm {
    /// The line at fault with a caret, for people.
    Human(Style),
    /// One JSON object.
    Json,
    /// One JSON object for each diagnostic.
    Jsonl,
    /// SARIF 2.1.0.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// A code quality report of GitLab.
    Gitlab,
    /// JUnit XML, one test case for each workflow.
    Junit,
}

/// A printer of diagnostics.
pub trait Reporter {
    /// Prints what was found in one workflow or text. The cases of a file come one after another.
    ///
    /// # Errors
    /// As the output reports.
    fn case(&mut self, case: &Case<'_>) -> io::Result<()>;

    /// Ends the report.
    ///
    /// # Errors
    /// As the output reports.
    fn finish(&mut self, summary: &Summary) -> io::Result<()>;
}

/// The places of some faults of a text, found in one pass over it.
pub fn spans<'f>(source: Source<'_>, faults: impl IntoIterator<Item = &'f Fault>) -> Vec<Span> {
    position::spans(source.text, source.first_line, &locate(source.text, faults))
}

/// The printer of a form. `out` needs a buffer of its own.
pub fn reporter<'w>(
    form: DiagnosticForm,
    strictness: Strictness,
    out: impl Write + 'w,
) -> Box<dyn Reporter + 'w> {
    match form {
        DiagnosticForm::Human(style) => Box::new(human::Human::new(style, out)),
        DiagnosticForm::Json => Box::new(json::Json::new(out)),
        DiagnosticForm::Jsonl => Box::new(json::Jsonl::new(out)),
        DiagnosticForm::Sarif => Box::new(sarif::Sarif::new(out)),
        DiagnosticForm::Github => Box::new(github::Github::new(out)),
        DiagnosticForm::Gitlab => Box::new(gitlab::Gitlab::new(out)),
        DiagnosticForm::Junit => Box::new(junit::Junit::new(strictness, out)),
    }
}

/// The workflows of a text as cases. Places are computed only where there is a fault.
pub fn cases<'a>(source: Source<'a>, documents: &'a Documents) -> Vec<Case<'a>> {
    let mut cases = Vec::with_capacity(documents.documents.len() + 1);
    for document in &documents.documents {
        let workflow = document.reference.as_ref().map(|reference| reference.as_str());
        let name = workflow.or(Some(&document.pointer)).filter(|name| !name.is_empty());
        cases.push(case(source, name, workflow, &document.faults));
    }
    // Last, because it may say what was left out of the others.
    if !documents.faults.is_empty() {
        cases.push(case(source, None, None, &documents.faults));
    }
    let faults = || {
        let inside = documents.documents.iter().flat_map(|document| &document.faults);
        inside.chain(&documents.faults)
    };
    if faults().next().is_some() {
        let ranges = locate(source.text, faults());
        let spans = position::spans(source.text, source.first_line, &ranges);
        let diagnostics = cases.iter_mut().flat_map(|case| &mut case.diagnostics);
        for (diagnostic, (range, span)) in diagnostics.zip(ranges.into_iter().zip(spans)) {
            (diagnostic.range, diagnostic.span) = (range, span);
        }
        for case in &mut cases {
            case.diagnostics.sort_by_key(|diagnostic| diagnostic.range.start);
        }
    }
    cases
}

fn case<'a>(
    source: Source<'a>,
    name: Option<&'a str>,
    workflow: Option<&'a str>,
    faults: &'a [Fault],
) -> Case<'a> {
    let diagnostics = faults
        .iter()
        .map(|fault| Diagnostic {
            source,
            workflow,
            span: Span::default(),
            range: 0..0,
            pointer: &fault.pointer,
            code: fault.code,
            severity: fault.severity(),
            message: &fault.message,
            hint: fault.hint.as_deref(),
        })
        .collect();
    Case { file: source.file, name, diagnostics }
}
