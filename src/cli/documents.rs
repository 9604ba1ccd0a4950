//! The documents that a command works on.

use crate::schedule::{Reference, Schedule};

use super::args;
use super::failure::Failure;

/// One workflow as a document gives it.
#[derive(Debug, Clone)]
pub(super) struct Workflow {
    /// Its name; `None` where the document has none.
    pub(super) reference: Option<Reference>,
    /// Its schedule; `None` for one that is `false`.
    pub(super) schedule: Option<Schedule>,
}

/// Reads every document, or fails with every fault.
pub(super) fn read(args: &args::Documents) -> Result<Vec<Workflow>, Failure> {
    let _ = args;
    todo!()
}

/// Reads every document, each of which needs a ref.
pub(super) fn read_named(
    args: &args::Documents,
) -> Result<Vec<(Reference, Option<Schedule>)>, Failure> {
    read(args)?
        .into_iter()
        .map(|workflow| match workflow.reference {
            Some(reference) => Ok((reference, workflow.schedule)),
            None => Err(Failure::refused(
                "missing-ref",
                "a document has no ref".to_owned(),
                Some("add \"ref\", or give --ref for a single document"),
            )),
        })
        .collect()
}
