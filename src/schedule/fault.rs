//! What is wrong with a document, as data: where, what, and what to write instead.

use std::fmt::Write as _;

/// One thing that is wrong with a document, or worth a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The stable word for its kind.
    pub code: Code,
    /// The RFC 6901 pointer of the value at fault from the root of its JSON text, `""` for the
    /// root itself.
    pub pointer: String,
    /// Where a key on the way there is given more than once, which of them is meant; the first
    /// where nothing is said.
    pub repeats: Vec<Repeat>,
    /// Whether the value there is at fault, or its key.
    pub part: Part,
    /// One sentence, lower case, with the offending value in backticks.
    pub message: String,
    /// What to do about it, where there is something to do.
    pub hint: Option<String>,
}

/// Which one of several equal keys a pointer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repeat {
    /// The step of the pointer, counted from 0.
    pub step: usize,
    /// How many equal keys come before it in the object, at least 1.
    pub earlier: usize,
}

/// Which part of a member of an object is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Its key.
    Key,
    /// Its value.
    Value,
}

/// How bad a fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; never fails a check.
    Note,
    /// Probably not what the author means.
    Warning,
    /// The document cannot be used.
    Error,
}

impl Severity {
    /// The word that reports use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Declares the codes with their words and severities.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $severity:ident;)+) => {
        /// The kind of a fault. Its word and meaning never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)+
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// The stable word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $word),+ }
            }

            /// How bad it is.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity),+ }
            }
        }
    };
}

codes! {
    /// The file is not UTF-8.
    NotUtf8 = "not-utf8", Error;
    /// The text is longer than one document may be.
    TooLong = "too-long", Error;
    /// The text is not JSON.
    Syntax = "syntax", Error;
    /// The value has another JSON type than the one meant.
    WrongType = "wrong-type", Error;
    /// The object has a key that the format does not know.
    UnknownKey = "unknown-key", Error;
    /// The object has the same key twice.
    DuplicateKey = "duplicate-key", Error;
    /// A required key is missing.
    MissingKey = "missing-key", Error;
    /// Exactly one of several keys is meant, and there are more.
    OneOf = "one-of", Error;
    /// The ref is not one.
    BadRef = "bad-ref", Error;
    /// One ref is declared twice.
    DuplicateRef = "duplicate-ref", Error;
    /// The duration is not one.
    BadDuration = "bad-duration", Error;
    /// The interval is not on the grid.
    BadInterval = "bad-interval", Error;
    /// The time of day is not one.
    BadTime = "bad-time", Error;
    /// The weekday is not one.
    BadWeekday = "bad-weekday", Error;
    /// The day of the month is not one.
    BadDay = "bad-day", Error;
    /// The list is empty, or holds something twice.
    BadList = "bad-list", Error;
    /// The cron expression is not one.
    BadCron = "bad-cron", Error;
    /// The time zone is not one.
    BadZone = "bad-zone", Error;
    /// The value is not one of the words meant.
    BadWord = "bad-word", Error;
    /// The number is out of range.
    BadNumber = "bad-number", Error;
    /// Two settings exclude each other.
    Conflict = "conflict", Error;
    /// A calendar cadence has no time zone.
    MissingZone = "missing-zone", Warning;
    /// A setting has no effect on this cadence.
    NoEffect = "no-effect", Warning;
    /// A grid of weeks falls on Thursdays.
    ThursdayGrid = "thursday-grid", Warning;
    /// Steps of a cron field do not divide it.
    UnevenStep = "uneven-step", Warning;
    /// The window is shorter than the interval, so data is left out.
    WindowGap = "window-gap", Warning;
    /// The phase is as long as the interval, or longer.
    LongPhase = "long-phase", Warning;
    /// The delay is longer than the maximal age.
    LongDelay = "long-delay", Warning;
    /// The text declares no workflow.
    NoWorkflow = "no-workflow", Error;
}

impl std::str::FromStr for Code {
    type Err = CodeError;

    fn from_str(word: &str) -> Result<Code, CodeError> {
        let found = Code::ALL.iter().find(|code| code.as_str() == word);
        found.copied().ok_or_else(|| CodeError {
            word: word.to_owned(),
            nearest: nearest(word, Code::ALL.iter().map(|code| code.as_str())),
        })
    }
}

/// A word is not the code of a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not a code{}", self.nearest.map(|code| format!("; did you mean `{code}`?")).unwrap_or_default())]
pub struct CodeError {
    /// The word.
    pub word: String,
    /// The code that was probably meant.
    pub nearest: Option<&'static str>,
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
    /// A key, and how many equal ones come before it.
    Key(&'a str, usize),
    Index(usize),
}

impl<'a> Place<'a> {
    pub(super) const ROOT: Place<'static> = Place { parent: None, step: Step::Root };

    pub(super) fn key(&'a self, key: &'a str) -> Place<'a> {
        self.key_again(key, 0)
    }

    /// A key that comes after `earlier` equal ones.
    pub(super) fn key_again(&'a self, key: &'a str, earlier: usize) -> Place<'a> {
        Place { parent: Some(self), step: Step::Key(key, earlier) }
    }

    pub(super) fn index(&'a self, index: usize) -> Place<'a> {
        Place { parent: Some(self), step: Step::Index(index) }
    }

    /// Its RFC 6901 pointer.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = self.parent.map_or(String::new(), Place::pointer);
        match self.step {
            Step::Root => {}
            Step::Key(key, _) => {
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

    /// Which of several equal keys are meant on the way from the root.
    fn repeats(&self) -> Vec<Repeat> {
        let mut repeats: Vec<Repeat> = self.parent.map_or(Vec::new(), Place::repeats);
        if let Step::Key(_, earlier @ 1..) = self.step {
            repeats.push(Repeat { step: self.depth() - 1, earlier });
        }
        repeats
    }

    fn depth(&self) -> usize {
        self.parent.map_or(0, |parent| parent.depth() + 1)
    }
}

/// The faults of a document as they are found.
#[derive(Default)]
pub(super) struct Faults {
    pub(super) found: Vec<Fault>,
    errors: usize,
}

impl Faults {
    /// Notes that the value at `place` is at fault.
    pub(super) fn value(
        &mut self,
        place: &Place<'_>,
        code: Code,
        message: String,
        hint: impl Into<Option<String>>,
    ) {
        self.push(place, Part::Value, code, message, hint.into());
    }

    /// Notes that the key at `place` is at fault.
    pub(super) fn key(
        &mut self,
        place: &Place<'_>,
        code: Code,
        message: String,
        hint: impl Into<Option<String>>,
    ) {
        self.push(place, Part::Key, code, message, hint.into());
    }

    /// How many errors were found so far.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    fn push(
        &mut self,
        place: &Place<'_>,
        part: Part,
        code: Code,
        message: String,
        hint: Option<String>,
    ) {
        self.errors += usize::from(code.severity() == Severity::Error);
        let (pointer, repeats) = (place.pointer(), place.repeats());
        self.found.push(Fault { code, pointer, repeats, part, message, hint });
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
