//! Copies everything from one store to another.

use crate::store::record::{Counts, RunFilter, RunRecord, SkipFilter, Workflow};
use crate::store::{Store, Transaction};

use super::EngineError;

/// How many records are in memory at a time, of workflows and of runs. Of one workflow all that is
/// neither a run nor an attempt is.
const PAGE: usize = 1_000;

/// Copies every record of the store `from`, as of one instant, to the store `to`: ids, cursors and
/// tokens stay what they are, and so does whose clock it lives by. `tell` is told how many of how many
/// workflows and runs are copied. How many there were is returned.
///
/// # Errors
/// [`EngineError::NotEmpty`] where there are records in `to` already; [`EngineError::Store`]. Nothing
/// was changed: it is one transaction.
pub fn copy(
    from: &mut dyn Store,
    to: &mut dyn Store,
    tell: &mut dyn FnMut(u64, u64),
) -> Result<Counts, EngineError> {
    let mut from = from.begin_read()?;
    let mut to = to.begin_write()?;
    if to.info()?.is_some() || !to.workflows(None, 1)?.is_empty() {
        return Err(EngineError::NotEmpty);
    }
    let counts = from.counts()?;
    let mut progress = Told { tell, done: 0, all: counts.workflows + counts.runs };
    if let Some(info) = from.info()? {
        to.set_info(&info)?;
    }
    copy_workflows(&mut *from, &mut *to, &mut progress)?;
    copy_runs(&mut *from, &mut *to, &mut progress)?;
    to.commit()?;
    Ok(counts)
}

/// How far it has come.
struct Told<'a> {
    tell: &'a mut dyn FnMut(u64, u64),
    done: u64,
    all: u64,
}

impl Told<'_> {
    fn add(&mut self, count: usize) {
        self.done += count as u64;
        (self.tell)(self.done, self.all);
    }
}

fn copy_workflows(
    from: &mut dyn Transaction,
    to: &mut dyn Transaction,
    progress: &mut Told<'_>,
) -> Result<(), EngineError> {
    let mut last: Option<Workflow> = None;
    loop {
        let after = last.as_ref().map(|workflow| workflow.reference.as_str());
        let page = from.workflows(after, PAGE)?;
        if page.is_empty() {
            return Ok(());
        }
        to.restore_workflows(&page)?;
        let of: Vec<_> = page.iter().map(|workflow| (workflow.id, None)).collect();
        to.insert_revisions(&from.revisions(&of)?.concat())?;
        for workflow in &page {
            for pause in from.pauses(workflow.id)? {
                to.put_pause(&pause)?;
            }
            for request in from.requests(workflow.id)? {
                to.put_request(&request)?;
            }
            let skips = SkipFilter { workflow: Some(workflow.id), ..SkipFilter::default() };
            to.insert_skips(&from.skips(&skips)?)?;
        }
        progress.add(page.len());
        last = page.into_iter().next_back();
    }
}

fn copy_runs(
    from: &mut dyn Transaction,
    to: &mut dyn Transaction,
    progress: &mut Told<'_>,
) -> Result<(), EngineError> {
    let mut last: Option<RunRecord> = None;
    loop {
        let page = from.runs(&RunFilter::default().page_after(last.as_ref(), PAGE))?;
        if page.is_empty() {
            return Ok(());
        }
        to.insert_runs(&page)?;
        let keys: Vec<_> = page.iter().map(|run| run.key.clone()).collect();
        to.insert_past_attempts(&from.past_attempts_of(&keys)?)?;
        progress.add(page.len());
        last = page.into_iter().next_back();
    }
}
