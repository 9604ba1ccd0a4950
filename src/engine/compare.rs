//! What documents say beside what the store has: read before anything is locked.

use std::borrow::Borrow;

use crate::plan::Revision;
use crate::schedule::{Definition, Reference, Schedule};
use crate::store::Transaction;
use crate::store::record::{RevisionRow, Workflow};
use crate::time::Instant;

use super::EngineError;

/// How many workflows are looked up, or written, at once.
pub(super) const BATCH: usize = 1_000;

/// What documents say beside what the store has.
pub(super) struct Comparison {
    /// How often definitions had been written when this was read.
    pub(super) definition_writes: i64,
    /// Where each document stands, in their order.
    pub(super) standings: Vec<Standing>,
}

/// Where one document stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// There is no workflow of its name.
    Unknown,
    /// The store has just this.
    Same {
        /// The number of the present revision.
        revision: u32,
    },
    /// The store has something else.
    Other,
}

/// The positions of documents in the order of their refs, in which the store has them, too.
///
/// # Errors
/// [`EngineError::RepeatedReference`].
pub(super) fn by_reference<S>(
    documents: &[(Reference, Option<S>)],
) -> Result<Vec<usize>, EngineError> {
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.sort_unstable_by_key(|position| documents[*position].0.as_str());
    match order.windows(2).find(|pair| documents[pair[0]].0 == documents[pair[1]].0) {
        None => Ok(order),
        Some(pair) => {
            Err(EngineError::RepeatedReference { reference: documents[pair[0]].0.to_string() })
        }
    }
}

/// Compares documents, taken in `order`, with what the store has of `source`.
///
/// # Errors
/// [`EngineError::OtherSource`], [`EngineError::Store`].
pub(super) fn compare<S: Borrow<Schedule>>(
    tx: &mut dyn Transaction,
    documents: &[(Reference, Option<S>)],
    order: &[usize],
    source: &str,
) -> Result<Comparison, EngineError> {
    let definition_writes = tx.info()?.map_or(0, |info| info.definition_writes);
    let mut standings = vec![Standing::Unknown; documents.len()];
    for batch in order.chunks(BATCH) {
        let names: Vec<&str> = batch.iter().map(|at| documents[*at].0.as_str()).collect();
        let known = tx.workflows_named(&names)?;
        let found = batch.iter().zip(known).filter_map(|(at, known)| Some((*at, known?)));
        let found: Vec<(usize, Workflow)> = found.collect();
        let newest: Vec<_> =
            found.iter().map(|(_, known)| (known.id, Some(Instant::MAX))).collect();
        for ((at, known), rows) in found.iter().zip(tx.revisions(&newest)?) {
            if known.source != source {
                return Err(EngineError::OtherSource {
                    reference: known.reference.clone(),
                    owner: known.source.clone(),
                    source_name: source.to_owned(),
                });
            }
            let (reference, schedule) = &documents[*at];
            let schedule = schedule.as_ref().map(Borrow::borrow);
            standings[*at] = match rows.last() {
                Some(row) if is_same(known, row, reference, schedule) => {
                    Standing::Same { revision: row.number }
                }
                _ => Standing::Other,
            };
        }
    }
    Ok(Comparison { definition_writes, standings })
}

/// Whether a sync of `schedule` would change nothing.
fn is_same(
    known: &Workflow,
    row: &RevisionRow,
    reference: &Reference,
    schedule: Option<&Schedule>,
) -> bool {
    known.marks.retired.is_none()
        && schedule.is_none_or(|schedule| schedule.policies == known.policies)
        && means_the_same(row, reference, schedule.map(|schedule| &schedule.definition))
}

/// Whether the definition of a row means the same as another one.
fn means_the_same(
    row: &RevisionRow,
    reference: &Reference,
    definition: Option<&Definition>,
) -> bool {
    let (Some(text), Some(definition)) = (&row.schedule, definition) else {
        return row.schedule.is_none() && definition.is_none();
    };
    // One meaning has one text, but for a phase, which may be named in two ways.
    *text == definition.to_canonical()
        || Definition::from_canonical(text).is_some_and(|known| {
            let revision =
                |definition| Revision::new(reference, row.number, None, Some(definition));
            revision(known).means_the_same_as(&revision(definition.clone()))
        })
}
