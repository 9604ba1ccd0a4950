//! The rows of planned, owed and claimed runs, and of what is skipped.

use crate::plan::{Run, Skip};
use crate::store::record::{RunRecord, SkipRecord, Trigger};
use crate::time::{Instant, Window};

use super::row::{IdParts, Millis, row};

/// One occurrence with its due instant and window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanRow<'a> {
    /// The workflow; `None` where a document names none.
    pub reference: Option<&'a str>,
    /// Empty for scheduled runs.
    pub request_id: &'a str,
    /// The occurrence.
    pub occurrence: Instant,
    /// When the run may start; `None` where the phase is not known.
    pub due: Option<Instant>,
    /// The data that it evaluates.
    pub window: Window,
    /// The span from the previous occurrence, in milliseconds.
    pub interval_ms: i64,
    /// The offset of its start in milliseconds; `None` where it depends on a ref that is not known.
    pub phase_ms: Option<i64>,
}

impl<'a> PlanRow<'a> {
    /// The row of a run of the workflow `reference`.
    pub fn of(reference: &'a str, request_id: &'a str, run: &Run) -> PlanRow<'a> {
        PlanRow {
            reference: Some(reference),
            request_id,
            occurrence: run.occurrence,
            due: Some(run.due),
            window: run.window,
            interval_ms: run.interval_ms,
            phase_ms: Some(run.phase_ms),
        }
    }

    fn id(&self) -> Option<IdParts<'a>> {
        let (occurrence, request_id) = (self.occurrence, self.request_id);
        self.reference.map(|reference| IdParts { reference, occurrence, request_id })
    }
}

row!(PlanRow<'_>: row => {
    data "id" = row.id(),
    shown "ref" = row.reference,
    shown "occurrence" = row.occurrence,
    shown "due" = row.due,
    shown "window_start" = row.window.start,
    shown "window_end" = row.window.end,
    data "interval_ms" = Millis(row.interval_ms),
    data "phase_ms" = row.phase_ms.map(Millis),
});

/// One run that would be handed out now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueRow<'a> {
    /// The run.
    pub plan: PlanRow<'a>,
    /// What caused it.
    pub trigger: Trigger,
    /// The number of its next attempt, or of the present one once it is claimed.
    pub attempt: u32,
    /// The revision that defines it.
    pub revision: u32,
}

impl<'a> From<&'a RunRecord> for DueRow<'a> {
    fn from(run: &'a RunRecord) -> DueRow<'a> {
        DueRow {
            plan: PlanRow::of(&run.reference, &run.key.request_id, &run.plan),
            trigger: run.trigger(),
            attempt: run.attempts,
            revision: run.plan.revision,
        }
    }
}

row!(DueRow<'_>: row => {
    ..PlanRow<'_> = &row.plan,
        tables show ["ref", "occurrence", "due", "window_start", "window_end"],
    shown "trigger" = row.trigger.as_str(),
    data "request_id" = row.plan.request_id,
    shown "attempt" = row.attempt,
    data "revision" = row.revision,
});

/// One run as it is handed to a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimRow<'a>(pub &'a RunRecord);

row!(ClaimRow<'_>: row => {
    ..DueRow<'_> = &DueRow::from(row.0),
        tables show ["id", "window_start", "window_end", "attempt"],
    shown "token" = row.0.attempt.as_ref().map(|attempt| attempt.token),
    shown "lease_expires" = row.0.available,
});

/// Occurrences that a claim settles, or would settle, without a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkippedRow<'a> {
    /// The workflow.
    pub reference: &'a str,
    /// The occurrences and the reason.
    pub skip: Skip,
}

impl<'a> From<&'a SkipRecord> for SkippedRow<'a> {
    fn from(record: &'a SkipRecord) -> SkippedRow<'a> {
        let SkipRecord { first, last, count, reason, revision, .. } = *record;
        SkippedRow {
            reference: &record.reference,
            skip: Skip { first, last, count, reason, revision },
        }
    }
}

row!(SkippedRow<'_>: row => {
    shown "ref" = row.reference,
    shown "first" = row.skip.first,
    shown "last" = row.skip.last,
    shown "count" = row.skip.count,
    shown "reason" = row.skip.reason.as_str(),
    data "revision" = row.skip.revision,
});
