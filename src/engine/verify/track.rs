//! One workflow followed along its records.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::SkipReason;
use crate::schedule::Overlap;
use crate::store::record::{
    Outcome, RevisionRow, RunRecord, RunState, SkipRecord, Trigger, Workflow,
};
use crate::store::{Finding, Transaction};
use crate::time::{Instant, tzdb_version};

use super::super::EngineError;
use super::super::incidents::incidents;
use super::super::request::answered_runs;
use super::super::workflow::Planned;

/// What was seen of one workflow so far.
pub(super) struct Track {
    planned: Planned,
    now: Instant,
    /// Every occurrence up to here has its fate.
    told: Instant,
    /// Whether anything was told.
    has_begun: bool,
    /// Whether what was told last was counted under the present tz database.
    is_comparable: bool,
    /// The last occurrence that was seen under a live claim, with when it was claimed and until when.
    live: Option<(Instant, Instant, Instant)>,
    /// How many runs of each request there are.
    requested: BTreeMap<String, u64>,
    /// When pauses ended that dropped something.
    dropped: BTreeSet<Instant>,
    findings: Vec<Finding>,
}

impl Track {
    pub(super) fn new(planned: Planned, newest: Option<&RevisionRow>, now: Instant) -> Track {
        let Workflow { registered, marks, .. } = &planned.workflow;
        let told = marks.pruned_before.map_or(*registered, Instant::just_before);
        let incidents = incidents(&planned.workflow, newest, now);
        let mut track = Track {
            now,
            told,
            has_begun: false,
            is_comparable: true,
            live: None,
            requested: BTreeMap::new(),
            dropped: BTreeSet::new(),
            findings: Vec::new(),
            planned,
        };
        for incident in incidents {
            track.find("workflow", format!("needs a look: {incident}"));
        }
        track
    }

    pub(super) fn reference(&self) -> &str {
        &self.planned.workflow.reference
    }

    /// Takes the next run in the order of occurrences.
    pub(super) fn run(
        &mut self,
        tx: &mut dyn Transaction,
        run: &RunRecord,
    ) -> Result<(), EngineError> {
        let occurrence = run.key.occurrence;
        if run.trigger() == Trigger::Schedule {
            self.fate("run", occurrence, occurrence, &run.tzdb);
            self.check_plan(run);
        } else {
            *self.requested.entry(run.key.request_id.clone()).or_default() += 1;
        }
        self.check_claim(run);
        self.check_attempts(tx, run)
    }

    /// Takes the next skip record in the order of first occurrences.
    pub(super) fn skip(&mut self, skip: &SkipRecord) {
        if skip.reason == SkipReason::Paused {
            self.dropped.insert(skip.skipped);
        }
        // What a new tz database moved behind the cursor lies among what was told before.
        if skip.reason == SkipReason::TzPassed {
            return;
        }
        self.fate("skip", skip.first, skip.last, &skip.tzdb);
        if skip.tzdb != tzdb_version() || self.is_rewound(skip.last) {
            return;
        }
        let (begin, end) = (skip.first.just_before(), skip.last.just_after());
        let counted = self.planned.timeline.count_between(begin, end);
        if counted != skip.count {
            let (first, last, count) = (skip.first, skip.last, skip.count);
            let problem = format!("skips {count} from {first} to {last}, where {counted} are");
            self.find("skip", problem);
        }
    }

    /// Takes the fate of everything from `first` to `last`.
    fn fate(&mut self, table: &'static str, first: Instant, last: Instant, tzdb: &str) {
        let Workflow { marks, progress, registered, .. } = &self.planned.workflow;
        let (cursor, horizon) = (progress.cursor, marks.pruned_before);
        if horizon.is_some_and(|horizon| last < horizon) {
            return;
        }
        // A first run may take the newest occurrence from before the registration.
        let is_first_run = !self.has_begun && horizon.is_none() && first <= *registered;
        let reaches_past_horizon = horizon.is_some_and(|horizon| first < horizon);
        let is_comparable = tzdb == tzdb_version();
        if first <= self.told && !is_first_run && !reaches_past_horizon {
            self.find(table, format!("has a second fate for {first}"));
        } else if is_comparable && self.is_comparable {
            let until = cursor.map_or(first, |cursor| first.min(cursor.just_after()));
            self.check_gap(until);
        }
        if cursor < Some(last) && !self.is_rewound(last) {
            self.find(table, format!("has a fate for {last}, which lies past its cursor"));
        }
        self.has_begun = true;
        self.is_comparable = is_comparable;
        self.told = if is_first_run { last } else { self.told.max(last) };
    }

    /// Whether an occurrence may have kept its fate when the cursor was set back.
    fn is_rewound(&self, occurrence: Instant) -> bool {
        self.planned.workflow.marks.rewound_from.is_some_and(|from| occurrence <= from)
    }

    /// Finds what has no fate between what was told and an instant.
    fn check_gap(&mut self, until: Instant) {
        let told = self.told;
        let lost = self.planned.timeline.count_between(told, until.max(told));
        if lost > 0 {
            let problem = format!("has {lost} without a fate between {told} and {until}");
            self.find("workflow", problem);
        }
    }

    /// Holds a scheduled run against its revision.
    fn check_plan(&mut self, run: &RunRecord) {
        let occurrence = run.key.occurrence;
        if run.tzdb != tzdb_version() || self.is_rewound(occurrence) {
            return;
        }
        let planned = self.planned.timeline.run_at_or_before(occurrence);
        let is_planned = planned.is_some_and(|planned| {
            planned.is_ok_and(|planned| {
                (planned.occurrence, planned.window, planned.interval_ms)
                    == (occurrence, run.plan.window, run.plan.interval_ms)
                    && (planned.phase_ms, planned.revision, planned.authored)
                        == (run.plan.phase_ms, run.plan.revision, run.plan.authored)
            })
        });
        if !is_planned {
            self.find("run", format!("is not planned so by its schedule at {occurrence}"));
        }
    }

    /// An occurrence is under at most one live claim. Two are live at once too where the clock was
    /// set back between them; only leases that meet are wrong.
    fn check_claim(&mut self, run: &RunRecord) {
        let claimed = run.attempt.as_ref().map(|attempt| attempt.claimed);
        let (Some(claimed), Some(until)) = (claimed, run.available) else { return };
        if run.state != RunState::Claimed || until <= self.now {
            return;
        }
        let occurrence = run.key.occurrence;
        let meets = |&(other, from, to): &(Instant, Instant, Instant)| {
            other == occurrence && from < until && claimed < to
        };
        if self.live.as_ref().is_some_and(meets) {
            self.find("run", format!("is under two live claims at {occurrence}"));
        }
        self.live = Some((occurrence, claimed, until));
    }

    /// Finds attempts that are missing.
    fn check_attempts(
        &mut self,
        tx: &mut dyn Transaction,
        run: &RunRecord,
    ) -> Result<(), EngineError> {
        let Some(present) = run.attempt.as_ref().filter(|attempt| attempt.number > 1) else {
            return Ok(());
        };
        let past = tx.past_attempts(&run.key)?;
        let counted = past.iter().filter(|attempt| attempt.outcome != Some(Outcome::Released));
        let counted = counted.filter(|attempt| attempt.number < present.number).count();
        if counted + 1 < present.number as usize {
            let problem = format!(
                "has {counted} attempts before attempt {} at {}",
                present.number, run.key.occurrence
            );
            self.find("attempt", problem);
        }
        Ok(())
    }

    /// What is wrong with it, now that all its records were seen.
    pub(super) fn end(mut self, tx: &mut dyn Transaction) -> Result<Vec<Finding>, EngineError> {
        let cursor = self.planned.workflow.progress.cursor;
        if let Some(cursor) = cursor.filter(|cursor| *cursor > self.told && self.is_comparable) {
            self.check_gap(cursor.just_after());
        }
        self.check_place();
        self.check_pauses(tx)?;
        self.check_requests(tx)?;
        Ok(self.findings)
    }

    /// Its place in the queue must not be later than its oldest unsettled occurrence.
    fn check_place(&mut self) {
        let Workflow { progress, policies, .. } = self.planned.workflow;
        let wanted = self.planned.due_key(progress, self.now);
        match (progress.due, wanted) {
            (None, Some(wanted)) => {
                let problem = format!("is due at {} and has no place in the queue", wanted.due);
                self.find("workflow", problem);
            }
            // While a run of it goes on, one that runs alone waits.
            (Some(kept), Some(wanted))
                if kept.due > wanted.due
                    && progress.cursor.is_some()
                    && policies.overlap == Overlap::Allow =>
            {
                let problem =
                    format!("is due at {}, and waits in the queue until {}", wanted.due, kept.due);
                self.find("workflow", problem);
            }
            _ => {}
        }
    }

    fn check_pauses(&mut self, tx: &mut dyn Transaction) -> Result<(), EngineError> {
        let Workflow { id, marks, .. } = self.planned.workflow;
        let pauses = tx.pauses(id)?;
        let lasting = pauses.iter().find(|pause| pause.to.is_none()).map(|pause| pause.from);
        if lasting != marks.paused {
            let text = |from: Option<Instant>| {
                from.map_or("no pause".to_owned(), |from| format!("a pause since {from}"))
            };
            let problem = format!("has {} and a record of {}", text(marks.paused), text(lasting));
            self.find("pause", problem);
        }
        for dropped in std::mem::take(&mut self.dropped) {
            if !pauses.iter().any(|pause| pause.to == Some(dropped)) {
                self.find("pause", format!("has no record of the pause that ended at {dropped}"));
            }
        }
        Ok(())
    }

    fn check_requests(&mut self, tx: &mut dyn Transaction) -> Result<(), EngineError> {
        let Workflow { id, marks, .. } = self.planned.workflow;
        let requests = if marks.requested.is_some() { tx.requests(id)? } else { Vec::new() };
        for request in &requests {
            let found = self.requested.remove(&request.id).unwrap_or(0);
            let known = found + request.pruned.len() as u64;
            if let Some(made) = answered_runs(request).filter(|made| *made != known) {
                let problem = format!("`{}` made {made} runs, and {known} are known", request.id);
                self.find("request", problem);
            }
        }
        for id in std::mem::take(&mut self.requested).into_keys() {
            self.find("request", format!("has no record of the request `{id}`"));
        }
        Ok(())
    }

    fn find(&mut self, place: &'static str, problem: String) {
        let problem = format!("`{}` {problem}", self.reference());
        self.findings.push(Finding { place, problem });
    }
}
