//! The state of each workflow.

use std::collections::HashMap;

use crate::clock::Clock;
use crate::plan::Timeline;
use crate::store::record::{OpenState, RevisionRow, Workflow, WorkflowId};
use crate::store::{Store, Transaction};
use crate::time::Instant;

use super::incidents::incidents;
use super::workflow::{Planned, read_revisions};
use super::{EngineError, store_info};

/// Where one workflow stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The workflow, with its cursor.
    pub workflow: Workflow,
    /// The number of its present revision.
    pub revision: u32,
    /// Its present schedule as canonical JSON; `None` while it is `false`.
    pub schedule: Option<String>,
    /// When its first unsettled occurrence that is not due yet becomes due.
    pub next_due: Option<Instant>,
    /// How long its oldest owed run has been due, in milliseconds; 0 when nothing is owed.
    pub lag_ms: i64,
    /// How many of its runs are claimed under a live lease.
    pub live_claims: u64,
    /// What needs a look: `cursor_ahead`, `tz_passed`.
    pub incidents: Vec<&'static str>,
}

/// How many workflows are read from the store at once.
const PAGE: usize = 1_000;

/// The state of each workflow, ordered by ref.
///
/// # Errors
/// [`EngineError::Store`].
pub fn list(store: &mut dyn Store, clock: &dyn Clock) -> Result<Vec<Standing>, EngineError> {
    let mut tx = store.begin_read()?;
    store_info::for_read(&mut *tx)?;
    let now = clock.now();
    let live = live_claims(&mut *tx, now)?;
    let mut standings: Vec<Standing> = Vec::new();
    loop {
        let last = standings.last().map(|standing| standing.workflow.reference.clone());
        let page = tx.workflows(last.as_deref(), PAGE)?;
        let is_last = page.len() < PAGE;
        let wanted: Vec<_> = page.iter().map(|workflow| (workflow.id, None)).collect();
        let revisions = tx.revisions(&wanted)?;
        for (workflow, rows) in page.into_iter().zip(revisions) {
            let live_claims = live.get(&workflow.id).copied().unwrap_or(0);
            standings.push(standing(workflow, &rows, live_claims, now)?);
        }
        if is_last {
            return Ok(standings);
        }
    }
}

fn standing(
    workflow: Workflow,
    rows: &[RevisionRow],
    live_claims: u64,
    now: Instant,
) -> Result<Standing, EngineError> {
    let timeline = Timeline::new(&read_revisions(&workflow.reference, rows)?);
    let planned = Planned { workflow, timeline };
    let owed = planned.plan(now).owed;
    let next_due = planned.next_due(now);
    let workflow = planned.workflow;
    let present = rows.last();
    Ok(Standing {
        revision: present.map_or(0, |row| row.number),
        schedule: present.and_then(|row| row.schedule.clone()),
        next_due,
        lag_ms: owed.map_or(0, |owed| now.ms_since(owed.due)),
        live_claims,
        incidents: incidents(&workflow, present, now),
        workflow,
    })
}

/// How many runs of each workflow are claimed under a lease that lasts past `now`.
fn live_claims(
    tx: &mut dyn Transaction,
    now: Instant,
) -> Result<HashMap<WorkflowId, u64>, EngineError> {
    let mut live = HashMap::new();
    let mut last = None;
    loop {
        let page = tx.open_runs(OpenState::Claimed, Instant::MAX, last.as_ref(), PAGE)?;
        for run in page.iter().filter(|run| run.available > Some(now)) {
            *live.entry(run.key.workflow).or_insert(0) += 1;
        }
        if page.len() < PAGE {
            return Ok(live);
        }
        last = page.into_iter().last();
    }
}
