//! Any text as a document: it is read or refused at a place in it, and every report of it is sound.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use windowpane::schedule::{Documents, Form, Severity, locate, read_documents};
use windowpane::time::Instant;
use windowpane::wire::{
    DiagnosticForm, Source, Strictness, Style, Summary, cases, escape_controls, reporter,
};

/// 2026-12-01.
const TODAY_MS: i64 = 1_796_083_200_000;

const FORMS: [DiagnosticForm; 7] = [
    DiagnosticForm::Human(Style::Plain),
    DiagnosticForm::Json,
    DiagnosticForm::Jsonl,
    DiagnosticForm::Sarif,
    DiagnosticForm::Github,
    DiagnosticForm::Gitlab,
    DiagnosticForm::Junit,
];

fuzz_target!(|text: &str| {
    let today = Instant::from_ms(TODAY_MS).ok();
    for form in [Form::Json, Form::Line] {
        let documents = read_documents(text, form, today);
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            assert!(!documents.is_clean(), "what is no JSON was read");
        }
        check_places(text, &documents);
        check_reports(text, &documents);
    }
});

/// Every fault lies in the text, and a document with an error declares nothing.
fn check_places(text: &str, documents: &Documents) {
    for document in &documents.documents {
        let has_error = document.faults.iter().any(|fault| fault.severity() == Severity::Error);
        assert!(!has_error || document.declaration.is_none(), "a faulty document was read");
        assert!(has_error || document.declaration.is_some(), "a document was dropped in silence");
    }
    let inside = documents.documents.iter().flat_map(|document| &document.faults);
    for range in locate(text, documents.faults.iter().chain(inside)) {
        assert!(text.get(range.clone()).is_some(), "{range:?} is no part of the text");
    }
}

/// Every form of report can be made, and acts on no terminal.
fn check_reports(text: &str, documents: &Documents) {
    let source = Source { file: "-", text, first_line: 1 };
    let cases = cases(source, documents);
    for form in FORMS {
        let mut out = Vec::new();
        let mut summary = Summary::default();
        let mut reporter = reporter(form, Strictness::Warnings, &mut out);
        for case in &cases {
            summary.count(case);
            reporter.case(case).expect("a buffer takes everything");
        }
        reporter.finish(&summary).expect("a buffer takes everything");
        drop(reporter);
        let report = String::from_utf8(out).expect("reports are text");
        let lines = report.replace('\n', "");
        match form {
            DiagnosticForm::Human(_) | DiagnosticForm::Github => {
                assert_eq!(escape_controls(&lines), lines, "{form:?}");
            }
            DiagnosticForm::Jsonl => {
                for line in report.lines() {
                    serde_json::from_str::<IgnoredAny>(line).expect("each line is JSON");
                }
            }
            DiagnosticForm::Json | DiagnosticForm::Sarif | DiagnosticForm::Gitlab => {
                serde_json::from_str::<IgnoredAny>(&report).expect("the report is JSON");
            }
            DiagnosticForm::Junit => {}
        }
        assert!(!lines.contains(char::is_control), "{form:?} acts on a terminal");
    }
}
