//! What workers do: claim, extend, finish, give back.

use windowpane::clock::FixedClock;
use windowpane::engine::{self, ClaimRequest, Claimed, Due};
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::record::{RunKey, RunRecord, RunState, Trigger};
use windowpane::time::Instant;

use crate::account::Act;

use super::{Held, SKEWS_MS, Simulation};

impl Simulation {
    /// What the clock of a worker says.
    fn now_of(&self, worker: usize) -> Instant {
        self.now.checked_add_ms(SKEWS_MS[worker]).unwrap()
    }

    pub(super) fn claim(&mut self) {
        let worker = self.rng.usize(..SKEWS_MS.len());
        let limit = self.rng.usize(1..8);
        let prefix = if self.rng.u32(..5) == 0 { "c" } else { "" };
        let trigger = match self.rng.u32(..8) {
            0 => Some(Trigger::Request),
            1 => Some(Trigger::Schedule),
            _ => None,
        };
        let now = self.now_of(worker);
        let foretold = engine::due(&mut *self.store.inner, &FixedClock(now)).unwrap();
        let request = ClaimRequest {
            worker: &format!("w{worker}"),
            limit,
            lease_ms: self.rng.i64(1..30 * 60_000),
            matches: &|reference| reference.starts_with(prefix),
            trigger,
        };
        let claimed =
            self.act(Act::Claim, now, |store, clock| engine::claim(store, clock, &request));
        let Some(claimed) = claimed else { return };
        assert!(claimed.runs.len() <= limit);
        for run in &claimed.runs {
            assert!(
                run.reference.starts_with(prefix) && trigger.is_none_or(|it| it == run.trigger())
            );
            let token = run.attempt.as_ref().unwrap().token;
            self.held.push(Held { worker, id: run.id(), token });
        }
        self.check_on_record(&claimed.runs);
        for skip in &claimed.skipped {
            assert!(self.seen.workflows[&skip.reference].skips.contains(skip), "{skip:?}");
        }
        if prefix.is_empty() && trigger.is_none() {
            self.check_foretold(&foretold, &claimed);
            if claimed.runs.len() < limit {
                self.check_wait(&claimed);
            }
        }
    }

    /// A claim hands out what `due` said before, in its order.
    fn check_foretold(&mut self, foretold: &Due, claimed: &Claimed) {
        let foretold = foretold
            .runs
            .iter()
            .map(|run| (run.reference.as_str(), run.plan.occurrence, run.request_id.as_str()));
        let handed = claimed
            .runs
            .iter()
            .map(|run| (run.reference.as_str(), run.key.occurrence, run.key.request_id.as_str()));
        let foretold: Vec<_> = foretold.take(claimed.runs.len()).collect();
        let handed: Vec<_> = handed.collect();
        assert_eq!(handed, foretold, "handed out (left), foretold (right)");
        self.tally.add_some("hand-outs foretold", claimed.runs.len() as u64);
    }

    /// A worker that found nothing more, and waits as long as it was told, misses nothing of a
    /// workflow that owes nothing now.
    fn check_wait(&mut self, claimed: &Claimed) {
        let wake = [claimed.next_due, claimed.next_available].into_iter().flatten().min();
        let before = wake.map_or(claimed.now.checked_add_ms(40 * 86_400_000), |wake| {
            assert!(wake > claimed.now, "{claimed:?}");
            wake.checked_add_ms(-1)
        });
        let due = engine::due(&mut *self.store.inner, &FixedClock(before.unwrap())).unwrap();
        let missed = due.runs.iter().find(|run| {
            let kept = &self.seen.workflows[&run.reference];
            run.trigger == Trigger::Request || super::drain::owed(kept, claimed.now).is_none()
        });
        assert_eq!(missed, None, "missed before {wake:?}, told at {}", claimed.now);
        self.tally.add("waited for");
    }

    /// One held run, which may stay held: its worker comes back, or comes back late.
    fn pick(&mut self) -> Option<Held> {
        let index = (!self.held.is_empty()).then(|| self.rng.usize(..self.held.len()))?;
        let held = self.held[index].clone();
        if self.rng.u32(..3) == 0 {
            self.held.swap_remove(index);
        }
        Some(held)
    }

    /// Workers that hold a run of which nothing is known any more are told so.
    pub(super) fn drop_pruned(&mut self) {
        let seen = &self.seen;
        let is_known = |held: &Held| seen.runs().any(|run| run.id() == held.id);
        let (known, pruned) = self.held.drain(..).partition(is_known);
        self.held = known;
        let pruned: Vec<Held> = pruned;
        for held in pruned {
            let finish = Finish { verdict: Verdict::Succeeded, error: None, output: None };
            let answer = self.act(Act::Finish, self.now, |store, clock| {
                engine::finish(store, clock, &held.id, held.token, &finish)
            });
            assert_eq!(answer, None, "{} is pruned", held.id);
        }
    }

    /// The run of a worker as it is now, and whether the worker still holds it.
    fn run_of(&self, held: &Held) -> (RunRecord, bool) {
        let kept = &self.seen.workflows[&held.id.reference];
        let (occurrence, request_id) = (held.id.occurrence, held.id.request_id.clone());
        let key = RunKey { workflow: kept.workflow.id, occurrence, request_id };
        let run = kept.runs[&key].0.clone();
        let holds = run.attempt.as_ref().is_some_and(|attempt| attempt.token == held.token);
        (run, holds)
    }

    fn some_finish(&mut self) -> Finish {
        let verdict = match self.rng.u32(..5) {
            0 => Verdict::Failed { retry_in_ms: None },
            1 => Verdict::Failed { retry_in_ms: Some(self.rng.i64(0..3_600_000)) },
            _ => Verdict::Succeeded,
        };
        Finish { verdict, error: None, output: None }
    }

    pub(super) fn finish(&mut self) {
        let Some(held) = self.pick() else { return };
        let ((was, holds), finish, now) =
            (self.run_of(&held), self.some_finish(), self.now_of(held.worker));
        let finished = self.act(Act::Finish, now, |store, clock| {
            engine::finish(store, clock, &held.id, held.token, &finish)
        });
        self.check_answer(&held, finished.as_slice(), holds);
        if holds && was.state == RunState::Claimed {
            let is_late = was.available <= Some(now);
            self.tally.add_if("late finishes", is_late && finished.is_some());
            assert!(finished.is_some() || self.has_crashed(), "{was:?} could not be finished");
        }
    }

    /// Several at once, all or none.
    pub(super) fn finish_several(&mut self) {
        let Some(first) = self.pick() else { return };
        let Some(second) = self.pick() else { return };
        let now = self.now_of(first.worker);
        let holds = self.run_of(&first).1 && self.run_of(&second).1;
        let held = |held: &Held| engine::Held { id: held.id.clone(), token: held.token };
        let answered = match self.rng.u32(..3) {
            0 => {
                let ends =
                    [(held(&first), self.some_finish()), (held(&second), self.some_finish())];
                self.act(Act::Finish, now, |store, clock| engine::finish_all(store, clock, &ends))
            }
            1 => {
                let helds = [held(&first), held(&second)];
                self.act(Act::Release, now, |store, clock| {
                    engine::release_all(store, clock, &helds)
                })
            }
            _ => {
                let beat = engine::Heartbeat { lease_ms: 60_000, output: None };
                let beats = [(held(&first), beat.clone()), (held(&second), beat)];
                self.act(Act::Heartbeat, now, |store, clock| {
                    engine::heartbeat_all(store, clock, &beats)
                })
            }
        };
        assert!(holds || answered.is_none(), "a stale worker was heard");
    }

    pub(super) fn heartbeat(&mut self) {
        let Some(held) = self.pick() else { return };
        let ((was, holds), now) = (self.run_of(&held), self.now_of(held.worker));
        let lease_ms = self.rng.i64(1..3_600_000);
        let extended = self.act(Act::Heartbeat, now, |store, clock| {
            engine::heartbeat(store, clock, &held.id, held.token, lease_ms, None)
        });
        self.check_answer(&held, extended.as_slice(), holds);
        self.tally.add_if("revived", extended.is_some() && was.available <= Some(now));
    }

    pub(super) fn release(&mut self) {
        let Some(held) = self.pick() else { return };
        let (holds, now) = (self.run_of(&held).1, self.now_of(held.worker));
        let released = self.act(Act::Release, now, |store, clock| {
            engine::release(store, clock, &held.id, held.token)
        });
        self.check_answer(&held, released.as_slice(), holds);
    }

    /// A stale worker is refused, and what another is told is so.
    fn check_answer(&self, held: &Held, answer: &[RunRecord], holds: bool) {
        assert!(holds || answer.is_empty(), "{} was heard under {}", held.id, held.token);
        self.check_on_record(answer);
    }

    pub(super) fn has_crashed(&self) -> bool {
        self.crash.fuse.get() == 0
    }
}
