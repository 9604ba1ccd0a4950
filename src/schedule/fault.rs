//! What is wrong with a document, as data: where, what, and what to write instead.

use std::fmt::Write as _;
use std::mem;

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
    /// The text itself at a byte offset: where it is no JSON, or at its end.
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

/// Most faults of one text that are told.
const FAULTS_AT_MOST: usize = 100_000;

/// So many bytes the faults of one text take in all; no single one takes that many. A pointer
/// repeats the keys on its way, which may be as long as the text.
const BYTES_AT_MOST: usize = 64 * 1024 * 1024;

/// The faults of one text as they are found, workflow by workflow.
#[derive(Default)]
pub(super) struct Faults {
    /// Those of the workflow that is being read.
    found: Vec<Fault>,
    /// How many errors it has.
    errors: usize,
    /// How many faults of the text may still be told.
    left: usize,
    /// How many bytes they may take.
    left_bytes: usize,
    /// Faults past the limit are only counted.
    untold: Untold,
    /// What depends on today's date is looked for from here on.
    pub(super) today: Option<Instant>,
}

/// How many faults of a text are not told.
#[derive(Default)]
struct Untold {
    errors: usize,
    warnings: usize,
    notes: usize,
}

impl Untold {
    fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
    }
}

impl Faults {
    pub(super) fn new(today: Option<Instant>) -> Faults {
        Faults { today, left: FAULTS_AT_MOST, left_bytes: BYTES_AT_MOST, ..Faults::default() }
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

    /// How many errors were found so far in the workflow that is being read.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether nothing more can be told, so that a fault needs no words.
    pub(super) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Everything that was found about the workflow that was read; the next one begins.
    pub(super) fn take(&mut self) -> Vec<Fault> {
        self.errors = 0;
        mem::take(&mut self.found)
    }

    /// The fault that says how many are not told, as bad as the worst of them. It stands at the end
    /// of the text, at `end`.
    pub(super) fn closing(&self, end: usize) -> Option<Fault> {
        let Untold { errors, warnings, notes } = self.untold;
        let (code, message) = match (errors, warnings, notes) {
            (0, 0, 0) => return None,
            (0, 0, _) => (Code::TooManyNotes, format!("there are {notes} notes more")),
            (0, ..) => (
                Code::TooManyWarnings,
                format!("there are {} faults more, none of them an error", warnings + notes),
            ),
            _ => (
                Code::TooManyFaults,
                format!(
                    "there are {} faults more, {errors} of them errors",
                    errors + warnings + notes
                ),
            ),
        };
        let hint = Some("repair those that are told, and check again".to_owned());
        let (pointer, part) = (String::new(), Part::Byte { at: end });
        Some(Fault { code, pointer, part, message, hint })
    }

    pub(super) fn note(
        &mut self,
        place: &Place<'_>,
        part: Part,
        code: Code,
        message: String,
        hint: Option<String>,
    ) {
        if self.is_full() {
            return self.count(code);
        }
        let pointer = place.pointer();
        let bytes = pointer.len() + message.len() + hint.as_ref().map_or(0, String::len);
        let Some(left_bytes) = self.left_bytes.checked_sub(bytes) else {
            self.left = 0;
            return self.count(code);
        };
        (self.left, self.left_bytes) = (self.left - 1, left_bytes);
        self.errors += usize::from(code.severity() == Severity::Error);
        self.found.push(Fault { code, pointer, part, message, hint });
    }

    /// Notes a fault that cannot be told any more.
    pub(super) fn count(&mut self, code: Code) {
        self.errors += usize::from(code.severity() == Severity::Error);
        self.untold.count(code.severity());
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
    let mut at_most = 1 + lower.chars().count() / 4;
    let mut nearest = None;
    for candidate in candidates {
        if letters_apart(&lower, candidate) > at_most {
            continue;
        }
        let distance = strsim::osa_distance(&lower, &candidate.to_lowercase());
        if distance <= at_most {
            nearest = Some(candidate);
            // Only what is nearer still counts from here on.
            let Some(nearer) = distance.checked_sub(1) else { break };
            at_most = nearer;
        }
    }
    nearest
}

/// How many letters one of two words has that the other has not, whatever their order: never more
/// than the distance between the two, and found without comparing them letter by letter.
fn letters_apart(word: &str, candidate: &str) -> usize {
    let mut surplus = [0_i32; 32];
    // Letters of both cases share their five low bits.
    let bucket = |char: char| (u32::from(char) % 32) as usize;
    word.chars().for_each(|char| surplus[bucket(char)] += 1);
    candidate.chars().for_each(|char| surplus[bucket(char)] -= 1);
    let of_sign = |sign: i32| surplus.iter().map(|count| (count * sign).max(0)).sum::<i32>();
    of_sign(1).max(of_sign(-1)).unsigned_abs() as usize
}
