//! Removes the records of what is long over, and remembers up to where.
//!
//! Records are walked in the order of their occurrences, a page at a time, each page in a
//! transaction of its own: nobody waits long, and what was removed when it stops halfway is known
//! to be. The horizon of a workflow moves with its records, in the same transaction.

use std::collections::HashMap;

use crate::clock::Clock;
use crate::store::record::{
    Marks, RequestRecord, RunFilter, RunKey, RunRecord, RunState, SkipFilter, SkipRecord, Workflow,
    WorkflowId,
};
use crate::store::{Store, Transaction};
use crate::time::Instant;

use super::workflow::Planned;
use super::{EngineError, Mode, store_info};

/// How many records are looked at in one transaction.
const PAGE: usize = 5_000;

/// What was removed of one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// The workflow.
    pub reference: String,
    /// Its horizon: of occurrences before it there may be no record any more.
    pub horizon: Instant,
    /// How many runs, requested ones too.
    pub runs: u64,
    /// How many skip records, each a range.
    pub skips: u64,
}

/// Removes the finished runs and the skip records whose occurrences lie more than `older_than_ms`
/// before now, of the workflows whose ref passes; of each only those before its oldest unfinished
/// occurrence: an open run, or what is not settled yet. A skipped range that reaches past either
/// stays whole. Answers with the workflows of which something was removed, ordered by ref.
///
/// A request keeps the occurrences of its removed runs, so that asking again changes nothing.
///
/// # Errors
/// [`EngineError::OtherClock`], [`EngineError::Plan`], [`EngineError::Store`]; what was removed
/// until then is removed, with its horizon.
pub fn prune(
    store: &mut dyn Store,
    clock: &dyn Clock,
    matches: &dyn Fn(&str) -> bool,
    older_than_ms: i64,
    mode: Mode,
) -> Result<Vec<Pruned>, EngineError> {
    let now = clock.now();
    let Some(until) = now.checked_add_ms(older_than_ms.saturating_neg()) else {
        return Ok(Vec::new());
    };
    let mut prune =
        Prune { now, until, matches, mode, ends: HashMap::new(), removed: HashMap::new() };
    let runs = RunFilter { to: Some(until), ..RunFilter::default() };
    let mut last: Option<RunRecord> = None;
    loop {
        let mut tx = prune.begin(store, clock)?;
        let page = tx.runs(&runs.page_after(last.as_ref(), PAGE))?;
        last = page.last().cloned();
        let is_last = page.len() < PAGE;
        prune.runs(&mut *tx, page)?;
        prune.end(tx)?;
        if is_last {
            break;
        }
    }
    let skips = SkipFilter { to: Some(until), ..SkipFilter::default() };
    let mut last: Option<SkipRecord> = None;
    loop {
        let mut tx = prune.begin(store, clock)?;
        let page = tx.skips(&skips.page_after(last.as_ref(), PAGE))?;
        last = page.last().cloned();
        let is_last = page.len() < PAGE;
        prune.skips(&mut *tx, page)?;
        prune.end(tx)?;
        if is_last {
            break;
        }
    }
    let mut removed: Vec<Pruned> = prune.removed.into_values().collect();
    removed.sort_unstable_by(|one, other| one.reference.cmp(&other.reference));
    Ok(removed)
}

/// A walk along the records.
struct Prune<'a> {
    now: Instant,
    /// Only occurrences before this are old enough.
    until: Instant,
    matches: &'a dyn Fn(&str) -> bool,
    mode: Mode,
    /// Of each workflow that was met, its oldest unfinished occurrence as far as it is known.
    ends: HashMap<WorkflowId, Instant>,
    removed: HashMap<WorkflowId, Pruned>,
}

impl Prune<'_> {
    fn begin<'s>(
        &self,
        store: &'s mut dyn Store,
        clock: &dyn Clock,
    ) -> Result<Box<dyn Transaction + 's>, EngineError> {
        if self.mode == Mode::DryRun {
            return Ok(store.begin_read()?);
        }
        let mut tx = store.begin_write()?;
        store_info::for_write(&mut *tx, clock)?;
        Ok(tx)
    }

    fn end(&self, tx: Box<dyn Transaction + '_>) -> Result<(), EngineError> {
        if self.mode == Mode::Write {
            tx.commit()?;
        }
        Ok(())
    }

    /// Removes what is finished of a page of runs, in the order of their occurrences.
    fn runs(&mut self, tx: &mut dyn Transaction, page: Vec<RunRecord>) -> Result<(), EngineError> {
        let workflows = self.workflows(tx, page.iter().map(|run| run.reference.as_str()))?;
        let mut keys: Vec<RunKey> = Vec::new();
        for run in page {
            let RunKey { occurrence, workflow, .. } = run.key;
            let Some(end) = self.ends.get_mut(&workflow) else { continue };
            if matches!(run.state, RunState::Pending | RunState::Claimed) {
                *end = occurrence.min(*end);
            } else if occurrence < *end {
                self.note(workflow, &run.reference, occurrence).runs += 1;
                keys.push(run.key);
            }
        }
        if self.mode == Mode::Write {
            self.move_horizons(tx, &workflows)?;
            note_in_requests(tx, &keys)?;
            tx.delete_runs(&keys)?;
        }
        Ok(())
    }

    /// Removes what is old enough of a page of skip records.
    fn skips(
        &mut self,
        tx: &mut dyn Transaction,
        mut page: Vec<SkipRecord>,
    ) -> Result<(), EngineError> {
        let workflows = self.workflows(tx, page.iter().map(|skip| skip.reference.as_str()))?;
        let until = self.until;
        page.retain(|skip| {
            skip.last < until && self.ends.get(&skip.workflow).is_some_and(|end| skip.last < *end)
        });
        for skip in &page {
            self.note(skip.workflow, &skip.reference, skip.last).skips += 1;
        }
        if self.mode == Mode::Write {
            self.move_horizons(tx, &workflows)?;
            tx.delete_skips(&page)?;
        }
        Ok(())
    }

    /// The workflows of a page that are to be pruned, as they are now.
    fn workflows<'r>(
        &mut self,
        tx: &mut dyn Transaction,
        references: impl Iterator<Item = &'r str>,
    ) -> Result<Vec<Workflow>, EngineError> {
        let mut names: Vec<&str> = references.filter(|name| (self.matches)(name)).collect();
        names.sort_unstable();
        names.dedup();
        let workflows: Vec<Workflow> = tx.workflows_named(&names)?.into_iter().flatten().collect();
        for workflow in &workflows {
            let end = first_unsettled(tx, workflow, self.now)?;
            self.ends
                .entry(workflow.id)
                .and_modify(|known| *known = end.min(*known))
                .or_insert(end);
        }
        Ok(workflows)
    }

    /// Notes that a record up to `last` is removed.
    fn note(&mut self, workflow: WorkflowId, reference: &str, last: Instant) -> &mut Pruned {
        let horizon = last.just_after();
        let removed = self.removed.entry(workflow).or_insert_with(|| Pruned {
            reference: reference.to_owned(),
            horizon,
            runs: 0,
            skips: 0,
        });
        removed.horizon = removed.horizon.max(horizon);
        removed
    }

    /// Writes the horizons of workflows down, where they moved.
    fn move_horizons(
        &mut self,
        tx: &mut dyn Transaction,
        workflows: &[Workflow],
    ) -> Result<(), EngineError> {
        for Workflow { id, marks, .. } in workflows {
            let Some(removed) = self.removed.get_mut(id) else { continue };
            removed.horizon =
                marks.pruned_before.map_or(removed.horizon, |at| at.max(removed.horizon));
            if marks.pruned_before < Some(removed.horizon) {
                let marks = Marks { pruned_before: Some(removed.horizon), ..*marks };
                tx.update_marks(*id, &marks)?;
            }
        }
        Ok(())
    }
}

/// The first instant of which not everything is settled.
fn first_unsettled(
    tx: &mut dyn Transaction,
    workflow: &Workflow,
    now: Instant,
) -> Result<Instant, EngineError> {
    if let Some(cursor) = workflow.progress.cursor {
        return Ok(cursor.just_after());
    }
    // Nothing of the schedule is settled. What it owes may lie before its registration.
    let owed = Planned::load_one(tx, workflow.clone())?.plan(now).owed;
    Ok(owed.map_or(Instant::MAX, |owed| owed.first))
}

/// Keeps the occurrences of requested runs that are removed with their requests.
fn note_in_requests(tx: &mut dyn Transaction, keys: &[RunKey]) -> Result<(), EngineError> {
    let mut requests: HashMap<(WorkflowId, &str), Vec<Instant>> = HashMap::new();
    for key in keys.iter().filter(|key| !key.request_id.is_empty()) {
        requests.entry((key.workflow, &key.request_id)).or_default().push(key.occurrence);
    }
    for ((workflow, id), removed) in requests {
        if let Some(request) = tx.request(workflow, id)? {
            let mut pruned = [request.pruned.clone(), removed].concat();
            pruned.sort_unstable();
            tx.put_request(&RequestRecord { pruned, ..request })?;
        }
    }
    Ok(())
}
