//! What may have become of the records by one act of the engine.

use windowpane::plan::SkipReason;
use windowpane::schedule::{CatchUp, Overlap, Policies};
use windowpane::store::record::{
    Attempt, RequestRecord, Resume, RunRecord, RunState, SkipRecord, Trigger, Workflow,
};
use windowpane::time::Instant;

use super::{Fault, Kept, Kind, Snapshot};

/// What was done between two snapshots, whether it came to its end or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing, or a dry run.
    Nothing,
    Sync,
    /// A sync that also retires what is absent.
    Retire,
    /// Workflows arrive, each with a past of its own.
    Import,
    Claim,
    Heartbeat,
    Finish,
    Release,
    Request,
    Cancel,
    Pause,
    Resume(Resume),
    Prune,
    /// A cursor is set, forward or back.
    Cursor,
}

/// What is wrong with the change of the records by `act`, done by a clock that said `now`.
pub(crate) fn changes(before: &Snapshot, after: &Snapshot, act: Act, now: Instant) -> Vec<Fault> {
    let mut step = Step { act, now, faults: Vec::new() };
    for (reference, kept) in &before.workflows {
        match after.workflows.get(reference) {
            Some(next) => step.check(kept, next),
            None => step.fault(Kind::Lost, format!("the workflow {reference}")),
        }
    }
    for kept in after.workflows.values() {
        let is_new = !before.workflows.contains_key(&kept.workflow.reference);
        let registered = kept.workflow.registered;
        let is_allowed = match act {
            Act::Sync | Act::Retire => registered == now,
            Act::Import => registered <= now,
            _ => false,
        };
        if is_new && !(is_allowed && kept.runs.is_empty() && kept.skips.is_empty()) {
            step.fault(Kind::Forbidden, format!("{} is new", kept.workflow.reference));
        }
    }
    step.faults
}

struct Step {
    act: Act,
    now: Instant,
    faults: Vec<Fault>,
}

impl Step {
    fn fault(&mut self, kind: Kind, what: impl Into<String>) {
        let what = format!("{:?} at {}: {}", self.act, self.now, what.into());
        self.faults.push(Fault::new(kind, what));
    }

    fn check(&mut self, before: &Kept, after: &Kept) {
        self.check_progress(&before.workflow, &after.workflow);
        self.check_revisions(before, after);
        self.check_skips(before, after);
        self.check_decisions(before, after);
        for (key, (run, past)) in &before.runs {
            match after.runs.get(key) {
                None if self.is_pruned_run(run, after) => {}
                None => self.fault(Kind::Lost, format!("{}", run.id())),
                Some((next, next_past)) => {
                    self.check_run(before, (run, past), (next, next_past));
                }
            }
        }
        for (run, past) in after.runs.values() {
            if !before.runs.contains_key(&run.key) {
                self.check_new_run(before, after, run);
                if !past.is_empty() {
                    self.fault(Kind::Token, format!("{} is new and has a past", run.id()));
                }
            }
        }
        self.check_hand_outs(before, after);
    }

    fn check_progress(&mut self, before: &Workflow, after: &Workflow) {
        let reference = &after.reference;
        let (old, new) = (before.progress, after.progress);
        let is_set_back = self.act == Act::Cursor && old.cursor > Some(self.now);
        if new.cursor < old.cursor && !is_set_back {
            let what = format!("the cursor of {reference} went from {old:?} to {new:?}");
            self.fault(Kind::Lost, what);
        }
        if new.last_token < old.last_token {
            self.fault(Kind::Token, format!("the token of {reference} went back"));
        }
        let horizons = (before.marks.pruned_before, after.marks.pruned_before);
        let is_settled = horizons.1.is_none_or(|horizon| {
            horizon.checked_add_ms(-1) <= new.cursor.max(Some(after.registered))
        });
        let is_moved = horizons.0 != horizons.1;
        if is_moved && (self.act != Act::Prune || horizons.1 < horizons.0 || !is_settled) {
            self.fault(Kind::Lost, format!("the horizon of {reference} went {horizons:?}"));
        }
        if (before.registered, &before.source) != (after.registered, &after.source) {
            self.fault(Kind::Transition, format!("{before:?} became {after:?}"));
        }
    }

    /// An edit begins at the latest of now, the cursor and the edit before.
    fn check_revisions(&mut self, before: &Kept, after: &Kept) {
        let known = before.rows.len();
        let new = match after.rows.split_at_checked(known) {
            Some((old, new)) if old == before.rows => new,
            _ => return self.fault(Kind::Lost, format!("revisions: {:?}", after.rows)),
        };
        let last = before.rows.last().and_then(|row| row.after);
        let edit = [Some(self.now), before.workflow.progress.cursor, last].into_iter().max();
        for row in new {
            let is_next = row.number as usize == known + 1 && Some(row.after) == edit;
            if !is_next || !matches!(self.act, Act::Sync | Act::Retire) {
                self.fault(Kind::Forbidden, format!("an edit at {edit:?}: {row:?}"));
            }
        }
    }

    fn check_skips(&mut self, before: &Kept, after: &Kept) {
        if before.skips == after.skips {
            return;
        }
        let cut = before.skips.iter().filter(|skip| !after.skips.contains(skip));
        let (new_cursor, horizon) =
            (after.workflow.progress.cursor, after.workflow.marks.pruned_before);
        for skip in cut.clone() {
            let is_allowed = match self.act {
                Act::Prune => Some(skip.last) < horizon,
                Act::Cursor => Some(skip.last) > new_cursor,
                _ => false,
            };
            if !is_allowed {
                self.fault(Kind::Lost, format!("{skip:?}"));
            }
        }
        for skip in after.skips.iter().filter(|skip| !before.skips.contains(skip)) {
            let cursor = before.workflow.progress.cursor;
            let is_rest = |whole: &SkipRecord| {
                (whole.first, whole.reason, whole.skipped)
                    == (skip.first, skip.reason, skip.skipped)
            };
            if self.act == Act::Cursor && cut.clone().any(is_rest) && Some(skip.last) <= new_cursor
            {
                continue;
            }
            let is_allowed = self.may_skip(skip.reason, &before.workflow);
            if !is_allowed || Some(skip.first) <= cursor || skip.skipped != self.now {
                let policies = before.workflow.policies;
                self.fault(Kind::Forbidden, format!("{skip:?} after {cursor:?}, {policies:?}"));
            }
            self.check_prefix(before, skip);
        }
    }

    /// What is skipped by the catch-up rule, or was due before something, was due.
    fn check_prefix(&mut self, before: &Kept, skip: &SkipRecord) {
        let last = before.timeline.run_at_or_before(skip.last).and_then(Result::ok);
        let is_due = last.is_some_and(|run| run.occurrence == skip.last && run.due <= self.now);
        let needs_due = !matches!(skip.reason, SkipReason::Retired | SkipReason::CursorSet);
        if needs_due && !is_due {
            self.fault(Kind::Forbidden, format!("{skip:?} was not due"));
        }
    }

    fn may_skip(&self, reason: SkipReason, workflow: &Workflow) -> bool {
        let Policies { catch_up, max_age_ms, overlap, .. } = workflow.policies;
        let by_a_claim = self.act == Act::Claim && workflow.marks.paused.is_none();
        match reason {
            SkipReason::FirstRun => by_a_claim && workflow.progress.cursor.is_none(),
            SkipReason::Superseded => by_a_claim && catch_up == CatchUp::Latest,
            SkipReason::BeyondLimit => by_a_claim && matches!(catch_up, CatchUp::Backfill { .. }),
            SkipReason::TooOld => by_a_claim && max_age_ms.is_some(),
            SkipReason::Overlap => {
                overlap == Overlap::Skip && matches!(self.act, Act::Claim | Act::Finish)
            }
            SkipReason::Paused => self.act == Act::Resume(Resume::Drop),
            SkipReason::Retired => self.act == Act::Retire,
            SkipReason::CursorSet => self.act == Act::Cursor,
            _ => false,
        }
    }

    fn check_decisions(&mut self, before: &Kept, after: &Kept) {
        for request in before.requests.iter().filter(|request| !after.requests.contains(request)) {
            let kept = after.requests.iter().find(|kept| kept.id == request.id);
            let pruned =
                kept.map(|kept| RequestRecord { pruned: request.pruned.clone(), ..kept.clone() });
            if self.act != Act::Prune || pruned.as_ref() != Some(request) {
                self.fault(Kind::Lost, format!("{request:?}"));
            }
        }
        for pause in &before.pauses {
            let kept = after.pauses.iter().find(|kept| kept.from == pause.from);
            let is_kept = match pause.to {
                Some(_) => kept == Some(pause),
                None => kept.is_some_and(|kept| kept.to.is_none_or(|to| to == self.now)),
            };
            if !is_kept {
                self.fault(Kind::Lost, format!("{pause:?} became {kept:?}"));
            }
        }
    }

    /// Whether a run that is gone is one that was pruned, and whose request knows it.
    fn is_pruned_run(&self, run: &RunRecord, after: &Kept) -> bool {
        let occurrence = run.key.occurrence;
        let knows = |request: &RequestRecord| {
            request.id == run.key.request_id && request.pruned.contains(&occurrence)
        };
        self.act == Act::Prune
            && run.available.is_none()
            && Some(occurrence) < after.workflow.marks.pruned_before
            && (run.trigger() == Trigger::Schedule || after.requests.iter().any(knows))
    }

    fn check_run(
        &mut self,
        kept: &Kept,
        (run, past): (&RunRecord, &[Attempt]),
        (next, next_past): (&RunRecord, &[Attempt]),
    ) {
        if run == next && past == next_past {
            return;
        }
        let is_past_kept = next_past.starts_with(past);
        if (run.plan, &run.tzdb, &run.reference) != (next.plan, &next.tzdb, &next.reference)
            || !is_past_kept
            || !self.may_become(&kept.workflow, run, next)
        {
            self.fault(Kind::Transition, format!("{run:?} became {next:?}"));
        }
        let before = run.attempt.as_ref();
        let replaced = before.filter(|before| token(next) != Some(before.token));
        let moved = next_past.last().filter(|_| next_past.len() == past.len() + 1);
        if replaced.map(|attempt| attempt.token) != moved.map(|attempt| attempt.token) {
            self.fault(Kind::Lost, format!("an attempt of {run:?}: {next:?} {next_past:?}"));
        }
    }

    /// Whether `run` may become `next` by this act.
    fn may_become(&self, workflow: &Workflow, run: &RunRecord, next: &RunRecord) -> bool {
        use RunState::{Abandoned, Cancelled, Claimed, Failed, Pending, Succeeded};
        let is_same_attempt = token(run) == token(next);
        let has_expired = run.available <= Some(self.now);
        let is_retired = workflow.marks.retired.is_some();
        let is_scheduled = run.trigger() == Trigger::Schedule;
        let is_held = workflow.marks.paused.is_some() && is_scheduled;
        let is_spent = run.attempts >= workflow.policies.max_attempts || is_retired;
        let counts = |more| i64::from(next.attempts) == i64::from(run.attempts) + more;
        match (self.act, run.state, next.state) {
            (Act::Claim, Pending, Claimed) => has_expired && !is_held && counts(1),
            (Act::Claim, Claimed, Claimed) => has_expired && !is_held && !is_spent && counts(1),
            (Act::Claim, Claimed, Abandoned) => has_expired && !is_held && is_spent,
            (Act::Heartbeat, Claimed, Claimed) => {
                is_same_attempt && next.available >= run.available
            }
            (Act::Finish, Claimed, Succeeded | Failed) => is_same_attempt && counts(0),
            (Act::Finish, Claimed, Pending) => is_same_attempt && !is_spent && counts(0),
            (Act::Finish, Claimed, Cancelled) => is_same_attempt && is_retired && counts(0),
            // A released attempt does not count.
            (Act::Release, Claimed, Pending) => is_same_attempt && !is_retired && counts(-1),
            (Act::Release, Claimed, Cancelled) => is_same_attempt && is_retired && counts(-1),
            (Act::Cancel | Act::Retire, Pending, Cancelled) => true,
            (Act::Resume(Resume::Drop), Pending, Cancelled) => is_scheduled,
            (Act::Resume(Resume::Drop), Claimed, Abandoned) => is_scheduled && has_expired,
            _ => false,
        }
    }

    fn check_new_run(&mut self, before: &Kept, after: &Kept, run: &RunRecord) {
        let marks = before.workflow.marks;
        let (old, new) = (before.workflow.progress.cursor, after.workflow.progress.cursor);
        let occurrence = Some(run.key.occurrence);
        let is_allowed = match run.trigger() {
            Trigger::Schedule => {
                self.act == Act::Claim
                    && run.state == RunState::Claimed
                    && run.plan.due <= self.now
                    && old < occurrence
                    && occurrence <= new
                    && marks.paused.is_none()
                    && marks.retired.is_none()
            }
            Trigger::Request => {
                self.act == Act::Request
                    && run.state == RunState::Pending
                    && run.plan.due <= self.now
            }
        };
        if !is_allowed {
            self.fault(Kind::Forbidden, format!("{run:?} between {old:?} and {new:?}, {marks:?}"));
        }
    }

    /// No run is handed out, or its lease revived, beside another live claim on its occurrence, or
    /// on its workflow where that runs alone.
    fn check_hand_outs(&mut self, before: &Kept, after: &Kept) {
        let is_alone = after.workflow.policies.overlap != Overlap::Allow;
        let now = self.now;
        let is_live = |run: &RunRecord| run.state == RunState::Claimed && run.available > Some(now);
        let live: Vec<&RunRecord> =
            after.runs.values().map(|(run, _)| run).filter(|run| is_live(run)).collect();
        for run in &live {
            let was = before.runs.get(&run.key).map(|(run, _)| run);
            if was.is_some_and(|was| is_live(was) && token(was) == token(run)) {
                continue;
            }
            if was.is_none_or(|was| token(was) != token(run))
                && token(run) <= Some(before.workflow.progress.last_token)
            {
                self.fault(Kind::Token, format!("{run:?} after {:?}", before.workflow.progress));
            }
            let beside = |other: &&&RunRecord| {
                other.key != run.key && (is_alone || other.key.occurrence == run.key.occurrence)
            };
            if let Some(other) = live.iter().find(beside) {
                self.fault(Kind::Together, format!("{run:?} beside {other:?}"));
            }
        }
    }
}

fn token(run: &RunRecord) -> Option<i64> {
    run.attempt.as_ref().map(|attempt| attempt.token)
}
