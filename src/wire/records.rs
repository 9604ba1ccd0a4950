//! The rows of what the store keeps: runs with their attempts, and skips.

use crate::store::record::{Attempt, Outcome, RunRecord, RunState, SkipRecord};
use crate::time::{Authored, Instant};

use super::json::write_row;
use super::plan::DueRow;
use super::row::{IdParts, Json, Prose, row};

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
        RunRow { run, local: local_text(run.plan.authored), attempts: attempts_text(past, run) }
    }

    fn attempt(&self) -> Option<&'a Attempt> {
        self.run.attempt.as_ref()
    }
}

/// All attempts of a run as a JSON list, `past` being those before the present one.
pub(super) fn attempts_text(past: &[Attempt], run: &RunRecord) -> String {
    let mut attempts = b"[".to_vec();
    for attempt in past.iter().chain(&run.attempt) {
        if attempts.len() > 1 {
            attempts.push(b',');
        }
        write_row(&mut attempts, &AttemptRow(attempt));
    }
    attempts.push(b']');
    String::from_utf8_lossy(&attempts).into_owned()
}

/// The instant `available` of a run in `state`: of a claimed run the expiry of its lease, of a
/// pending one the earliest instant of its next hand-out.
pub(super) fn available_in(state: RunState, run: &RunRecord) -> Option<Instant> {
    run.available.filter(|_| run.state == state)
}

row!(RunRow<'_>: row => {
    ..DueRow<'_> = &DueRow::from(row.run),
        tables show ["ref", "occurrence", "window_start", "window_end", "attempt"],
    shown "state" = row.run.state.as_str(),
    data "token" = row.attempt().map(|attempt| attempt.token),
    data "worker" = row.attempt().map(|attempt| attempt.worker.as_str()),
    data "claimed" = row.attempt().map(|attempt| attempt.claimed),
    shown "ended" = row.attempt().and_then(|attempt| attempt.ended),
    data "lease_expires" = available_in(RunState::Claimed, row.run),
    data "available" = available_in(RunState::Pending, row.run),
    shown "error" = row.attempt().and_then(|attempt| attempt.error.as_deref()).map(Prose),
    data "output" = row.run.output.as_deref().map(Json),
    data "local" = row.local.as_deref(),
    data "resolution" = row.run.plan.authored.resolution.as_str(),
    data "tzdb" = row.run.tzdb.as_str(),
    data "attempts" = Json(&row.attempts),
});

/// The local time that a schedule names, such as `2026-03-29T02:30:00`; `None` in the hours past
/// either end of the range of instants.
pub(super) fn local_text(authored: Authored) -> Option<String> {
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

/// How a run stands after a heartbeat, a finish or a release.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRow<'a>(pub &'a RunRecord);

/// What a request asks for.
#[derive(Debug, Clone, Copy)]
pub struct RequestedRow<'a>(pub &'a RunRecord);

row!(RequestedRow<'_>: row => {
    ..DueRow<'_> = &DueRow::from(row.0),
        tables show ["id", "window_start", "window_end"],
    shown "state" = row.0.state.as_str(),
});

impl<'a> AnswerRow<'a> {
    fn id(&self) -> IdParts<'a> {
        let RunRecord { reference, key, .. } = self.0;
        IdParts { reference, occurrence: key.occurrence, request_id: &key.request_id }
    }
}

row!(AnswerRow<'_>: row => {
    shown "id" = row.id(),
    data "ref" = row.0.reference.as_str(),
    data "occurrence" = row.0.key.occurrence,
    data "request_id" = row.0.key.request_id.as_str(),
    shown "state" = row.0.state.as_str(),
    shown "attempt" = row.0.attempts,
    data "token" = row.0.attempt.as_ref().map(|attempt| attempt.token),
    shown "lease_expires" = available_in(RunState::Claimed, row.0),
    shown "available" = available_in(RunState::Pending, row.0),
});
