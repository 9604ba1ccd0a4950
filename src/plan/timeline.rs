//! The timeline of a workflow: the occurrences of its revisions, one ordered sequence.

use crate::schedule::{Definition, Reference};
use crate::time::{Instant, Window};

use super::run::{PlanError, Run};

/// One revision of a workflow: a definition and the place in the timeline where it begins.
#[derive(Debug, Clone)]
pub struct Revision {
    number: u32,
    after: Option<Instant>,
    content: Option<Content>,
}

#[derive(Debug, Clone)]
struct Content {
    definition: Definition,
    phase_ms: i64,
}

impl Revision {
    /// The revision `number` (counted from 1) of the workflow `reference`. It holds the
    /// occurrences of `definition` strictly after `after`, the instant E of the edit that made
    /// it; the first revision has `None` and reaches back without end. A schedule that is `false`
    /// has no definition.
    pub fn new(
        reference: &Reference,
        number: u32,
        after: Option<Instant>,
        definition: Option<Definition>,
    ) -> Revision {
        let content = definition
            .map(|definition| Content { phase_ms: definition.phase_ms(reference), definition });
        Revision { number, after, content }
    }

    /// Counted from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The edit's instant E, exclusive; `None` for the first revision.
    pub fn after(&self) -> Option<Instant> {
        self.after
    }

    /// Its definition; `None` while the schedule is `false`.
    pub fn definition(&self) -> Option<&Definition> {
        self.content.as_ref().map(|content| &content.definition)
    }
}

/// The occurrences of all revisions of one workflow as one ordered sequence. Each occurrence has
/// the phase and the window of its own revision.
///
/// An occurrence is due at the latest when the first one of a later revision is, so what is due
/// at any instant is a prefix of the sequence.
#[derive(Debug, Clone)]
pub struct Timeline {
    spans: Vec<Span>,
}

/// The part of the timeline that one revision with a definition holds.
#[derive(Debug, Clone)]
struct Span {
    number: u32,
    content: Content,
    /// The first and last instant that may hold an occurrence, both inclusive.
    first: Instant,
    last: Instant,
    /// No occurrence of this span is due later than this.
    due_cap: Option<Instant>,
}
