//! Refs that were declared so far, to find the one that is declared twice.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::schedule::{Code, Fault, LineIndex, Part, Reference, spans};

use super::source::{Source, Text};

/// The text that declares a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) source: usize,
    /// The line at which the text begins.
    pub(super) first_line: usize,
}

/// Where each ref was declared first.
#[derive(Debug, Default)]
pub(super) struct Refs {
    declared: HashMap<Reference, Declared>,
}

impl Refs {
    /// Notes a declaration, and gives back the earlier one if there is one.
    pub(super) fn declare(
        &mut self,
        reference: &Reference,
        declared: Declared,
    ) -> Option<Declared> {
        match self.declared.entry(reference.clone()) {
            Entry::Occupied(entry) => Some(*entry.get()),
            Entry::Vacant(entry) => {
                entry.insert(declared);
                None
            }
        }
    }

    /// The place of a declaration, for people: its text is read again.
    pub(super) fn locate(
        &self,
        sources: &[Source],
        declared: Declared,
        reference: &Reference,
    ) -> String {
        let source = &sources[declared.source];
        let place = source.texts().ok().and_then(|mut texts| {
            while let Ok(Some(text)) = texts.next() {
                if text.first_line == declared.first_line {
                    return Some(position(&text, reference));
                }
            }
            None
        });
        match place {
            Some(place) => format!("{}:{place}", source.name()),
            None => source.name().to_string(),
        }
    }
}

fn position(text: &Text<'_>, reference: &Reference) -> String {
    let member = reference.as_str().replace('~', "~0").replace('/', "~1");
    let of = |pointer, part| Fault {
        code: Code::DuplicateRef,
        pointer,
        repeats: Vec::new(),
        part,
        message: String::new(),
        hint: None,
    };
    let places =
        [of("/ref".to_owned(), Part::Value), of(format!("/workflows/{member}"), Part::Key)];
    let start = spans(&text.content, &places).into_iter().map(|span| span.start).max();
    LineIndex::new(&text.content, text.first_line).position(start.unwrap_or(0)).to_string()
}
