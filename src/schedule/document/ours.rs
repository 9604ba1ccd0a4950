//! The part of a document that is ours; what belongs to the runner is passed over, however large
//! or deep.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny};
use serde::de::{MapAccess, SeqAccess, Visitor};

use crate::schedule::raw::{Key, Value};

/// The keys of a document that are ours.
pub(super) const KEYS: [&str; 3] = ["ref", "schedule", "workflows"];

/// The most workflows of a project.
pub(super) const WORKFLOWS_AT_MOST: usize = 100_000;

/// So many keys of the runner are remembered for each object, to find misspellings of ours.
const FOREIGN_AT_MOST: usize = 16;

/// A document with nothing in it but what is ours, and some keys of the runner, without values.
pub(super) struct Ours<'a>(pub(super) Value<'a>);

/// How much of a value is ours.
#[derive(Clone, Copy)]
enum Level {
    /// A document: some of its members.
    Document,
    /// The workflows of a project: every member is a workflow.
    Workflows,
    /// A workflow of a project: some of its members.
    Workflow,
    /// Everything.
    All,
}

impl Level {
    /// How much of a member is ours; `None` for one of the runner.
    fn of_member(self, key: &str) -> Option<Level> {
        match (self, key) {
            (Level::Workflows, _) => Some(Level::Workflow),
            (Level::Document, "workflows") => Some(Level::Workflows),
            (Level::Document | Level::Workflow, "ref" | "schedule") => Some(Level::All),
            _ => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Ours<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ours<'a>, D::Error> {
        Level::Document.deserialize(deserializer).map(Ours)
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        match self {
            Level::All => Value::deserialize(deserializer),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        let mut members = Vec::new();
        let mut foreign = 0;
        while let Some(Key(key)) = items.next_key()? {
            // One more than may be, so that it shows.
            if matches!(self, Level::Workflows) && members.len() > WORKFLOWS_AT_MOST {
                items.next_value::<IgnoredAny>()?;
                continue;
            }
            if let Some(level) = self.of_member(&key) {
                members.push((key, items.next_value_seed(level)?));
                continue;
            }
            items.next_value::<IgnoredAny>()?;
            foreign += 1;
            if foreign <= FOREIGN_AT_MOST {
                members.push((key, Value::Null));
            }
        }
        Ok(Value::Object(members))
    }

    // Where an object is meant, only the kind of anything else matters.

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(Vec::new()))
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(bool))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Value<'de>, E> {
        Ok(Value::Integer(i128::from(integer)))
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Value<'de>, E> {
        Ok(Value::Integer(i128::from(integer)))
    }

    fn visit_f64<E>(self, float: f64) -> Result<Value<'de>, E> {
        Ok(Value::Float(float))
    }

    fn visit_str<E>(self, _: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed("")))
    }
}
