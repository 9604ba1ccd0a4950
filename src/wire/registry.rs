//! The rows of registered workflows: what a sync changed, and where each stands.

use crate::plan::Cut;
use crate::store::record::Workflow;
use crate::time::Instant;

use super::row::{Json, Millis, row};

/// What a sync did with one workflow.
#[derive(Debug, Clone, Copy)]
pub struct SyncRow<'a> {
    /// The workflow.
    pub reference: &'a str,
    /// `new`, `changed`, `unchanged` or `retired`.
    pub change: &'static str,
    /// The number of its present revision.
    pub revision: u32,
    /// Where a new revision cuts the timeline; `None` where none began.
    pub cut: Option<&'a Cut>,
}

row!(SyncRow<'_>: row => {
    shown "ref" = row.reference,
    shown "change" = row.change,
    shown "revision" = row.revision,
    shown "cut" = row.cut.map(|cut| cut.at),
    shown "gap_start" = row.cut.and_then(|cut| cut.gap).map(|gap| gap.start),
    shown "gap_end" = row.cut.and_then(|cut| cut.gap).map(|gap| gap.end),
    shown "overlap_start" = row.cut.and_then(|cut| cut.overlap).map(|overlap| overlap.start),
    shown "overlap_end" = row.cut.and_then(|cut| cut.overlap).map(|overlap| overlap.end),
});

/// Where one workflow stands.
#[derive(Debug, Clone, Copy)]
pub struct StandingRow<'a> {
    /// The workflow.
    pub workflow: &'a Workflow,
    /// The number of its present revision.
    pub revision: u32,
    /// Its present schedule as JSON, `false` included.
    pub schedule: &'a str,
    /// The due instant of its oldest unsettled occurrence.
    pub next_due: Option<Instant>,
    /// How long its oldest owed run has been due, in milliseconds.
    pub lag_ms: i64,
    /// How many of its runs are under a live lease.
    pub live_claims: u64,
    /// What needs a look.
    pub incidents: &'a [&'static str],
}

row!(StandingRow<'_>: row => {
    shown "ref" = row.workflow.reference.as_str(),
    shown "source" = row.workflow.source.as_str(),
    shown "revision" = row.revision,
    data "registered" = row.workflow.registered,
    shown "cursor" = row.workflow.progress.cursor,
    shown "next_due" = row.next_due,
    shown "lag_ms" = Millis(row.lag_ms),
    shown "live_claims" = row.live_claims,
    data "paused" = row.workflow.marks.paused,
    data "retired" = row.workflow.marks.retired,
    shown "incidents" = row.incidents,
    data "schedule" = Json(row.schedule),
});

/// Where a workflow that was imported begins.
#[derive(Debug, Clone, Copy)]
pub struct ImportRow<'a> {
    /// The workflow.
    pub reference: &'a str,
    /// When it was first seen.
    pub registered: Instant,
    /// The last occurrence that was settled before.
    pub cursor: Option<Instant>,
    /// The due instant of its oldest unsettled occurrence.
    pub next_due: Option<Instant>,
}

row!(ImportRow<'_>: row => {
    shown "ref" = row.reference,
    shown "registered" = row.registered,
    shown "cursor" = row.cursor,
    shown "next_due" = row.next_due,
});

/// What was removed of a workflow.
#[derive(Debug, Clone, Copy)]
pub struct PruneRow<'a> {
    /// The workflow.
    pub reference: &'a str,
    /// Of occurrences before it there may be no record any more.
    pub horizon: Instant,
    /// How many runs.
    pub runs: u64,
    /// How many skip records.
    pub skips: u64,
}

row!(PruneRow<'_>: row => {
    shown "ref" = row.reference,
    shown "horizon" = row.horizon,
    shown "runs" = row.runs,
    shown "skips" = row.skips,
});
