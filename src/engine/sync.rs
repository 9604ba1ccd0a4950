//! Registers workflows, all or nothing.

use std::collections::HashSet;

use crate::clock::Clock;
use crate::plan::{self, Cut, Position, Revision, Timeline};
use crate::schedule::{Definition, Overlap, Reference, Schedule};
use crate::store::record::{DueKey, NewWorkflow, RevisionRow, Workflow, WorkflowId};
use crate::store::{Store, Transaction};
use crate::time::{Instant, tzdb_version};

use super::EngineError;
use super::store_info;
use super::workflow::{Planned, read_revisions};

/// How to register.
#[derive(Debug, Clone)]
pub struct SyncOptions<'a> {
    /// The name of the set of documents.
    pub source: &'a str,
    /// What to do with the answer.
    pub mode: SyncMode,
}

/// What to do with the answer of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMode {
    /// Write it.
    Write,
    /// Only tell what would be written.
    DryRun,
}

/// What a sync did.
#[derive(Debug, Clone)]
pub struct SyncReport {
    /// The instant at which it was done.
    pub now: Instant,
    /// One entry for each workflow, in the order given.
    pub workflows: Vec<Synced>,
}

/// What a sync did with one workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced {
    /// The workflow.
    pub reference: String,
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
        cut: Cut,
    },
    /// Only policies changed, which start no revision.
    Policies,
    /// Nothing.
    Unchanged,
}

/// Registers workflows, all or nothing; `None` is a schedule that is `false`.
///
/// A definition that means something else than the present one is an edit: it begins a new
/// revision at E, the latest of now, the cursor and the previous E. Occurrences at or before E keep
/// their old definition; so an edit fires nothing from before it and loses nothing that was owed.
///
/// # Errors
/// [`EngineError::RepeatedReference`], [`EngineError::OtherSource`],
/// [`EngineError::UnsupportedOverlap`], [`EngineError::OtherClock`] and
/// [`EngineError::Store`]; nothing was registered.
pub fn sync(
    store: &mut dyn Store,
    clock: &dyn Clock,
    workflows: &[(Reference, Option<Schedule>)],
    options: &SyncOptions<'_>,
) -> Result<SyncReport, EngineError> {
    refuse_repeated(workflows)?;
    refuse_overlap(workflows)?;
    let mut tx = store.begin_write()?;
    let now = clock.now();
    let info = store_info::for_write(&mut *tx, clock)?;
    let mut report = SyncReport { now, workflows: Vec::with_capacity(workflows.len()) };
    for (reference, schedule) in workflows {
        let synced = match tx.workflow(reference.as_str())? {
            None => register(&mut *tx, now, options.source, reference, schedule.as_ref())?,
            Some(known) if known.source != options.source => {
                return Err(EngineError::OtherSource {
                    reference: known.reference,
                    owner: known.source,
                    source_name: options.source.to_owned(),
                });
            }
            Some(known) => renew(&mut *tx, now, known, reference, schedule.as_ref())?,
        };
        report.workflows.push(synced);
    }
    store_info::note_planned(&mut *tx, info, now)?;
    if options.mode == SyncMode::Write {
        tx.commit()?;
    }
    Ok(report)
}

fn refuse_repeated(workflows: &[(Reference, Option<Schedule>)]) -> Result<(), EngineError> {
    let mut seen = HashSet::with_capacity(workflows.len());
    match workflows.iter().find(|(reference, _)| !seen.insert(reference)) {
        Some((repeated, _)) => {
            Err(EngineError::RepeatedReference { reference: repeated.to_string() })
        }
        None => Ok(()),
    }
}

fn refuse_overlap(workflows: &[(Reference, Option<Schedule>)]) -> Result<(), EngineError> {
    for (reference, schedule) in workflows {
        let overlap = schedule.as_ref().map(|schedule| schedule.policies.overlap);
        if let Some(overlap @ (Overlap::Wait | Overlap::Skip)) = overlap {
            return Err(EngineError::UnsupportedOverlap {
                reference: reference.to_string(),
                overlap: overlap.as_str(),
            });
        }
    }
    Ok(())
}

/// Registers a workflow that is not known yet.
fn register(
    tx: &mut dyn Transaction,
    now: Instant,
    source: &str,
    reference: &Reference,
    schedule: Option<&Schedule>,
) -> Result<Synced, EngineError> {
    let policies = schedule.map(|schedule| schedule.policies).unwrap_or_default();
    let first =
        Revision::new(reference, 1, None, schedule.map(|schedule| schedule.definition.clone()));
    let timeline = Timeline::new(std::slice::from_ref(&first));
    let position = Position { cursor: None, registered: now };
    let plan = plan::owed(&timeline, &policies, position, now);
    let turn = plan::turn(&timeline, position, None, &plan, now);
    let ids = tx.insert_workflows(&[NewWorkflow {
        reference: reference.to_string(),
        source: source.to_owned(),
        registered: now,
        policies,
        due: turn.map(|turn| DueKey { turn: turn.turn, due: turn.due }),
    }])?;
    let rows: Vec<_> = ids.into_iter().map(|id| revision_row(id, &first, now)).collect();
    tx.insert_revisions(&rows)?;
    Ok(Synced { reference: reference.to_string(), change: Change::New, revision: 1 })
}

/// Brings a known workflow up to date.
fn renew(
    tx: &mut dyn Transaction,
    now: Instant,
    mut known: Workflow,
    reference: &Reference,
    schedule: Option<&Schedule>,
) -> Result<Synced, EngineError> {
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
    let is_edit = present.is_none_or(|present| !present.means_the_same_as(&next));
    // The policies of a schedule now `false` are the last ones that it had.
    let policies = schedule.map_or(known.policies, |schedule| schedule.policies);
    let has_new_policies = policies != known.policies;
    let before = Timeline::new(&revisions);
    let (change, revision) = match (is_edit, has_new_policies) {
        (true, _) => {
            tx.insert_revisions(&[revision_row(known.id, &next, now)])?;
            revisions.push(next);
            let cut = plan::cut(&before, &Timeline::new(&revisions), edited_at.unwrap_or(now));
            (Change::Edited { cut }, number + 1)
        }
        (false, true) => (Change::Policies, number),
        (false, false) => (Change::Unchanged, number),
    };
    if has_new_policies {
        tx.update_policies(known.id, &policies)?;
        known.policies = policies;
    }
    if change != Change::Unchanged {
        let planned = Planned { timeline: Timeline::new(&revisions), workflow: known };
        planned.requeue(tx, now)?;
    }
    Ok(Synced { reference: reference.to_string(), change, revision })
}

fn revision_row(workflow: WorkflowId, revision: &Revision, now: Instant) -> RevisionRow {
    RevisionRow {
        workflow,
        number: revision.number(),
        after: revision.after(),
        schedule: revision.definition().map(Definition::to_canonical),
        made: now,
        tzdb: tzdb_version().to_owned(),
    }
}
