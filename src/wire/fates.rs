//! The rows of what became of occurrences, and of the data that their runs evaluate.

use crate::plan::{Cover, Run};
use crate::store::fate::{Explained, Fate};
use crate::store::record::{Attempt, PauseRecord, RunRecord, RunState, Trigger};
use crate::time::{Instant, Window};

use super::records::{attempts_text, available_in, local_text};
use super::row::{IdParts, Json, Millis, Prose, row};

/// What became of one occurrence, of a stretch of them, or of a requested run.
#[derive(Debug, Clone)]
pub struct ExplainRow<'a> {
    reference: &'a str,
    fate: &'a Fate,
    pause: Option<&'a PauseRecord>,
    /// First, last and how many.
    extent: (Instant, Instant, u64),
    local: Option<String>,
    attempts: String,
}

impl<'a> ExplainRow<'a> {
    /// The row of a fate in the workflow `reference`.
    pub fn of(reference: &'a str, explained: &'a Explained) -> ExplainRow<'a> {
        let fate = &explained.fate;
        let mut row = ExplainRow {
            reference,
            fate,
            pause: explained.pause.as_ref(),
            extent: extent(fate),
            local: None,
            attempts: "[]".to_owned(),
        };
        row.local = row.plan().and_then(|run| local_text(run.authored));
        if let Fate::Recorded { run, past } = fate {
            row.attempts = attempts_text(past, run);
        }
        row
    }

    fn record(&self) -> Option<&'a RunRecord> {
        match self.fate {
            Fate::Recorded { run, .. } => Some(run),
            _ => None,
        }
    }

    fn attempt(&self) -> Option<&'a Attempt> {
        self.record().and_then(|run| run.attempt.as_ref())
    }

    /// The run of a single occurrence, on record or computed.
    fn plan(&self) -> Option<&'a Run> {
        match self.fate {
            Fate::Recorded { run, .. } => Some(&run.plan),
            Fate::Owed(run)
            | Fate::NotYetDue(run)
            | Fate::Pruned(run)
            | Fate::BeforeRegistration(run) => Some(run),
            _ => None,
        }
    }

    fn request_id(&self) -> &'a str {
        match self.fate {
            Fate::Recorded { run, .. } => &run.key.request_id,
            Fate::PrunedRequest { request_id, .. } => request_id,
            _ => "",
        }
    }

    fn trigger(&self) -> Trigger {
        if self.request_id().is_empty() { Trigger::Schedule } else { Trigger::Request }
    }

    fn occurrence(&self) -> Option<Instant> {
        let (first, _, count) = self.extent;
        (count == 1).then_some(first)
    }

    fn id(&self) -> Option<IdParts<'a>> {
        let (reference, request_id) = (self.reference, self.request_id());
        self.occurrence().map(|occurrence| IdParts { reference, occurrence, request_id })
    }

    fn revision(&self) -> Option<u32> {
        match self.fate {
            Fate::Skipped(skip) => Some(skip.revision),
            Fate::ToBeSkipped(skip) => Some(skip.revision),
            Fate::NoSchedule { revision, .. } => Some(*revision),
            _ => self.plan().map(|run| run.revision),
        }
    }

    fn skipped(&self) -> Option<Instant> {
        match self.fate {
            Fate::Skipped(skip) => Some(skip.skipped),
            _ => None,
        }
    }

    /// The tz database version that what is on record was settled under.
    fn tzdb(&self) -> Option<&'a str> {
        match self.fate {
            Fate::Skipped(skip) => Some(&skip.tzdb),
            _ => self.record().map(|run| run.tzdb.as_str()),
        }
    }
}

fn extent(fate: &Fate) -> (Instant, Instant, u64) {
    let single = |occurrence| (occurrence, occurrence, 1);
    match fate {
        Fate::Recorded { run, .. } => single(run.key.occurrence),
        Fate::Skipped(skip) => (skip.first, skip.last, skip.count),
        Fate::ToBeSkipped(skip) => (skip.first, skip.last, skip.count),
        Fate::Owed(run)
        | Fate::NotYetDue(run)
        | Fate::Pruned(run)
        | Fate::BeforeRegistration(run) => single(run.occurrence),
        Fate::PrunedRequest { occurrence, .. } => single(*occurrence),
        Fate::NoSchedule { from, to, .. } => (*from, *to, 0),
    }
}

/// The word for a fate.
fn word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Recorded { run, .. } => run.state.as_str(),
        Fate::Skipped(_) | Fate::ToBeSkipped(_) => "skipped",
        Fate::Owed(_) => "owed",
        Fate::NotYetDue(_) => "not_yet_due",
        Fate::Pruned(_) | Fate::PrunedRequest { .. } => "pruned",
        Fate::BeforeRegistration(_) | Fate::NoSchedule { .. } => "not_owed",
    }
}

/// Why there is no run.
fn reason(fate: &Fate) -> Option<&'static str> {
    match fate {
        Fate::Skipped(skip) => Some(skip.reason.as_str()),
        Fate::ToBeSkipped(skip) => Some(skip.reason.as_str()),
        Fate::BeforeRegistration(_) => Some("before_registration"),
        Fate::NoSchedule { .. } => Some("no_schedule"),
        _ => None,
    }
}

row!(ExplainRow<'_>: row => {
    data "id" = row.id(),
    shown "ref" = row.reference,
    data "occurrence" = row.occurrence(),
    shown "first" = row.extent.0,
    shown "last" = row.extent.1,
    shown "count" = row.extent.2,
    shown "fate" = word(row.fate),
    shown "reason" = reason(row.fate),
    data "due" = row.plan().map(|run| run.due),
    data "window_start" = row.plan().map(|run| run.window.start),
    data "window_end" = row.plan().map(|run| run.window.end),
    data "interval_ms" = row.plan().map(|run| Millis(run.interval_ms)),
    data "phase_ms" = row.plan().map(|run| Millis(run.phase_ms)),
    data "trigger" = row.trigger().as_str(),
    shown "request_id" = row.request_id(),
    data "revision" = row.revision(),
    data "skipped" = row.skipped(),
    shown "attempt" = row.record().map(|run| run.attempts),
    data "token" = row.attempt().map(|attempt| attempt.token),
    shown "worker" = row.attempt().map(|attempt| attempt.worker.as_str()),
    data "claimed" = row.attempt().map(|attempt| attempt.claimed),
    data "ended" = row.attempt().and_then(|attempt| attempt.ended),
    data "lease_expires" = row.record().and_then(|run| available_in(RunState::Claimed, run)),
    data "available" = row.record().and_then(|run| available_in(RunState::Pending, run)),
    shown "error" = row.attempt().and_then(|attempt| attempt.error.as_deref()).map(Prose),
    data "local" = row.local.as_deref(),
    data "resolution" = row.plan().map(|run| run.authored.resolution.as_str()),
    data "tzdb" = row.tzdb(),
    data "attempts" = Json(&row.attempts),
    shown "paused" = row.pause.map(|pause| pause.from),
    data "resumed" = row.pause.and_then(|pause| pause.to),
    data "policy" = row.pause.and_then(|pause| pause.resumed).map(|policy| policy.as_str()),
    data "paused_by" = row.pause.and_then(|pause| pause.by.as_deref()),
    data "pause_reason" = row.pause.and_then(|pause| pause.reason.as_deref()),
});

/// How the data of one span is covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoverageRow<'a> {
    /// The workflow.
    pub reference: &'a str,
    /// The span.
    pub window: Window,
    /// How.
    pub cover: Cover,
}

row!(CoverageRow<'_>: row => {
    shown "ref" = row.reference,
    shown "start" = row.window.start,
    shown "end" = row.window.end,
    shown "length_ms" = Millis(row.window.end.ms_since(row.window.start)),
    shown "cover" = row.cover.as_str(),
});
