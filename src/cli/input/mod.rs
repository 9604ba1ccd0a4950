//! Documents come in: paths to texts, texts to workflows, with everything that is wrong with them.

mod folder;
mod reading;
mod refs;
mod source;

use std::ops::Range;

use crate::schedule::{Declaration, Reference};
use crate::wire::Problem;
use crate::wire::report::Diagnostic;

use super::args;
use super::failure::Failure;
pub(super) use folder::Ignored;
use reading::Reading;

/// Whether each document needs a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// It does.
    Required,
    /// It may do without: the phase is not known then.
    Optional,
}

/// What takes the documents as they come in.
pub(super) trait Sink {
    /// Takes one workflow without an error of its own.
    fn workflow(&mut self, reference: Option<Reference>, declaration: Declaration);

    /// Takes one thing that was found, with the text and the bytes of it that it is about.
    ///
    /// # Errors
    /// Where it cannot be passed on.
    fn diagnostic(
        &mut self,
        found: Diagnostic,
        text: &str,
        span: &Range<usize>,
    ) -> Result<(), Failure>;
}

/// How much came in.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Files that were read.
    pub(super) files: u64,
    /// Workflows, also those with an error.
    pub(super) workflows: u64,
    /// What was passed over in folders.
    pub(super) ignored: Ignored,
    /// Paths that could not be read, or have no document.
    pub(super) problems: Vec<Problem>,
}

/// Reads every document, and gives `sink` everything that is in them.
///
/// # Errors
/// Where the sink fails, or `--ref` does not fit the documents. What cannot be read is in
/// [`Tally::problems`], so that it does not hide what is wrong elsewhere.
pub(super) fn read(
    args: &args::Documents,
    names: Names,
    sink: &mut dyn Sink,
) -> Result<Tally, Failure> {
    let mut reading = Reading::new(names, args.reference.clone(), sink);
    if let Some(json) = &args.schedule {
        reading.schedule(json)?;
    }
    for path in &args.paths {
        reading.path(path)?;
    }
    reading.end()
}
