//! What to do where there is no store.

/// What to do where there is no store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Make a new one.
    Create,
    /// Report it.
    Refuse,
}
