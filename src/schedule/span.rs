//! Where in a text its faults stand: a byte range for each, found in one pass over the text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::fault::{Fault, Part};

/// The byte range of each fault in the text that has it, in the order of the faults.
///
/// The range of a key or a text includes its quotes. Where a pointer leads nowhere, which no fault
/// of the text itself does, the range is that of the innermost value on its way.
pub fn locate<'f>(text: &str, faults: impl IntoIterator<Item = &'f Fault>) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut root = Wanted::default();
    for (index, fault) in faults.into_iter().enumerate() {
        ranges.push(0..0);
        match fault.part {
            Part::Byte { at } => ranges[index] = token_at(text, at),
            part => root.want(&fault.pointer, part, index),
        }
    }
    if !root.is_empty() {
        let mut scanner = Scanner { text: text.as_bytes(), at: 0, ranges: &mut ranges };
        scanner.value(&root, None);
    }
    ranges
}

/// The faults in and below one value.
#[derive(Default)]
struct Wanted<'f> {
    /// Faults of the value itself.
    value: Vec<usize>,
    /// Faults of the key before it.
    key: Vec<usize>,
    /// Faults of the keys of later members of the same name, by how many come before.
    repeats: HashMap<usize, Vec<usize>>,
    /// Faults of its members and items.
    inside: HashMap<Cow<'f, str>, Wanted<'f>>,
}

impl<'f> Wanted<'f> {
    fn want(&mut self, pointer: &'f str, part: Part, fault: usize) {
        let mut wanted = self;
        for step in pointer.split('/').skip(1) {
            wanted = wanted.inside.entry(unescaped(step)).or_default();
        }
        match part {
            // The root has no key.
            Part::Key if pointer.is_empty() => wanted.value.push(fault),
            Part::Key => wanted.key.push(fault),
            Part::Repeat { nth } => wanted.repeats.entry(nth).or_default().push(fault),
            Part::Value | Part::Byte { .. } => wanted.value.push(fault),
        }
    }

    fn is_empty(&self) -> bool {
        self.value.is_empty() && self.inside.is_empty()
    }
}

/// One step of an RFC 6901 pointer.
fn unescaped(step: &str) -> Cow<'_, str> {
    match step.contains('~') {
        true => Cow::Owned(step.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(step),
    }
}

/// The character at an offset, and the rest of its word.
fn token_at(text: &str, at: usize) -> Range<usize> {
    let rest = &text[at..];
    let word = rest.len() - rest.trim_start_matches(is_word).len();
    let first =
        rest.chars().next().map_or(0, |char| if char == '\n' { 0 } else { char.len_utf8() });
    at..at + word.max(first)
}

/// Whether a character may be part of a number, a word, or what somebody takes for one.
pub(super) fn is_word(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | '+' | '.')
}

/// A walk over a text that serde_json has read, so that only its outline matters here.
struct Scanner<'t, 'r> {
    text: &'t [u8],
    at: usize,
    ranges: &'r mut [Range<usize>],
}

impl Scanner<'_, '_> {
    /// Walks over one value and sets the ranges of what is wanted in it; `key` is the range of
    /// the key before it. Its depth is that of the pointers, never that of the text.
    fn value(&mut self, wanted: &Wanted<'_>, key: Option<Range<usize>>) {
        self.blanks();
        let start = self.at;
        match self.peek() {
            Some(b'{') if !wanted.inside.is_empty() => self.object(wanted),
            Some(b'[') if !wanted.inside.is_empty() => self.array(wanted),
            _ => self.skip_value(),
        }
        let range = start..self.at;
        for &fault in &wanted.value {
            self.ranges[fault] = range.clone();
        }
        // An item of a list has no key.
        let key = key.unwrap_or(range);
        for &fault in &wanted.key {
            self.ranges[fault] = key.clone();
        }
    }

    fn object(&mut self, wanted: &Wanted<'_>) {
        let start = self.at;
        let mut seen: HashMap<&str, usize> = HashMap::new();
        self.at += 1;
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                break;
            }
            let key = self.key();
            let name = name_of(&self.text[key.clone()]);
            self.blanks();
            self.at += 1;
            let Some((name, inner)) = wanted.inside.get_key_value(&*name) else {
                self.blanks();
                self.skip_value();
                if !self.comma() {
                    break;
                }
                continue;
            };
            let nth = seen.entry(name).or_default();
            for &fault in inner.repeats.get(nth).into_iter().flatten() {
                self.ranges[fault] = key.clone();
            }
            *nth += 1;
            if *nth == 1 {
                self.value(inner, Some(key));
            } else {
                self.blanks();
                self.skip_value();
            }
            if !self.comma() {
                break;
            }
        }
        self.close();
        self.settle_missing(wanted, &seen, start..self.at);
    }

    fn array(&mut self, wanted: &Wanted<'_>) {
        let start = self.at;
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut index = 0_usize;
        self.at += 1;
        self.blanks();
        while self.peek().is_some_and(|byte| byte != b']') {
            match wanted.inside.get_key_value(&*index.to_string()) {
                Some((name, inner)) => {
                    seen.insert(name, 1);
                    self.value(inner, None);
                }
                None => self.skip_value(),
            }
            index += 1;
            if !self.comma() {
                break;
            }
            self.blanks();
        }
        self.close();
        self.settle_missing(wanted, &seen, start..self.at);
    }

    /// What is wanted and not there stands, as far as anyone can say, where it should be.
    fn settle_missing(
        &mut self,
        wanted: &Wanted<'_>,
        seen: &HashMap<&str, usize>,
        range: Range<usize>,
    ) {
        for (_, missing) in wanted.inside.iter().filter(|(name, _)| !seen.contains_key(&***name)) {
            let repeats = missing.repeats.values().flatten();
            for &fault in missing.value.iter().chain(&missing.key).chain(repeats) {
                self.ranges[fault] = range.clone();
            }
            self.settle_missing(missing, &HashMap::new(), range.clone());
        }
    }

    /// Walks over a value without a look inside, and without recursion.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ => self.word(),
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Walks over a string, and gives its range.
    fn key(&mut self) -> Range<usize> {
        let start = self.at;
        self.string();
        start..self.at
    }

    fn string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        self.at = self.at.min(self.text.len());
    }

    /// Walks over a number, `true`, `false` or `null`.
    fn word(&mut self) {
        while self.peek().is_some_and(|byte| !b",:]}[{\" \t\r\n".contains(&byte)) {
            self.at += 1;
        }
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| b" \t\r\n".contains(&byte)) {
            self.at += 1;
        }
    }

    fn comma(&mut self) -> bool {
        self.blanks();
        let is_comma = self.peek() == Some(b',');
        self.at += usize::from(is_comma);
        is_comma
    }

    fn close(&mut self) {
        self.blanks();
        self.at = (self.at + 1).min(self.text.len());
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
}

/// The text of a quoted key, its escapes read.
fn name_of(quoted: &[u8]) -> Cow<'_, str> {
    if !quoted.contains(&b'\\') {
        let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        return String::from_utf8_lossy(inner);
    }
    serde_json::from_slice(quoted).map_or(Cow::Borrowed(""), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::super::code::Code;
    use super::*;

    /// A writer of random JSON that keeps the place of every key and value it writes.
    struct Writer {
        random: fastrand::Rng,
        text: String,
        /// Pointer, range of the key where there is one, range of the value.
        places: Vec<(String, Option<Range<usize>>, Range<usize>)>,
    }

    impl Writer {
        fn blanks(&mut self) {
            for _ in 0..self.random.usize(0..3) {
                self.text.push(*self.random.choice(&[' ', '\n', '\t', '\r']).unwrap());
            }
        }

        fn value(&mut self, pointer: &str, key: Option<Range<usize>>, depth: usize) {
            self.blanks();
            let start = self.text.len();
            match self.random.usize(0..if depth == 0 { 4 } else { 7 }) {
                0 => self.text.push_str("null"),
                1 => self.text.push_str("-12.5e3"),
                2 => self.text.push_str(r#""a\"}\\ü, [{:""#),
                3 => self.text.push_str("false"),
                4 => self.array(pointer, depth),
                _ => self.object(pointer, depth),
            }
            let range = start..self.text.len();
            self.places.push((pointer.to_owned(), key, range));
            self.blanks();
        }

        fn array(&mut self, pointer: &str, depth: usize) {
            self.text.push('[');
            for index in 0..self.random.usize(0..4) {
                if index > 0 {
                    self.text.push(',');
                }
                self.value(&format!("{pointer}/{index}"), None, depth - 1);
            }
            self.text.push(']');
        }

        fn object(&mut self, pointer: &str, depth: usize) {
            self.text.push('{');
            for index in 0..self.random.usize(0..4) {
                if index > 0 {
                    self.text.push(',');
                }
                self.blanks();
                // Keys that need every escape: of JSON, and of pointers.
                let name = *self.random.choice(&["a", "b/c", "d~e", "f\"g\\", "ü", ""]).unwrap();
                let name = format!("{name}{index}");
                let start = self.text.len();
                self.text.push_str(&serde_json::to_string(&name).unwrap().replace('ü', "\\u00fc"));
                let key = start..self.text.len();
                self.blanks();
                self.text.push(':');
                let step = name.replace('~', "~0").replace('/', "~1");
                self.value(&format!("{pointer}/{step}"), Some(key), depth - 1);
            }
            self.text.push('}');
        }
    }

    fn fault(pointer: &str, part: Part) -> Fault {
        let pointer = pointer.to_owned();
        Fault { code: Code::WrongType, pointer, part, message: String::new(), hint: None }
    }

    #[test]
    fn every_key_and_value_is_found_where_it_was_written() {
        for seed in 0..500 {
            let random = fastrand::Rng::with_seed(seed);
            let mut writer = Writer { random, text: String::new(), places: Vec::new() };
            writer.value("", None, 4);
            let Writer { text, places, .. } = writer;
            serde_json::from_str::<serde_json::Value>(&text).unwrap();
            let faults: Vec<Fault> = places
                .iter()
                .flat_map(|(pointer, ..)| [Part::Key, Part::Value].map(|part| fault(pointer, part)))
                .collect();
            let expected: Vec<Range<usize>> = places
                .iter()
                .flat_map(|(_, key, value)| [key.clone().unwrap_or(value.clone()), value.clone()])
                .collect();
            assert_eq!(locate(&text, &faults), expected, "seed {seed}: {text}");
        }
    }

    #[track_caller]
    fn check(text: &str, pointer: &str, part: Part, expected: &str) {
        let ranges = locate(text, &[fault(pointer, part)]);
        assert_eq!(&text[ranges[0].clone()], expected);
    }

    #[test]
    fn what_is_there_twice_is_told_apart() {
        let text = r#"{"a": 1, "a": {"b": 2}, "a": 3}"#;
        check(text, "/a", Part::Value, "1");
        assert_eq!(locate(text, &[fault("/a", Part::Repeat { nth: 1 })])[0], 9..12);
        assert_eq!(locate(text, &[fault("/a", Part::Repeat { nth: 2 })])[0], 24..27);
    }

    #[test]
    fn what_is_not_there_is_told_where_it_should_be() {
        check(r#"[{"a": 1}]"#, "/0/b/c", Part::Value, r#"{"a": 1}"#);
        check(r#"[1]"#, "/7", Part::Key, "[1]");
    }

    #[test]
    fn a_syntax_error_marks_a_word() {
        let text = "{\"a\": Nope}\nü";
        check(text, "", Part::Byte { at: 6 }, "Nope");
        check(text, "", Part::Byte { at: 11 }, "");
        check(text, "", Part::Byte { at: text.len() }, "");
        check(text, "", Part::Byte { at: 12 }, "ü");
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("{{\"x\": {}1{}, \"a\": 2}}", "[".repeat(200_000), "]".repeat(200_000));
        check(&deep, "/a", Part::Value, "2");
    }
}
