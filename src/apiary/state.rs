//! The state: when each routine was first seen, and how far it has come.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::plan::Position;
use crate::time::Instant;

/// The version of the format.
const VERSION: u64 = 1;

/// What the state file holds. What is not known here is kept as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    version: serde_json::Number,
    #[serde(default, deserialize_with = "routines")]
    routines: BTreeMap<String, Entry>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// How far one routine has come.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Entry {
    #[serde(default, skip_serializing_if = "Stamp::is_absent")]
    last_emitted: Stamp,
    #[serde(default, skip_serializing_if = "Stamp::is_absent")]
    first_seen: Stamp,
    #[serde(default)]
    emitted_count: u64,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// An instant as it was written, to be kept as it is until it changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Stamp {
    /// `None` where there is none, or null.
    text: Option<String>,
    /// To the millisecond below; `None` for the first instant of the year 1, which means never.
    at: Option<Instant>,
}

impl Default for State {
    fn default() -> State {
        State { version: VERSION.into(), routines: BTreeMap::new(), rest: Map::new() }
    }
}

impl State {
    /// Reads the text of a state file.
    ///
    /// # Errors
    /// What is wrong with it, another version included.
    pub fn from_json(text: &str) -> Result<State, serde_json::Error> {
        // An array would be taken for the fields in their order.
        if text.trim_ascii_start().starts_with('[') {
            return Err(serde_json::Error::custom("an array where an object is meant"));
        }
        let state: State = serde_json::from_str(text)?;
        if state.version.as_u64() != Some(VERSION) {
            let problem =
                format!("its version is {}, and this program reads {VERSION}", state.version);
            return Err(serde_json::Error::custom(problem));
        }
        Ok(state)
    }

    /// The text of a state file.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// How far a routine has come; `None` for one that was never seen.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.routines.get(id).filter(|entry| entry.position().is_some())
    }

    /// Notes that a routine was seen for the first time.
    pub(super) fn see(&mut self, id: &str, now: Instant) {
        let entry = self.routines.entry(id.to_owned()).or_default();
        entry.first_seen = Stamp::of(now);
        if entry.last_emitted.is_absent() {
            entry.last_emitted = Stamp::of(Instant::MIN);
        }
    }

    /// Notes that occurrences of a routine, `last` the newest of them, are emitted.
    pub(super) fn emit(&mut self, id: &str, last: Instant, count: u64) {
        let entry = self.routines.entry(id.to_owned()).or_default();
        entry.last_emitted = Stamp::of(last);
        entry.emitted_count = entry.emitted_count.saturating_add(count);
    }
}

impl Entry {
    /// Where it stands: only occurrences after the later of the instant it was first seen and its
    /// last emitted one count. `None` where there is neither.
    pub fn position(&self) -> Option<Position> {
        let settled = self.first_seen.at.max(self.last_emitted.at)?;
        let registered = self.first_seen.at.unwrap_or(settled);
        Some(Position { cursor: self.last_emitted.at.and(Some(settled)), registered })
    }
}

impl Stamp {
    fn of(at: Instant) -> Stamp {
        Stamp { text: Some(at.to_string()), at: Some(at).filter(|at| *at > Instant::MIN) }
    }

    fn is_absent(&self) -> bool {
        self.text.is_none()
    }
}

impl Serialize for Stamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Stamp, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else {
            return Ok(Stamp::default());
        };
        let at: Instant = to_the_millisecond(&text).parse().map_err(D::Error::custom)?;
        Ok(Stamp { text: Some(text), at: Some(at).filter(|at| *at > Instant::MIN) })
    }
}

/// RFC 3339 without what is finer than a millisecond. Cut off, so that an occurrence stays on its
/// side of the instant.
fn to_the_millisecond(text: &str) -> String {
    let Some((seconds, rest)) = text.split_once('.') else { return text.to_owned() };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    format!("{seconds}.{}{}", &rest[..digits.min(3)], &rest[digits..])
}

/// The entries, null for none; a routine that stands there twice has no one place.
fn routines<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Entry>, D::Error> {
    struct Entries;

    impl<'de> Visitor<'de> for Entries {
        type Value = BTreeMap<String, Entry>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of routines")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(BTreeMap::new())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = BTreeMap::new();
            while let Some((id, entry)) = map.next_entry::<String, Entry>()? {
                if entries.insert(id.clone(), entry).is_some() {
                    return Err(A::Error::custom(format!("`{id}` stands there twice")));
                }
            }
            Ok(entries)
        }
    }

    deserializer.deserialize_any(Entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(routines: &str) -> Result<State, serde_json::Error> {
        State::from_json(&format!(r#"{{"version": 1, "routines": {routines}}}"#))
    }

    #[track_caller]
    fn position(entry: &str, expected: Option<(Option<&str>, &str)>) {
        let state = state(&format!(r#"{{"a": {entry}}}"#)).unwrap();
        let position = state.entry("a").and_then(Entry::position);
        let expected = expected.map(|(cursor, registered)| Position {
            cursor: cursor.map(|text| text.parse().unwrap()),
            registered: registered.parse().unwrap(),
        });
        assert_eq!(position, expected);
    }

    #[test]
    fn instants_are_read_as_others_write_them() {
        let zero = "0001-01-01T00:00:00Z";
        position("{}", None);
        position(r#"{"first_seen": null, "last_emitted": null, "emitted_count": 0}"#, None);
        position(&format!(r#"{{"first_seen": "{zero}", "last_emitted": "{zero}"}}"#), None);
        position(
            &format!(
                r#"{{"first_seen": "2026-01-01T10:00:00.123456789Z", "last_emitted": "{zero}"}}"#
            ),
            Some((None, "2026-01-01T10:00:00.123Z")),
        );
        position(
            r#"{"first_seen": "2026-01-01T09:59:59.9999+02:00", "last_emitted": "2026-01-02T00:00:00Z"}"#,
            Some((Some("2026-01-02T00:00:00Z"), "2026-01-01T07:59:59.999Z")),
        );
        // Whichever is later counts.
        position(
            r#"{"first_seen": "2026-01-03T00:00:00Z", "last_emitted": "2026-01-02T00:00:00Z"}"#,
            Some((Some("2026-01-03T00:00:00Z"), "2026-01-03T00:00:00Z")),
        );
        position(
            r#"{"last_emitted": "2026-01-02T00:00:00Z", "emitted_count": 3}"#,
            Some((Some("2026-01-02T00:00:00Z"), "2026-01-02T00:00:00Z")),
        );
    }

    #[test]
    fn what_is_not_known_or_not_changed_is_kept_as_it_is() {
        let text = r#"{"version": 1, "x": [1], "routines": {
            "gone": {"last_emitted": "2026-01-01T00:00:00.000000001+01:00", "note": "n"},
            "a": {"first_seen": "2026-01-01T00:00:00.5Z", "emitted_count": 4, "y": null}}}"#;
        let mut state = State::from_json(text).unwrap();
        state.emit("a", "2026-01-02T00:00:00Z".parse().unwrap(), 2);
        state.see("b", "2026-01-03T00:00:00Z".parse().unwrap());
        let written: Value = serde_json::from_str(&state.to_json().unwrap()).unwrap();
        let expected = serde_json::json!({"version": 1, "x": [1], "routines": {
        "gone": {
            "last_emitted": "2026-01-01T00:00:00.000000001+01:00", "emitted_count": 0, "note": "n"
        },
        "a": {
            "first_seen": "2026-01-01T00:00:00.5Z", "last_emitted": "2026-01-02T00:00:00Z",
            "emitted_count": 6, "y": null
        },
        "b": {
            "first_seen": "2026-01-03T00:00:00Z", "last_emitted": "0001-01-01T00:00:00Z",
            "emitted_count": 0
        }}});
        assert_eq!(written, expected);
    }

    #[test]
    fn a_file_that_is_no_state_is_refused() {
        assert!(state("null").is_ok());
        let unreadable = [
            "[]",
            r#"{"a": []}"#,
            r#"{"a": null}"#,
            r#"{"a": {"first_seen": "yesterday"}}"#,
            r#"{"a": {"first_seen": 5}}"#,
            r#"{"a": {"emitted_count": -1}}"#,
            r#"{"a": {}, "a": {}}"#,
            r#"{"a": {"first_seen": null, "first_seen": null}}"#,
        ];
        for routines in unreadable {
            assert!(state(routines).is_err(), "{routines}");
        }
        for text in ["", "{}", "[1, {}]", r#"{"version": 2, "routines": {}}"#, r#"{"version": 1}x"#]
        {
            assert!(State::from_json(text).is_err(), "{text}");
        }
    }
}
