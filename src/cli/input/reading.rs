//! One pass over all documents of a command.

use std::path::Path;

use crate::schedule::{
    Code, Document, Documents, Fault, Finding, LineIndex, Part, Reference, Severity,
    read_documents, read_schedule, spans,
};
use crate::wire::Problem;
use crate::wire::report::Diagnostic;

use super::folder;
use super::refs::{Declared, Refs};
use super::source::{Origin, Source, Text};
use super::{Names, Sink, Tally};
use crate::cli::failure::Failure;

/// The documents that were read so far, and what is known of them.
pub(super) struct Reading<'s> {
    sources: Vec<Source>,
    names: Names,
    /// The ref for the one document that names none, and how many there are of those.
    given: Option<Reference>,
    nameless: u64,
    refs: Refs,
    tally: Tally,
    sink: &'s mut dyn Sink,
}

/// The text that is being read.
#[derive(Clone, Copy)]
struct Place<'t> {
    source: usize,
    first_line: usize,
    text: &'t str,
}

/// Something that was found in a text.
struct Found {
    fault: Fault,
    severity: Severity,
    /// Where it is, when that is not what its pointer says: a byte offset.
    at: Option<usize>,
}

impl Found {
    fn error(code: Code, pointer: String, part: Part, message: String, hint: String) -> Found {
        let (repeats, hint) = (Vec::new(), Some(hint));
        let fault = Fault { code, pointer, repeats, part, message, hint };
        Found { fault, severity: Severity::Error, at: None }
    }
}

impl<'s> Reading<'s> {
    pub(super) fn new(
        names: Names,
        given: Option<Reference>,
        sink: &'s mut dyn Sink,
    ) -> Reading<'s> {
        Reading {
            sources: Vec::new(),
            names,
            given,
            nameless: 0,
            refs: Refs::default(),
            tally: Tally::default(),
            sink,
        }
    }

    pub(super) fn end(self) -> Result<Tally, Failure> {
        match self.given {
            Some(reference) if self.nameless != 1 && self.tally.problems.is_empty() => {
                let there = match self.nameless {
                    0 => "there is none".to_owned(),
                    many => format!("there are {many}"),
                };
                let message = format!("--ref `{reference}` names the one document without a ref");
                Err(Failure::failed("usage", format!("{message}, and {there}"), None))
            }
            _ => Ok(self.tally),
        }
    }

    /// Reads a schedule from the command line, as a document of its own.
    pub(super) fn schedule(&mut self, json: &str) -> Result<(), Failure> {
        self.sources.push(Source::argument());
        self.tally.files += 1;
        let (declaration, findings) = read_schedule(json);
        let document = Document {
            reference: None,
            is_named: false,
            declaration,
            text_at: 0,
            pointer: String::new(),
        };
        let documents = Documents { documents: vec![document], findings };
        self.documents(documents, Place { source: 0, first_line: 1, text: json })
    }

    /// Reads a file, a folder of them, or standard input.
    pub(super) fn path(&mut self, path: &Path) -> Result<(), Failure> {
        let (first, problems) = (self.sources.len(), self.tally.problems.len());
        let listed = folder::sources(path, &mut self.sources, &mut self.tally.ignored);
        self.tally.problems.extend(listed);
        let mut has_document = false;
        for source in first..self.sources.len() {
            has_document |= self.source(source)?;
        }
        if !has_document && self.tally.problems.len() == problems {
            self.tally.problems.push(Problem {
                code: "no_document",
                message: format!("{}: there is no document here", path.display()),
                hint: Some("documents are .json, .jsonl and .ndjson files".to_owned()),
            });
        }
        Ok(())
    }

    /// Reads one source, and tells whether it has a document.
    fn source(&mut self, source: usize) -> Result<bool, Failure> {
        self.tally.files += 1;
        let mut has_document = false;
        let outcome = self.sources[source].texts().and_then(|mut texts| {
            while let Some(text) = texts.next()? {
                match self.text(source, &text) {
                    Ok(is_document) => has_document |= is_document,
                    Err(failure) => return Ok(Err(failure)),
                }
            }
            Ok(Ok(()))
        });
        match outcome {
            Ok(done) => done?,
            Err(error) => self.tally.problems.push(self.sources[source].problem(&error)),
        }
        Ok(has_document)
    }

    fn text(&mut self, source: usize, text: &Text<'_>) -> Result<bool, Failure> {
        let place = Place { source, first_line: text.first_line, text: &text.content };
        if let Some(broken) = &text.broken {
            let hint = broken.hint.to_owned();
            let (code, message) = (broken.code, broken.message.clone());
            let mut found = Found::error(code, String::new(), Part::Value, message, hint);
            found.at = Some(broken.at);
            self.report(vec![found], place)?;
            return Ok(true);
        }
        let documents = read_documents(&text.content, text.form);
        let is_document = self.sources[source].origin != Origin::Folder
            || documents.findings.iter().any(|finding| finding.fault.code != Code::NoWorkflow)
            || !documents.documents.is_empty();
        self.documents(documents, place)?;
        Ok(is_document)
    }

    fn documents(&mut self, read: Documents, place: Place<'_>) -> Result<(), Failure> {
        let is_in_folder = self.sources[place.source].origin == Origin::Folder;
        let mut found: Vec<Found> = read.findings.into_iter().map(found_at(is_in_folder)).collect();
        for known in found.iter_mut().filter(|known| known.fault.code == Code::DuplicateRef) {
            self.add_first_place(known, place);
        }
        for document in read.documents {
            self.tally.workflows += 1;
            let fault = self.workflow(document, place);
            found.extend(fault);
        }
        if found.is_empty() { Ok(()) } else { self.report(found, place) }
    }

    /// Takes a workflow over, or tells why it cannot be.
    fn workflow(&mut self, document: Document, place: Place<'_>) -> Option<Found> {
        let Document { reference, is_named, declaration, pointer, .. } = document;
        if is_named && reference.is_none() {
            return None;
        }
        let Some(reference) = reference.or_else(|| self.name()) else {
            if let Some(declaration) = declaration.filter(|_| self.names == Names::Optional) {
                self.sink.workflow(None, declaration);
                return None;
            }
            return (self.names == Names::Required).then(|| {
                let message = "a document has no ref".to_owned();
                let hint = "add \"ref\", or give --ref for a single document".to_owned();
                Found::error(Code::MissingKey, pointer, Part::Value, message, hint)
            });
        };
        let declared = Declared { source: place.source, first_line: place.first_line };
        if let Some(earlier) = self.refs.declare(&reference, declared) {
            if earlier == declared {
                // The project that declares it twice has said so.
                return None;
            }
            let is_member = !pointer.is_empty();
            let (pointer, part) =
                if is_member { (pointer, Part::Key) } else { ("/ref".to_owned(), Part::Value) };
            let first = self.refs.locate(&self.sources, earlier, &reference);
            let message = format!("`{reference}` is declared twice, first at {first}");
            let hint = "keep one of them".to_owned();
            return Some(Found::error(Code::DuplicateRef, pointer, part, message, hint));
        }
        if let Some(declaration) = declaration {
            self.sink.workflow(Some(reference), declaration);
        }
        None
    }

    /// Says of a ref that its project declares twice where it is declared first.
    fn add_first_place(&self, found: &mut Found, place: Place<'_>) {
        let first = Fault { repeats: Vec::new(), ..found.fault.clone() };
        for span in spans(place.text, [&first]) {
            let at = LineIndex::new(place.text, place.first_line).position(span.start);
            let file = self.sources[place.source].name();
            found.fault.message.push_str(&format!(", first at {file}:{at}"));
        }
    }

    /// The ref of a document that names none, where the command line gives it one.
    fn name(&mut self) -> Option<Reference> {
        self.nameless += 1;
        self.given.clone().filter(|_| self.nameless == 1)
    }

    fn report(&mut self, mut found: Vec<Found>, place: Place<'_>) -> Result<(), Failure> {
        let text = place.text;
        let mut spans = spans(text, found.iter().map(|found| &found.fault));
        for (span, found) in spans.iter_mut().zip(&found) {
            if let Some(at) = found.at {
                *span = at..at + text[at..].chars().next().map_or(0, char::len_utf8);
            }
        }
        let mut lines = LineIndex::new(text, place.first_line);
        let file = self.sources[place.source].name();
        let mut all: Vec<_> = found.drain(..).zip(spans).collect();
        all.sort_by_key(|(_, span)| span.start);
        for (Found { fault, severity, .. }, span) in all {
            let Fault { code, pointer, message, hint, .. } = fault;
            let (start, end) = (lines.position(span.start), lines.position(span.end));
            let file = file.clone();
            let found = Diagnostic { file, start, end, pointer, code, severity, message, hint };
            self.sink.diagnostic(found, text, &span)?;
        }
        Ok(())
    }
}

/// A file in a folder need not be a document.
fn found_at(is_in_folder: bool) -> impl Fn(Finding) -> Found {
    move |Finding { syntax_at, fault, .. }| {
        let severity = match fault.code {
            Code::NoWorkflow if is_in_folder => Severity::Warning,
            code => code.severity(),
        };
        Found { fault, severity, at: syntax_at }
    }
}
