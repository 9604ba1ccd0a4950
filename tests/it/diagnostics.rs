//! What the reader says about faulty documents, in a text that anyone can read.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use windowpane::schedule::{Code, Fault, Form, locate, read_documents};

use super::setting;

/// One text of a fixture, with the lines around it.
struct Played {
    /// The comments before it.
    head: String,
    text: String,
}

fn blocks(fixture: &str) -> Vec<Played> {
    let mut blocks = Vec::new();
    for block in fixture.split("\n\n") {
        let (mut head, mut lines) = (String::new(), Vec::new());
        for line in block.lines() {
            match line.strip_prefix("| ") {
                Some(line) => lines.push(line),
                None if line.starts_with('#') => writeln!(head, "{line}").unwrap(),
                None => {}
            }
        }
        blocks.push(Played { head, text: lines.join("\n") });
    }
    blocks
}

/// The faults of a text, each with where it begins and how many characters it is long.
fn faults(text: &str) -> Vec<(usize, usize, usize, Fault)> {
    let today = "2026-12-01T00:00:00Z".parse().unwrap();
    let read = read_documents(text, Form::Json, Some(today));
    let mut faults = read.faults;
    faults.extend(read.documents.into_iter().flat_map(|document| document.faults));
    let ranges = locate(text, &faults);
    let mut placed: Vec<_> = ranges
        .into_iter()
        .zip(faults)
        .map(|(range, fault)| {
            let before = &text[..range.start];
            let line = before.matches('\n').count();
            let column = before.rsplit('\n').next().unwrap().chars().count();
            let length = text[range].lines().next().unwrap_or("").chars().count();
            (line, column, length.max(1), fault)
        })
        .collect();
    placed.sort_by_key(|(line, column, ..)| (*line, *column));
    placed
}

fn played(block: &Played) -> String {
    let mut played = block.head.clone();
    let faults = faults(&block.text);
    for (number, line) in block.text.split('\n').enumerate() {
        if block.text.is_empty() {
            break;
        }
        writeln!(played, "| {line}").unwrap();
        for (_, column, length, fault) in faults.iter().filter(|(at, ..)| *at == number) {
            let marks = format!("{}{}", " ".repeat(*column), "^".repeat(*length));
            let severity = fault.severity().as_str();
            writeln!(played, "  {marks} {severity}[{}]: {}", fault.code.as_str(), fault.message)
                .unwrap();
            if let Some(hint) = &fault.hint {
                writeln!(played, "  {}hint: {hint}", " ".repeat(column + length + 1)).unwrap();
            }
            if !fault.pointer.is_empty() {
                writeln!(played, "  {}at: {}", " ".repeat(column + length + 1), fault.pointer)
                    .unwrap();
            }
        }
    }
    played
}

#[test]
fn every_fault_is_told_at_its_place() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/diagnostics/faulty.documents");
    let written = fs::read_to_string(&path).unwrap();
    let played = blocks(&written).iter().map(played).collect::<Vec<_>>().join("\n");
    if setting("UPDATE_FIXTURES").is_some() {
        fs::write(&path, played).unwrap();
        return;
    }
    for (written, played) in written.split("\n\n").zip(played.split("\n\n")) {
        assert_eq!(written.trim_end(), played.trim_end());
    }
}

/// The examples of the page of codes have the faults that they stand for.
#[test]
fn every_code_has_an_example_that_has_it() {
    let not_texts = [
        Code::Unreadable,
        Code::NotUtf8,
        Code::TooLarge,
        Code::TooManyFaults,
        Code::TooManyWarnings,
        Code::TooManyNotes,
        Code::PassedOver,
    ];
    for code in Code::ALL.iter().filter(|code| !not_texts.contains(code)) {
        let example = code.example();
        let is_document = ["\"ref\"", "\"workflows\"", "\"name\""];
        let text = if is_document.iter().any(|key| example.contains(key)) {
            example.to_owned()
        } else {
            format!("{{\"ref\": \"x\", \"schedule\": {example}}}")
        };
        let found: Vec<Code> = faults(&text).into_iter().map(|(.., fault)| fault.code).collect();
        assert!(found.contains(code), "{}: {found:?}", code.as_str());
    }
}
