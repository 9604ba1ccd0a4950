//! Registers workflows, all or nothing.

use std::borrow::{Borrow, Cow};

use crate::clock::Clock;
use crate::plan::{self, Cut, Position, Revision, SkipReason, Timeline};
use crate::schedule::{Reference, Schedule};
use crate::store::record::{Marks, RunFilter, RunRecord, RunState, SkipRecord, Workflow};
use crate::store::{Store, Transaction};
use crate::time::Instant;

use super::compare::{BATCH, Standing, by_reference, compare};
use super::pause::mark;
use super::register::{Registration, register, revision_row};
use super::store_info;
use super::workflow::{Planned, each_workflow, read_revisions};
use super::{EngineError, Mode};

/// How to register.
#[derive(Debug, Clone)]
pub struct SyncOptions<'a> {
    /// The name of the set of documents.
    pub source: &'a str,
    /// What to do with the answer.
    pub mode: Mode,
    /// What to do with workflows that this source registered and no longer has.
    pub absent: Absent,
}

/// What to do with workflows that their source no longer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// Leave them as they are.
    Keep,
    /// Skip what is unsettled, cancel pending runs, and never run them again until they return.
    Retire,
}

/// What a sync did.
#[derive(Debug, Clone)]
pub struct SyncReport<'a> {
    /// The instant at which it was done.
    pub now: Instant,
    /// One entry for each workflow, in the order given; then those that were retired.
    pub workflows: Vec<Synced<'a>>,
}

/// What a sync did with one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced<'a> {
    /// The workflow.
    pub reference: Cow<'a, str>,
    /// What changed.
    pub change: Change,
    /// The number of the present revision.
    pub revision: u32,
}

/// What a sync changed of one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It was not known.
    New,
    /// A new revision began.
    Edited {
        /// Where the old revision ends and the new begins.
        cut: Box<Cut>,
    },
    /// Only policies changed, which start no revision.
    Policies,
    /// Nothing.
    Unchanged,
    /// Its source no longer has it.
    Retired {
        /// What was skipped.
        skipped: Vec<SkipRecord>,
    },
}

/// Registers workflows, all or nothing; `None` is a schedule that is `false`.
///
/// A definition that means something else than the present one is an edit: it begins a new
/// revision at E, the latest of now, the cursor and the previous E. Occurrences at or before E keep
/// their old definition; so an edit fires nothing from before it and loses nothing that was owed.
///
/// What stands there already is found out before the store is locked, and again only if somebody
/// else registered something in between.
///
/// # Errors
/// [`EngineError::RepeatedReference`], [`EngineError::OtherSource`], [`EngineError::NothingLeft`],
/// [`EngineError::OtherClock`] and [`EngineError::Store`]; nothing was registered.
pub fn sync<'a, S: Borrow<Schedule>>(
    store: &mut dyn Store,
    clock: &dyn Clock,
    workflows: &'a [(Reference, Option<S>)],
    options: &SyncOptions<'_>,
) -> Result<SyncReport<'a>, EngineError> {
    if options.absent == Absent::Retire && workflows.is_empty() {
        return Err(EngineError::NothingLeft { source_name: options.source.to_owned() });
    }
    let order = by_reference(workflows)?;
    let compared = compare(&mut *store.begin_read()?, workflows, &order, options.source)?;
    let mut tx = store.begin_write()?;
    let now = clock.now();
    let info = store_info::for_write(&mut *tx, clock)?;
    let standings = match compared.definition_writes == info.definition_writes {
        true => compared.standings,
        false => compare(&mut *tx, workflows, &order, options.source)?.standings,
    };
    let mut synced: Vec<Synced<'a>> = workflows
        .iter()
        .zip(&standings)
        .map(|((reference, _), standing)| Synced::before(reference, *standing))
        .collect();
    for batch in order.chunks(BATCH) {
        register_unknown(&mut *tx, now, options.source, workflows, &standings, batch)?;
        for at in batch.iter().copied().filter(|at| standings[*at] == Standing::Other) {
            let (reference, schedule) = &workflows[at];
            let schedule = schedule.as_ref().map(S::borrow);
            (synced[at].change, synced[at].revision) = renew(&mut *tx, now, reference, schedule)?;
        }
    }
    if options.absent == Absent::Retire {
        let is_absent = |reference: &str| {
            order.binary_search_by_key(&reference, |at| workflows[*at].0.as_str()).is_err()
        };
        synced.extend(retire_absent(&mut *tx, now, options.source, &is_absent)?);
    }
    if synced.iter().any(|synced| synced.change != Change::Unchanged) {
        store_info::note_definitions(&mut *tx, info, now)?;
    }
    if options.mode == Mode::Write {
        tx.commit()?;
    }
    Ok(SyncReport { now, workflows: synced })
}

impl Synced<'_> {
    /// What a sync does with a workflow, as far as it is known beforehand.
    fn before(reference: &Reference, standing: Standing) -> Synced<'_> {
        let (change, revision) = match standing {
            Standing::Unknown => (Change::New, 1),
            Standing::Same { revision } => (Change::Unchanged, revision),
            // Until it is renewed.
            Standing::Other => (Change::Unchanged, 0),
        };
        Synced { reference: Cow::Borrowed(reference.as_str()), change, revision }
    }
}

/// Registers those of a batch that the store does not know.
fn register_unknown<S: Borrow<Schedule>>(
    tx: &mut dyn Transaction,
    now: Instant,
    source: &str,
    workflows: &[(Reference, Option<S>)],
    standings: &[Standing],
    batch: &[usize],
) -> Result<(), EngineError> {
    let unknown = batch.iter().filter(|at| standings[**at] == Standing::Unknown);
    let unknown: Vec<Registration<'_>> = unknown
        .map(|at| {
            let (reference, schedule) = &workflows[*at];
            let position = Position { cursor: None, registered: now };
            Registration { reference, schedule: schedule.as_ref().map(S::borrow), position }
        })
        .collect();
    if !unknown.is_empty() {
        register(tx, now, source, &unknown)?;
    }
    Ok(())
}

/// Brings a known workflow up to date.
fn renew(
    tx: &mut dyn Transaction,
    now: Instant,
    reference: &Reference,
    schedule: Option<&Schedule>,
) -> Result<(Change, u32), EngineError> {
    let mut known = tx
        .workflow(reference.as_str())?
        .ok_or_else(|| EngineError::UnknownWorkflow { reference: reference.to_string() })?;
    let mut revisions = Vec::new();
    for rows in tx.revisions(&[(known.id, None)])? {
        revisions = read_revisions(&known.reference, &rows)?;
    }
    let present = revisions.last();
    let number = present.map_or(0, Revision::number);
    let edited_at = [Some(now), known.progress.cursor, present.and_then(Revision::after)]
        .into_iter()
        .flatten()
        .max();
    let definition = schedule.map(|schedule| schedule.definition.clone());
    let next = Revision::new(reference, number + 1, edited_at, definition);
    // A retired workflow returns by an edit at its instant.
    let returns = known.marks.retired.is_some();
    let is_edit = returns || present.is_none_or(|present| !present.means_the_same_as(&next));
    // The policies of a schedule now `false` are the last ones that it had.
    let policies = schedule.map_or(known.policies, |schedule| schedule.policies);
    let has_new_policies = policies != known.policies;
    let before = Timeline::new(&revisions);
    let (change, revision) = match (is_edit, has_new_policies) {
        (true, _) => {
            tx.insert_revisions(&[revision_row(known.id, &next, now)])?;
            revisions.push(next);
            let cut = plan::cut(&before, &Timeline::new(&revisions), edited_at.unwrap_or(now));
            (Change::Edited { cut: Box::new(cut) }, number + 1)
        }
        (false, true) => (Change::Policies, number),
        (false, false) => (Change::Unchanged, number),
    };
    if returns {
        known.marks.retired = None;
        tx.update_marks(known.id, &known.marks)?;
    }
    if has_new_policies {
        tx.update_policies(known.id, &policies)?;
        known.policies = policies;
    }
    if change != Change::Unchanged {
        let mut planned = Planned { timeline: Timeline::new(&revisions), workflow: known };
        planned.requeue(tx, now)?;
    }
    Ok((change, revision))
}

/// Retires what `source` registered and no longer has.
fn retire_absent(
    tx: &mut dyn Transaction,
    now: Instant,
    source: &str,
    is_absent: &dyn Fn(&str) -> bool,
) -> Result<Vec<Synced<'static>>, EngineError> {
    let retired = each_workflow(tx, is_absent, |tx, workflow| {
        if workflow.source != source || workflow.marks.retired.is_some() {
            return Ok(None);
        }
        retire(tx, now, workflow).map(Some)
    })?;
    Ok(retired.into_iter().flatten().collect())
}

/// Ends a workflow: what is unsettled up to now is skipped, pending runs are cancelled, and a
/// revision without a schedule begins. A live claim may finish, and is abandoned once it expires.
fn retire(
    tx: &mut dyn Transaction,
    now: Instant,
    workflow: Workflow,
) -> Result<Synced<'static>, EngineError> {
    let reference = Reference::new(&workflow.reference)
        .map_err(|_| EngineError::UnknownWorkflow { reference: workflow.reference.clone() })?;
    let mut planned = Planned::load_one(tx, workflow)?;
    let newest = tx.revisions(&[(planned.workflow.id, Some(Instant::MAX))])?.concat().pop();
    let (number, after) = newest.map_or((0, None), |row| (row.number, row.after));
    let ends = [Some(now), planned.workflow.progress.cursor, after]
        .into_iter()
        .flatten()
        .max()
        .unwrap_or(now);
    let (policies, position) = (planned.workflow.policies, planned.position());
    let skip =
        plan::unsettled_until(&planned.timeline, &policies, position, ends, SkipReason::Retired);
    let skipped = planned.settle(tx, skip, now)?;
    let last = Revision::new(&reference, number + 1, Some(ends), None);
    tx.insert_revisions(&[revision_row(planned.workflow.id, &last, now)])?;
    let states = vec![RunState::Pending];
    let filter = RunFilter { workflow: Some(planned.workflow.id), states, ..RunFilter::default() };
    let cancelled: Vec<RunRecord> =
        tx.runs(&filter)?.into_iter().filter_map(|run| run.cancel().ok()).collect();
    tx.update_runs(&cancelled)?;
    mark(tx, planned.workflow, |marks| Marks { retired: Some(now), ..marks }, now)?;
    Ok(Synced {
        reference: Cow::Owned(reference.to_string()),
        change: Change::Retired { skipped },
        revision: number + 1,
    })
}
