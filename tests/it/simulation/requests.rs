//! What people ask for besides the schedule, and withdraw.

use std::collections::BTreeSet;

use windowpane::clock::FixedClock;
use windowpane::engine::{self, Mode, Only, Requested, RunRequest, Selection, Windows};
use windowpane::plan::Run;
use windowpane::store::record::{RunRecord, RunState};
use windowpane::time::{Instant, Window};

use crate::account::{self, Act, Kept};

use super::Simulation;
use super::commands::REFS;
use super::drain::owed;

/// A request for more occurrences than this is made shorter.
const RUNS_AT_MOST: u64 = 30;

impl Simulation {
    pub(super) fn request(&mut self) {
        let reference = *self.rng.choice(&REFS).unwrap();
        let id = format!("r{}", self.rng.u32(..8));
        let request = RunRequest {
            reference,
            id: &id,
            selection: self.some_selection(reference),
            only: *self.rng.choice(&[Only::Missing, Only::Failed, Only::All]).unwrap(),
            windows: *self.rng.choice(&[Windows::Pinned, Windows::Present]).unwrap(),
            note: engine::Note::default(),
        };
        let (act, mode) = match self.rng.u32(..6) {
            0 => (Act::Nothing, Mode::DryRun),
            _ => (Act::Request, Mode::Write),
        };
        let done =
            self.act(act, self.now, |store, clock| engine::request(store, clock, &request, mode));
        let Some(requested) = done else { return };
        let before = &self.before.workflows[reference];
        match before.requests.iter().find(|known| known.id == id) {
            Some(known) => assert_eq!(requested.made, known.made),
            None => check_new(before, &request, &requested, self.now),
        }
        if mode == Mode::Write {
            self.check_on_record(&requested.runs);
            self.tally.add_some("requested", requested.runs.len() as u64);
        }
        self.ask_again(&request, &requested);
    }

    /// The same id again changes nothing and is answered with the same runs.
    fn ask_again(&mut self, request: &RunRequest<'_>, first: &Requested) {
        let known = self.seen.workflows[request.reference].requests.iter();
        if !known.into_iter().any(|known| known.id == request.id) {
            return;
        }
        let later = self.now.checked_add_ms(60_000).unwrap();
        let store = &mut *self.store.inner;
        let again = engine::request(store, &FixedClock(later), request, Mode::Write).unwrap();
        assert_eq!((&again.runs, again.made), (&first.runs, first.made));
        self.take_account(Act::Nothing, later);
        self.tally.add("requests repeated");
    }

    fn some_selection(&mut self, reference: &str) -> Selection {
        let start = self.now.checked_add_ms(-self.rng.i64(-3_600_000..6 * 3_600_000)).unwrap();
        let end = start.checked_add_ms(self.rng.i64(1..90 * 60_000)).unwrap();
        let kept = self.seen.workflows.get(reference);
        let is_many =
            kept.is_some_and(|kept| account::count_in(&kept.revisions, start, end) > RUNS_AT_MOST);
        let end = if is_many { start.checked_add_ms(9_999).unwrap() } else { end };
        match self.rng.u32(..6) {
            0 => Selection::Latest,
            1 => Selection::Window(Window { start, end }),
            2 => Selection::Covering(Window { start, end }),
            _ => Selection::Occurrences { from: start, to: end },
        }
    }

    /// One run of any state: pending ones are cancelled, and no others.
    pub(super) fn cancel(&mut self) {
        let pending = self.rng.bool();
        let some: Vec<&RunRecord> =
            self.seen.runs().filter(|run| !pending || run.state == RunState::Pending).collect();
        let Some(run) = self.rng.choice(some).cloned() else { return };
        let (id, now) = (run.id(), self.now);
        let cancelled =
            self.act(Act::Cancel, now, |store, clock| engine::cancel(store, clock, &id));
        let may = matches!(run.state, RunState::Pending | RunState::Cancelled);
        assert!(cancelled.is_none() || may, "{run:?} was cancelled");
        assert!(cancelled.is_some() || !may || self.has_crashed(), "{run:?} was not cancelled");
        self.check_on_record(&cancelled);
    }

    pub(super) fn cancel_request(&mut self) {
        let reference = *self.rng.choice(&REFS).unwrap();
        let id = format!("r{}", self.rng.u32(..8));
        let cancelled = self.act(Act::Cancel, self.now, |store, clock| {
            engine::cancel_request(store, clock, reference, &id)
        });
        let Some(cancelled) = cancelled else { return };
        self.check_on_record(&cancelled);
        let kept = &self.seen.workflows[reference];
        let mut runs = kept.runs.values().map(|(run, _)| run);
        let left = runs.find(|run| run.key.request_id == id && run.state == RunState::Pending);
        assert_eq!(left, None, "the request {id} is cancelled");
    }
}

/// A new request makes one run for each occurrence that the rules name, and tells of the others.
fn check_new(before: &Kept, request: &RunRequest<'_>, requested: &Requested, now: Instant) {
    let selected: Vec<Run> = match request.selection {
        Selection::Occurrences { from, to } => {
            before.timeline.runs(from, to).map(Result::unwrap).collect()
        }
        Selection::Covering(span) => {
            before.timeline.runs_covering(span.start, span.end).map(Result::unwrap).collect()
        }
        Selection::Latest => before.timeline.run_due(now).into_iter().map(Result::unwrap).collect(),
        Selection::Window(window) => {
            let [run] = &requested.runs[..] else { panic!("{requested:?}") };
            assert_eq!((run.plan.window, run.key.occurrence), (window, window.end));
            return;
        }
    };
    let chosen = selected.iter().filter(|run| is_chosen(before, request, run, now));
    let chosen: BTreeSet<Instant> = chosen.map(|run| run.occurrence).collect();
    let made: BTreeSet<Instant> = requested.runs.iter().map(|run| run.key.occurrence).collect();
    assert_eq!(made, chosen, "made (left) and to be made (right) of {request:?} at {now}");
    assert_eq!(requested.runs.len(), made.len());
    let left_out: u64 = requested.left_out.values().sum();
    assert_eq!(left_out as usize + made.len(), selected.len(), "{requested:?}");
}

fn is_chosen(before: &Kept, request: &RunRequest<'_>, run: &Run, now: Instant) -> bool {
    let only = if request.selection == Selection::Latest { Only::All } else { request.only };
    let runs = before.runs.values().map(|(run, _)| run);
    let mut runs: Vec<&RunRecord> =
        runs.filter(|kept| kept.key.occurrence == run.occurrence).collect();
    runs.sort_by_key(|run| run.attempt.as_ref().map(|attempt| attempt.token));
    let is_open = runs.iter().any(|run| run.available.is_some());
    let chosen = match only {
        Only::All => true,
        Only::Missing => {
            let has_succeeded = runs.iter().any(|run| run.state == RunState::Succeeded);
            let is_pruned = Some(run.occurrence) < before.workflow.marks.pruned_before;
            !has_succeeded && !is_open && !is_pruned && !is_owed(before, run.occurrence, now)
        }
        Only::Failed => {
            let last = runs.last().map(|run| run.state);
            !is_open && matches!(last, Some(RunState::Failed | RunState::Abandoned))
        }
    };
    chosen && run.due <= now
}

fn is_owed(kept: &Kept, occurrence: Instant, now: Instant) -> bool {
    owed(kept, now).is_some_and(|owed| (owed.first..=owed.last).contains(&occurrence))
}
