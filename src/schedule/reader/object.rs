//! An object with a known set of keys.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::schedule::fault::{Code, Faults, Place, nearest};
use crate::schedule::raw::{Value, shown};

use super::described;

/// An object whose keys were checked.
pub(super) struct Object<'v, 'p> {
    entries: &'v [(Cow<'v, str>, Value<'v>)],
    pub(super) place: &'p Place<'p>,
}

impl<'v, 'p> Object<'v, 'p> {
    /// Notes every key that is not one of `known`, or that stands here a second time.
    pub(super) fn read(
        entries: &'v [(Cow<'v, str>, Value<'v>)],
        place: &'p Place<'p>,
        known: &[&str],
        faults: &mut Faults,
    ) -> Object<'v, 'p> {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (key, _) in entries {
            let count = seen.entry(key).or_default();
            let place = place.key_again(key, *count);
            *count += 1;
            if !known.contains(&key.as_ref()) {
                let message = format!("there is no key `{}` here", shown(key));
                let hint =
                    nearest(key, known.iter().copied()).map(|key| format!("did you mean `{key}`?"));
                let keys = || format!("the keys here are {}", list(known));
                faults.key(&place, Code::UnknownKey, message, hint.unwrap_or_else(keys));
            } else if *count > 1 {
                let message = format!("the key `{key}` is given twice");
                faults.key(&place, Code::DuplicateKey, message, "keep one of them".to_owned());
            }
        }
        Object { entries, place }
    }

    /// Reads a value that must be an object, called `what` in messages.
    pub(super) fn of(
        value: &'v Value<'v>,
        place: &'p Place<'p>,
        what: &str,
        known: &[&str],
        faults: &mut Faults,
    ) -> Option<Object<'v, 'p>> {
        match value {
            Value::Object(entries) => Some(Object::read(entries, place, known, faults)),
            other => {
                let message = format!("{what} is an object, not {}", described(other));
                faults.value(
                    place,
                    Code::WrongType,
                    message,
                    format!("its keys are {}", list(known)),
                );
                None
            }
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'v Value<'v>> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
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

    /// The only key of an object that must have exactly one of its known keys.
    pub(super) fn only_key(&self, what: &str, faults: &mut Faults) -> Option<&'v str> {
        match self.entries {
            [(key, _)] => Some(key),
            [] => {
                faults.value(
                    self.place,
                    Code::MissingKey,
                    format!("{what} must say which it is"),
                    None,
                );
                None
            }
            [_, (second, _), ..] => {
                let message = format!("{what} is one thing, and here are several");
                faults.key(
                    &self.place.key(second),
                    Code::OneOf,
                    message,
                    "keep one of the keys".to_owned(),
                );
                None
            }
        }
    }
}

fn list(keys: &[&str]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
