//! Holds the records of a store against its schedules: every settled occurrence has exactly one
//! fate, and what people and workers did is all there.
//!
//! What the rows of one table say against those of another is the store's own check; this one needs
//! to know what a schedule means.

mod track;

use std::collections::HashMap;

use crate::clock::Clock;
use crate::plan::Timeline;
use crate::store::record::{RunFilter, SkipFilter, Workflow, WorkflowId};
use crate::store::{Finding, Store, Transaction};
use crate::time::Instant;

use super::pages::Pages;
use super::workflow::{Planned, read_revisions};
use super::{EngineError, store_info};
use track::Track;

/// How many workflows are followed in one walk along the records.
const FOLLOWED_AT_MOST: usize = 20_000;

/// More findings than this are not gathered: the store is beyond them.
const FINDINGS_AT_MOST: usize = 1_000;

/// What is wrong with the records of a store, as far as its schedules tell; empty when nothing is.
/// An incident, such as a cursor ahead of now, is a finding too.
///
/// Spans that were settled under another version of the tz database are not computed anew. Memory
/// does not grow with the records, and the cost grows with their number alone.
///
/// # Errors
/// [`EngineError::Store`], [`EngineError::UnreadableRevision`]: check the store itself first.
pub fn verify(store: &mut dyn Store, clock: &dyn Clock) -> Result<Vec<Finding>, EngineError> {
    let mut tx = store.begin_read()?;
    store_info::for_read(&mut *tx)?;
    let now = clock.now();
    let mut findings = Vec::new();
    let mut last: Option<String> = None;
    loop {
        let page = tx.workflows(last.as_deref(), FOLLOWED_AT_MOST)?;
        let is_last = page.len() < FOLLOWED_AT_MOST;
        last = page.last().map(|workflow| workflow.reference.clone());
        let mut tracks = tracks(&mut *tx, page, now)?;
        follow(&mut *tx, &mut tracks)?;
        let mut ends: Vec<Track> = tracks.into_values().collect();
        ends.sort_unstable_by(|one, other| one.reference().cmp(other.reference()));
        for track in ends {
            findings.extend(track.end(&mut *tx)?);
            if findings.len() >= FINDINGS_AT_MOST {
                return Ok(findings);
            }
        }
        if is_last {
            return Ok(findings);
        }
    }
}

fn tracks(
    tx: &mut dyn Transaction,
    workflows: Vec<Workflow>,
    now: Instant,
) -> Result<HashMap<WorkflowId, Track>, EngineError> {
    let wanted: Vec<_> = workflows.iter().map(|workflow| (workflow.id, None)).collect();
    let revisions = tx.revisions(&wanted)?;
    workflows
        .into_iter()
        .zip(revisions)
        .map(|(workflow, rows)| {
            let timeline = Timeline::new(&read_revisions(&workflow.reference, &rows)?);
            let id = workflow.id;
            Ok((id, Track::new(Planned { workflow, timeline }, rows.last(), now)))
        })
        .collect()
}

/// Walks along all runs and skips in the order of their first occurrences.
fn follow(
    tx: &mut dyn Transaction,
    tracks: &mut HashMap<WorkflowId, Track>,
) -> Result<(), EngineError> {
    let (all_runs, all_skips) = (RunFilter::default(), SkipFilter::default());
    let (mut runs, mut skips) = (Pages::new(), Pages::new());
    loop {
        runs.fill(
            |last, page| tx.runs(&all_runs.page_after(last, page)),
            |run| tracks.contains_key(&run.key.workflow),
        )?;
        skips.fill(
            |last, page| tx.skips(&all_skips.page_after(last, page)),
            |skip| tracks.contains_key(&skip.workflow),
        )?;
        let is_run = match (runs.front(), skips.front()) {
            (None, None) => return Ok(()),
            (Some(run), Some(skip)) => run.key.occurrence < skip.first,
            (run, _) => run.is_some(),
        };
        if is_run {
            let Some(run) = runs.pop() else { continue };
            if let Some(track) = tracks.get_mut(&run.key.workflow) {
                track.run(tx, &run)?;
            }
        } else {
            let Some(skip) = skips.pop() else { continue };
            if let Some(track) = tracks.get_mut(&skip.workflow) {
                track.skip(&skip);
            }
        }
    }
}
