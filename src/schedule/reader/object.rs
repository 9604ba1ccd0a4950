//! An object with a known set of keys.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::schedule::code::Code;
use crate::schedule::fault::{Faults, Part, Place, nearest};
use crate::schedule::raw::{Value, shown};

use super::{advice, described};

/// An object whose keys were checked.
pub(super) struct Object<'v, 'p> {
    entries: &'v [(Cow<'v, str>, Value<'v>)],
    pub(super) place: &'p Place<'p>,
    known: &'static [&'static str],
}

impl<'v, 'p> Object<'v, 'p> {
    /// Notes every key that is not one of `known`, or that stands here a second time.
    pub(super) fn read(
        entries: &'v [(Cow<'v, str>, Value<'v>)],
        place: &'p Place<'p>,
        known: &'static [&'static str],
        faults: &mut Faults,
    ) -> Object<'v, 'p> {
        let mut given = vec![0; known.len()];
        let mut strangers = HashMap::new();
        for (key, _) in entries {
            let Some(index) = known.iter().position(|name| name == key) else {
                if faults.is_full() {
                    faults.count(Code::UnknownKey);
                    continue;
                }
                let nth: &mut usize = strangers.entry(&**key).or_default();
                let part = if *nth == 0 { Part::Key } else { Part::Repeat { nth: *nth } };
                *nth += 1;
                let message = format!("there is no key `{}` here", shown(key));
                let hint = match nearest(key, known.iter().copied()) {
                    Some(key) => format!("did you mean `{key}`?"),
                    None => format!("the keys here are {}", list(known)),
                };
                faults.note(&place.key(key), part, Code::UnknownKey, message, Some(hint));
                continue;
            };
            if given[index] > 0 {
                faults.repeat(place, key, given[index]);
            }
            given[index] += 1;
        }
        Object { entries, place, known }
    }

    /// Reads a value that must be an object, called `what` in messages.
    pub(super) fn of(
        value: &'v Value<'v>,
        place: &'p Place<'p>,
        what: &str,
        known: &'static [&'static str],
        faults: &mut Faults,
    ) -> Option<Object<'v, 'p>> {
        match value {
            Value::Object(entries) => Some(Object::read(entries, place, known, faults)),
            other => {
                let message = format!("{what} is an object, not {}", described(other));
                let hint = advice::object_for(other, known)
                    .unwrap_or_else(|| format!("its {}", listed("key", known)));
                faults.value(place, Code::WrongType, message, hint);
                None
            }
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'v Value<'v>> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether an unknown key is probably meant to be `key`.
    pub(super) fn misspells(&self, key: &str) -> bool {
        let strangers = self.entries.iter().filter(|(name, _)| !self.known.contains(&&**name));
        let mut meant = strangers.filter_map(|(name, _)| nearest(name, self.known.iter().copied()));
        meant.any(|name| name == key)
    }

    /// Reads the value of a key that may be missing. `None` when it has a fault.
    pub(super) fn optional<T>(
        &self,
        key: &str,
        faults: &mut Faults,
        read: impl FnOnce(&'v Value<'v>, &Place<'_>, &mut Faults) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.get(key) {
            None => Some(None),
            Some(Value::Null) => {
                let message = format!("`{key}` is null");
                faults.value(
                    &self.place.key(key),
                    Code::WrongType,
                    message,
                    "leave the key out".to_owned(),
                );
                None
            }
            Some(value) => read(value, &self.place.key(key), faults).map(Some),
        }
    }

    /// The key of an object that must have exactly one of its known keys: the first, where there
    /// are more, so that the faults behind it are found too.
    pub(super) fn only_key(&self, what: &str, faults: &mut Faults) -> Option<&'static str> {
        let given = |key: &str| self.known.iter().copied().find(|known| *known == key);
        let mut keys = self.entries.iter().filter_map(|(key, _)| given(key));
        let Some(first) = keys.next() else {
            if self.entries.is_empty() {
                let message = format!("{what} must say which it is");
                let hint = format!("write one of {}", list(self.known));
                faults.key(self.place, Code::MissingKey, message, hint);
            }
            return None;
        };
        if let Some(second) = keys.find(|key| *key != first) {
            let message = format!("{what} is one thing: `{first}` or `{second}`");
            let hint = "keep one of the keys".to_owned();
            faults.key(&self.place.key(second), Code::OneOf, message, hint);
        }
        Some(first)
    }
}

/// `key is` and the only one, or `keys are` and all of them.
fn listed(what: &str, keys: &[&str]) -> String {
    let (verb, plural) = if keys.len() == 1 { ("is", "") } else { ("are", "s") };
    format!("{what}{plural} {verb} {}", list(keys))
}

fn list(keys: &[&str]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
