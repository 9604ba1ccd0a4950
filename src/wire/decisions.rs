//! The rows of what people decided, and of what a check of a store finds.

use crate::store::Finding;
use crate::store::record::{PauseRecord, SkipRecord};
use crate::time::Instant;

use super::row::row;

/// What a pause or a resumption did with one workflow.
#[derive(Debug, Clone, Copy)]
pub struct PauseRow<'a> {
    /// The workflow.
    pub reference: &'a str,
    /// The pause; `None` where nothing changed.
    pub pause: Option<&'a PauseRecord>,
    /// What was skipped at its end.
    pub skipped: &'a [SkipRecord],
    /// How many runs were cancelled or abandoned at its end.
    pub ended: u64,
}

row!(PauseRow<'_>: row => {
    shown "ref" = row.reference,
    shown "paused" = row.pause.map(|pause| pause.from),
    shown "resumed" = row.pause.and_then(|pause| pause.to),
    data "by" = row.pause.and_then(|pause| pause.by.as_deref()),
    data "reason" = row.pause.and_then(|pause| pause.reason.as_deref()),
    shown "policy" = row.pause.and_then(|pause| pause.resumed).map(|policy| policy.as_str()),
    shown "skipped_first" = row.skipped.first().map(|skip| skip.first),
    shown "skipped_last" = row.skipped.last().map(|skip| skip.last),
    shown "skipped_count" = skipped_count(row.skipped),
    shown "ended_runs" = row.ended,
});

/// One thing that a check found wrong.
#[derive(Debug, Clone, Copy)]
pub struct FindingRow<'a>(pub &'a Finding);

row!(FindingRow<'_>: row => {
    shown "place" = row.0.place,
    shown "problem" = row.0.problem.as_str(),
});

/// How many occurrences are skipped, where any are.
fn skipped_count(skipped: &[SkipRecord]) -> Option<u64> {
    (!skipped.is_empty()).then(|| skipped.iter().map(|skip| skip.count).sum())
}

/// A cursor that was set by hand.
#[derive(Debug, Clone, Copy)]
pub struct CursorRow<'a> {
    /// The workflow.
    pub reference: &'a str,
    /// Where its cursor stood.
    pub before: Option<Instant>,
    /// Where it stands.
    pub cursor: Option<Instant>,
    /// What was skipped by that.
    pub skipped: &'a [SkipRecord],
    /// How many occurrences are unsettled again.
    pub restored: u64,
}

row!(CursorRow<'_>: row => {
    shown "ref" = row.reference,
    shown "before" = row.before,
    shown "cursor" = row.cursor,
    shown "skipped_first" = row.skipped.first().map(|skip| skip.first),
    shown "skipped_last" = row.skipped.last().map(|skip| skip.last),
    shown "skipped_count" = skipped_count(row.skipped),
    shown "restored" = row.restored,
});
