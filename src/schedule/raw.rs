//! JSON as it was written: order, repeated keys and the kind of each number are kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny};
use serde::de::{MapAccess, SeqAccess, Visitor};

/// A JSON value as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    /// A number without fraction and exponent.
    Integer(i128),
    /// Any other number.
    Float(f64),
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl Value<'_> {
    /// What it is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }
}

impl fmt::Display for Value<'_> {
    /// The value as JSON, shortened where it is long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(bool) => write!(f, "{bool}"),
            Value::Integer(integer) => write!(f, "{integer}"),
            Value::Float(float) => write!(f, "{float:?}"),
            Value::String(text) => f.write_str(&shown(text)),
            Value::Array(_) => f.write_str("[…]"),
            Value::Object(_) => f.write_str("{…}"),
        }
    }
}

/// The most characters of a text that a message repeats.
const SHOWN_AT_MOST: usize = 80;

/// Whether a character could make a text look like another one: control characters, line ends of
/// every kind, characters without width, and those that turn the direction of writing.
pub(crate) fn is_deceptive(char: char) -> bool {
    matches!(
        char,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    ) || char.is_control()
}

/// A text for a message: deceptive characters escaped, and cut where it is long.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (count, char) in text.chars().enumerate() {
        if count == SHOWN_AT_MOST {
            shown.push('…');
            break;
        }
        if is_deceptive(char) { shown.extend(char.escape_unicode()) } else { shown.push(char) }
    }
    shown
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value<'a>, D::Error> {
        Inside::Kept.deserialize(deserializer)
    }
}

/// What becomes of what stands inside a list or an object.
#[derive(Clone, Copy)]
enum Inside {
    Kept,
    /// Of a list or an object that is an item of a list only the kind matters: nothing of ours is
    /// one, and millions of them would take a hundred times their text.
    Dropped,
}

impl<'de> DeserializeSeed<'de> for Inside {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Inside {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
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

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        let mut values = Vec::new();
        match self {
            Inside::Kept => {
                while let Some(value) = items.next_element_seed(Inside::Dropped)? {
                    values.push(value);
                }
            }
            Inside::Dropped => while items.next_element::<IgnoredAny>()?.is_some() {},
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        let mut entries = Vec::new();
        match self {
            Inside::Kept => {
                while let Some(Key(key)) = items.next_key()? {
                    entries.push((key, items.next_value()?));
                }
            }
            Inside::Dropped => while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {},
        }
        // Millions of objects of one member would take four times what they hold.
        entries.shrink_to_fit();
        Ok(Value::Object(entries))
    }
}

/// A key, borrowed from the text where it has no escapes.
pub(super) struct Key<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key<'a>, D::Error> {
        deserializer.deserialize_str(AnyKey)
    }
}

struct AnyKey;

impl<'de> Visitor<'de> for AnyKey {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(text.to_owned())))
    }
}
