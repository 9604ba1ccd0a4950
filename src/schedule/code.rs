//! The kinds of faults: stable words, how bad each is, and what to do about it.

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

/// Declares the codes: word, severity, title, remedy, and an example that has the fault.
macro_rules! codes {
    ($($name:ident, $word:literal, $severity:ident: $title:literal, $remedy:literal, $example:literal;)+) => {
        /// The kind of a fault. Its word and meaning never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $title] $name,)+
        }

        impl Code {
            /// Every code, errors first.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// The stable word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $word),+ }
            }

            /// How bad it is where nobody decides otherwise.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity),+ }
            }

            /// What is wrong, in one sentence.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$name => $title),+ }
            }

            /// What to do about it, in one sentence.
            pub const fn remedy(self) -> &'static str {
                match self { $(Code::$name => $remedy),+ }
            }

            /// A text that has this fault. A document, or, where it is shorter, a schedule.
            pub const fn example(self) -> &'static str {
                match self { $(Code::$name => $example),+ }
            }
        }
    };
}

codes! {
    Syntax, "syntax", Error:
        "The text is not JSON.",
        "Write plain JSON: no comments, no trailing commas, strings in double quotes.",
        r#"{"every": "5m",}"#;
    Unreadable, "unreadable", Error:
        "A path cannot be read, or holds no document.",
        "Correct the path, or see to it that it may be read.",
        "windowpane validate no-such-file.json";
    NotUtf8, "not-utf8", Error:
        "The text is not UTF-8.",
        "Save the file as UTF-8.",
        r#"{"ref": "caf\xe9"}"#;
    TooLarge, "too-large", Error:
        "A text is longer than 16 MiB, or a project has more than 100,000 workflows.",
        "Split it, for example into JSON Lines.",
        "a file of 20 MB that is one JSON text";
    TooManyFaults, "too-many-faults", Error:
        "There are more faults than are told: 100,000 of a text, and 10 repeats of a ref.",
        "Repair those that are told, and check again.",
        "a schedule with 200,000 unknown keys";
    NoWorkflow, "no-workflow", Error:
        "The text declares no workflow.",
        "Write an object with `ref` and `schedule`, or with `workflows`.",
        r#"{"name": "x"}"#;
    WrongType, "wrong-type", Error:
        "The value has another JSON type than the one meant.",
        "Write the type that the message names; leave a key out instead of writing null.",
        r#"{"every": 5}"#;
    UnknownKey, "unknown-key", Error:
        "The object has a key that the format does not know.",
        "Correct its spelling, or remove it.",
        r#"{"every": "5m", "dlay": "30s"}"#;
    DuplicateKey, "duplicate-key", Error:
        "The object has the same key twice.",
        "Keep one of them.",
        r#"{"every": "5m", "every": "6m"}"#;
    MissingKey, "missing-key", Error:
        "A required key is missing.",
        "Add the key.",
        r#"{"delay": "30s"}"#;
    OneOf, "one-of", Error:
        "Exactly one of several keys is meant, and there are more.",
        "Keep one of them.",
        r#"{"every": {"day": {}, "week": {"on": "monday"}}}"#;
    BadRef, "bad-ref", Error:
        "The ref is not one.",
        "Use 1 to 512 bytes without control characters, and no white space at the ends.",
        r#"{"ref": " x", "schedule": {"every": "5m"}}"#;
    RefMismatch, "ref-mismatch", Error:
        "The `ref` inside a project document differs from its key.",
        "Leave the inner `ref` out.",
        r#"{"workflows": {"x": {"ref": "y", "schedule": {"every": "5m"}}}}"#;
    DuplicateRef, "duplicate-ref", Error:
        "One ref is declared by two documents.",
        "Rename or remove one of them.",
        r#"{"workflows": {"x": {"schedule": false}, "x": {"schedule": false}}}"#;
    BadDuration, "bad-duration", Error:
        "The duration is not one.",
        "Write whole numbers with a unit of w, d, h, m, s or ms, each unit once, at most 3660 days.",
        r#"{"every": "1.5h"}"#;
    BadInterval, "bad-interval", Error:
        "The interval is not on the grid.",
        "Use whole seconds that divide 24 hours evenly, or whole days.",
        r#"{"every": "7m"}"#;
    BadTime, "bad-time", Error:
        "The time of day is not one.",
        "Write HH:MM or HH:MM:SS, 00:00 to 23:59:59.",
        r#"{"every": {"day": {"at": "7:00"}}, "timezone": "UTC"}"#;
    BadWeekday, "bad-weekday", Error:
        "The weekday is not one.",
        "Write \"monday\" to \"sunday\".",
        r#"{"every": {"week": {"on": "Mon"}}, "timezone": "UTC"}"#;
    BadDay, "bad-day", Error:
        "The day of the month is not one.",
        "Write 1 to 31, or \"last\".",
        r#"{"every": {"month": {"on": 32}}, "timezone": "UTC"}"#;
    BadList, "bad-list", Error:
        "The list is empty, or holds something twice.",
        "Name each item once, and at least one.",
        r#"{"every": {"day": {"at": ["07:00", "07:00:00"]}}, "timezone": "UTC"}"#;
    BadCron, "bad-cron", Error:
        "The cron expression is not one.",
        "Write five fields: minute, hour, day of month, month, day of week.",
        r#"{"every": {"cron": "5/15 * * * *"}, "timezone": "UTC"}"#;
    BadZone, "bad-zone", Error:
        "The time zone is not one.",
        "Use an IANA name in its own spelling, such as `Europe/Amsterdam`.",
        r#"{"every": {"day": {}}, "timezone": "europe/amsterdam"}"#;
    BadWord, "bad-word", Error:
        "The value is not one of the words meant.",
        "Use one of the words that the hint names.",
        r#"{"every": "5m", "first_run": "now"}"#;
    BadNumber, "bad-number", Error:
        "The number is out of range.",
        "Use a whole number in the range that the message names.",
        r#"{"every": "5m", "max_attempts": 0}"#;
    Conflict, "conflict", Error:
        "Two settings exclude each other.",
        "Change one of them.",
        r#"{"every": "5m", "overlap": "skip", "catch_up": {"backfill": {"limit": 3}}}"#;
    PassedOver, "passed-over", Warning:
        "A JSON file in a folder declares no workflow and is passed over.",
        "Add `ref` and `schedule`, or list the file in `.ignore`.",
        r#"{"name": "x"}"#;
    TooManyWarnings, "too-many-warnings", Warning:
        "The text has more warnings than are told, and no errors among the rest.",
        "Change what those that are told name, and check again.",
        "a project with 200,000 schedules `{\"every\": \"7d\"}`";
    MissingZone, "missing-zone", Warning:
        "A calendar cadence has no time zone.",
        "Say so with \"timezone\": \"UTC\", or name a zone.",
        r#"{"every": {"day": {"at": "07:00"}}}"#;
    NoEffect, "no-effect", Warning:
        "A setting has no effect on this cadence.",
        "Leave it out, or use a calendar cadence.",
        r#"{"every": "5m", "timezone": "UTC"}"#;
    ThursdayGrid, "thursday-grid", Warning:
        "A grid of seven days falls on Thursdays.",
        "Use {\"week\": {\"on\": …}} for a weekday of your choice.",
        r#"{"every": "7d"}"#;
    UnevenStep, "uneven-step", Warning:
        "The steps of a cron field do not divide it.",
        "Use a step that divides the field, or list the values.",
        r#"{"every": {"cron": "*/7 * * * *"}, "timezone": "UTC"}"#;
    WindowGap, "window-gap", Warning:
        "The window is shorter than the interval, so data is left out.",
        "Leave `window` out, or make it as long as the interval.",
        r#"{"every": "1h", "window": "5m"}"#;
    LongPhase, "long-phase", Warning:
        "The phase is as long as the interval, or longer.",
        "Make the phase shorter than the interval.",
        r#"{"every": "5m", "phase": {"fixed": "5m"}}"#;
    LongDelay, "long-delay", Warning:
        "The delay is longer than the maximal age.",
        "`max_age` counts from the due instant, and `delay` moves only the window: check both.",
        r#"{"every": "5m", "delay": "1h", "catch_up": {"latest": {"max_age": "30m"}}}"#;
    ClockChange, "clock-change", Note:
        "A time of day falls into a clock change of its zone within two years.",
        "Nothing needs to be done if the result suits; else move the time, or set `dst`.",
        r#"{"every": {"day": {"at": "02:30"}}, "timezone": "Europe/Amsterdam"}"#;
    TooManyNotes, "too-many-notes", Note:
        "The text has more notes than are told, and no warnings or errors among the rest.",
        "Nothing needs to be done.",
        "a project with 200,000 schedules at 02:30 in Amsterdam";
}

impl Code {
    /// The code of that word.
    pub fn named(word: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == word)
    }
}
