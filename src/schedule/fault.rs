//! What is wrong with a document, as data: where, what, and what to write instead.

use std::fmt::Write as _;

use crate::time::Instant;

use super::code::{Code, Severity};
use super::raw::shown;

/// One thing that is wrong with a document, or worth a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The stable word for its kind.
    pub code: Code,
    /// The RFC 6901 pointer of the value at fault from the root of its JSON text, `""` for the
    /// root itself.
    pub pointer: String,
    /// Which part of the text there is at fault.
    pub part: Part,
    /// One sentence, lower case, with the offending value in backticks.
    pub message: String,
    /// What to do about it, where there is something to do.
    pub hint: Option<String>,
}

/// Which part of the text is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The value at the pointer.
    Value,
    /// Its key.
    Key,
    /// The key of a later member of that name: 1 for the second one.
    Repeat {
        /// How many members of that name come before it.
        nth: usize,
    },
    /// The text itself at a byte offset, where it is no JSON.
    Byte {
        /// The offset.
        at: usize,
    },
}

impl Fault {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// The way from the root of a document to a value, kept on the stack.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl<'a> Place<'a> {
    pub(super) const ROOT: Place<'static> = Place { parent: None, step: Step::Root };

    pub(super) fn key(&'a self, key: &'a str) -> Place<'a> {
        Place { parent: Some(self), step: Step::Key(key) }
    }

    pub(super) fn index(&'a self, index: usize) -> Place<'a> {
        Place { parent: Some(self), step: Step::Index(index) }
    }

    /// Its RFC 6901 pointer.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = self.parent.map_or(String::new(), Place::pointer);
        match self.step {
            Step::Root => {}
            Step::Key(key) => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Step::Index(index) => {
                // Writing to a string cannot fail.
                let _ = write!(pointer, "/{index}");
            }
        }
        pointer
    }
}

/// Most faults of one workflow that are told.
pub(super) const FAULTS_AT_MOST: usize = 100;

/// The faults of one workflow as they are found.
#[derive(Default)]
pub(super) struct Faults {
    found: Vec<Fault>,
    /// Faults past the limit are only counted.
    untold: usize,
    errors: usize,
    /// What depends on today's date is looked for from here on.
    pub(super) today: Option<Instant>,
}

impl Faults {
    pub(super) fn new(today: Option<Instant>) -> Faults {
        Faults { today, ..Faults::default() }
    }

    /// Notes that the value at `place` is at fault.
    pub(super) fn value(
        &mut self,
        place: &Place<'_>,
        code: Code,
        message: String,
        hint: impl Into<Option<String>>,
    ) {
        self.note(place, Part::Value, code, message, hint.into());
    }

    /// Notes that the key at `place` is at fault.
    pub(super) fn key(
        &mut self,
        place: &Place<'_>,
        code: Code,
        message: String,
        hint: impl Into<Option<String>>,
    ) {
        self.note(place, Part::Key, code, message, hint.into());
    }

    /// Notes that `key` is given once more after `nth` times.
    pub(super) fn repeat(&mut self, place: &Place<'_>, key: &str, nth: usize) {
        let message = format!("the key `{}` is given twice", shown(key));
        let hint = Some("keep one of them".to_owned());
        self.note(&place.key(key), Part::Repeat { nth }, Code::DuplicateKey, message, hint);
    }

    /// How many errors were found so far.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// Everything that was found about the workflow at `place`.
    pub(super) fn into_found(mut self, place: &Place<'_>) -> Vec<Fault> {
        if self.untold > 0 {
            let message = format!("there are {} faults more", self.untold);
            let (pointer, code) = (place.pointer(), Code::TooManyFaults);
            self.found.push(Fault { code, pointer, part: Part::Value, message, hint: None });
        }
        self.found
    }

    pub(super) fn note(
        &mut self,
        place: &Place<'_>,
        part: Part,
        code: Code,
        message: String,
        hint: Option<String>,
    ) {
        self.errors += usize::from(code.severity() == Severity::Error);
        if self.found.len() < FAULTS_AT_MOST {
            self.found.push(Fault { code, pointer: place.pointer(), part, message, hint });
        } else {
            self.untold += 1;
        }
    }
}

/// The candidate that is spelled most like `word`, if any is close.
pub(super) fn nearest<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // A longer word cannot be a misspelling of anything known here.
    if word.len() > 64 {
        return None;
    }
    let lower = word.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
    let nearest = candidates.into_iter().map(|candidate| (distance(candidate), candidate)).min();
    nearest
        .filter(|(distance, _)| *distance <= 1 + word.chars().count() / 4)
        .map(|(_, candidate)| candidate)
}
