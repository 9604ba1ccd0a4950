//! The canonical text of a definition: what the store keeps, and what equal meanings share.

use super::Definition;

impl Definition {
    /// The definition as schedule JSON with every default written out and one spelling for every
    /// meaning. [`Definition::from_canonical`] reads it back.
    pub fn to_canonical(&self) -> String {
        todo!()
    }

    /// Reads what [`Definition::to_canonical`] wrote; `None` for any text that is no schedule.
    pub fn from_canonical(text: &str) -> Option<Definition> {
        let _ = text;
        todo!()
    }
}
