//! Refs: the names of workflows.

use std::fmt;

/// The name of a workflow, its identity: 1 to 512 bytes of UTF-8, no control characters, no
/// leading or trailing white space.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference(Box<str>);

/// A text is not a ref.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// It is empty.
    #[error("a ref must not be empty")]
    Empty,
    /// It is too long.
    #[error("a ref is at most {max} bytes long, and this one has {length}", max = Reference::MAX_BYTES)]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// It holds a control character.
    #[error("a ref must not hold the control character U+{code:04X}")]
    Control {
        /// The character's code point.
        code: u32,
    },
    /// It begins or ends with white space.
    #[error("a ref must not begin or end with white space")]
    Blank,
}

impl Reference {
    /// The longest ref, in bytes of UTF-8.
    pub const MAX_BYTES: usize = 512;

    /// Checks a name.
    ///
    /// # Errors
    /// [`ReferenceError`] names the rule that it breaks.
    pub fn new(name: &str) -> Result<Reference, ReferenceError> {
        if name.is_empty() {
            return Err(ReferenceError::Empty);
        }
        if name.len() > Reference::MAX_BYTES {
            return Err(ReferenceError::TooLong { length: name.len() });
        }
        if let Some(control) = name.chars().find(|char| char.is_control()) {
            return Err(ReferenceError::Control { code: u32::from(control) });
        }
        if name.trim().len() != name.len() {
            return Err(ReferenceError::Blank);
        }
        Ok(Reference(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
