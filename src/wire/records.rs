//! The rows of what the store keeps: runs with their attempts, and skips.

use crate::store::record::{Attempt, Outcome, RunRecord, RunState, SkipRecord};
use crate::time::{Authored, Instant};

use super::json::write_row;
use super::plan::DueRow;
use super::row::{Json, Prose, row};

/// One run record, whole.
#[derive(Debug, Clone)]
pub struct RunRow<'a> {
    run: &'a RunRecord,
    local: Option<String>,
    attempts: String,
}

impl<'a> RunRow<'a> {
    /// The row of a run, `past` being its finished attempts before the present one.
    pub fn of(run: &'a RunRecord, past: &[Attempt]) -> RunRow<'a> {
        let mut attempts = b"[".to_vec();
        for attempt in past.iter().chain(&run.attempt) {
            if attempts.len() > 1 {
                attempts.push(b',');
            }
            write_row(&mut attempts, &AttemptRow(attempt));
        }
        attempts.push(b']');
        RunRow {
            run,
            local: local_text(run.plan.authored),
            attempts: String::from_utf8_lossy(&attempts).into_owned(),
        }
    }

    fn attempt(&self) -> Option<&'a Attempt> {
        self.run.attempt.as_ref()
    }

    fn available_in(&self, state: RunState) -> Option<Instant> {
        self.run.available.filter(|_| self.run.state == state)
    }
}

row!(RunRow<'_>: row => {
    ..DueRow<'_> = DueRow::from(row.run),
    shown "state" = row.run.state.as_str(),
    data "token" = row.attempt().map(|attempt| attempt.token),
    data "worker" = row.attempt().map(|attempt| attempt.worker.as_str()),
    data "claimed" = row.attempt().map(|attempt| attempt.claimed),
    shown "ended" = row.attempt().and_then(|attempt| attempt.ended),
    shown "lease_expires" = row.available_in(RunState::Claimed),
    data "available" = row.available_in(RunState::Pending),
    shown "error" = row.attempt().and_then(|attempt| attempt.error.as_deref()).map(Prose),
    data "output" = row.run.output.as_deref().map(Json),
    data "local" = row.local.as_deref(),
    data "resolution" = row.run.plan.authored.resolution.as_str(),
    data "tzdb" = row.run.tzdb.as_str(),
    data "attempts" = Json(&row.attempts),
});

/// The local time that a schedule names, such as `2026-03-29T02:30:00`; `None` in the hours past
/// either end of the range of instants.
fn local_text(authored: Authored) -> Option<String> {
    let local = Instant::from_ms(authored.local_ms).ok()?.to_string();
    Some(local.trim_end_matches('Z').to_owned())
}

/// One attempt at a run.
#[derive(Debug, Clone, Copy)]
pub struct AttemptRow<'a>(pub &'a Attempt);

row!(AttemptRow<'_>: row => {
    shown "attempt" = row.0.number,
    shown "token" = row.0.token,
    shown "worker" = row.0.worker.as_str(),
    shown "claimed" = row.0.claimed,
    shown "ended" = row.0.ended,
    shown "outcome" = row.0.outcome.map(Outcome::as_str),
    shown "error" = row.0.error.as_deref().map(Prose),
});

/// One record of skipped occurrences.
#[derive(Debug, Clone, Copy)]
pub struct SkipRow<'a>(pub &'a SkipRecord);

row!(SkipRow<'_>: row => {
    shown "ref" = row.0.reference.as_str(),
    shown "first" = row.0.first,
    shown "last" = row.0.last,
    shown "count" = row.0.count,
    shown "reason" = row.0.reason.as_str(),
    shown "skipped" = row.0.skipped,
    data "revision" = row.0.revision,
    data "tzdb" = row.0.tzdb.as_str(),
});
