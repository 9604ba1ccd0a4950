//! How much of everything a simulation has seen: one in which nothing happened proves nothing.

use std::collections::BTreeMap;
use std::fmt;

use windowpane::store::record::RunState;

use crate::account::{Kept, Snapshot};
use crate::watched::{CALLS, COMMITTED};

/// Counts, by what was counted.
#[derive(Default)]
pub(super) struct Tally(BTreeMap<&'static str, u64>);

/// What every long enough simulation sees; besides, a crash at each step of [`CALLS`] that the
/// engine takes.
const TEETH: &[&str] = &[
    "hand-outs",
    "hand-outs foretold",
    "late finishes",
    "revived",
    "set back",
    "edits",
    "returned",
    "retired",
    "paused",
    "waited for",
    "drained",
    "settled at the end",
    "requested",
    "requests repeated",
    // Refusals.
    "lost_lease",
    "bad_request",
    "conflicting_finish",
    "already_registered",
    "wrong_state",
    // States and reasons.
    "pending",
    "succeeded",
    "failed",
    "abandoned",
    "cancelled",
    "first_run",
    "superseded",
    "beyond_limit",
    "too_old",
    "overlap",
    "paused range",
    "retired range",
    "commit",
    COMMITTED,
];

/// Steps at which the engine does not crash, since no command of the simulation takes them.
const NOT_TAKEN: &[&str] = &[
    "counts",
    "restore_workflows",
    "past_attempts",
    "past_attempts_of",
    "skips",
    "requests",
    "delete_runs",
    "delete_skips",
];

impl Tally {
    pub(super) fn add(&mut self, what: &'static str) {
        self.add_some(what, 1);
    }

    pub(super) fn add_if(&mut self, what: &'static str, happened: bool) {
        self.add_some(what, u64::from(happened));
    }

    pub(super) fn add_some(&mut self, what: &'static str, count: u64) {
        *self.0.entry(what).or_default() += count;
    }

    /// Adds what another seed has seen.
    pub(super) fn add_all(&mut self, other: Tally) {
        for (what, count) in other.0 {
            self.add_some(what, count);
        }
    }

    /// Notes what a step changed.
    pub(super) fn note(&mut self, before: &Snapshot, after: &Snapshot) {
        for kept in after.workflows.values() {
            match before.workflows.get(&kept.workflow.reference) {
                Some(known) => self.note_workflow(known, kept),
                None => self.add("registered"),
            }
        }
    }

    fn note_workflow(&mut self, before: &Kept, after: &Kept) {
        let (old, new) = (before.workflow.marks, after.workflow.marks);
        self.add_if("paused", old.paused < new.paused);
        self.add_if("retired", old.retired.is_none() && new.retired.is_some());
        self.add_if("returned", old.retired.is_some() && new.retired.is_none());
        self.add_if("edits", before.rows.len() < after.rows.len());
        for skip in after.skips.iter().filter(|skip| !before.skips.contains(skip)) {
            self.add(match skip.reason.as_str() {
                "paused" => "paused range",
                "retired" => "retired range",
                reason => reason,
            });
        }
        for (run, _) in after.runs.values() {
            let was = before.runs.get(&run.key).map(|(run, _)| run);
            if was != Some(run) && run.state != RunState::Claimed {
                self.add(run.state.as_str());
            }
            let grew = was.map_or(0, |was| was.attempts) < run.attempts;
            self.add_if("hand-outs", run.state == RunState::Claimed && grew);
        }
    }

    pub(super) fn has_teeth(&self) {
        let steps = CALLS.iter().filter(|step| !NOT_TAKEN.contains(step));
        let missing: Vec<_> =
            TEETH.iter().chain(steps).filter(|what| !self.0.contains_key(*what)).collect();
        assert!(missing.is_empty(), "nothing was seen of {missing:?}: {self}");
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(what, count)| writeln!(f, "{count:>9} {what}"))
    }
}
