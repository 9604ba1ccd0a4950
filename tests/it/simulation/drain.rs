//! The end of a bad day: everything goes on, and every occurrence is accounted for.

use windowpane::clock::FixedClock;
use windowpane::engine::{self, ClaimRequest};
use windowpane::plan::{self, Owed, Position};
use windowpane::schedule::Overlap;
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::record::{Resume, Trigger};
use windowpane::time::Instant;

use crate::account::{self, Act, Kept};

use super::Simulation;

/// More rounds than any backlog of a simulation takes.
const ROUNDS: u32 = 200;

impl Simulation {
    pub(super) fn drain(&mut self) {
        self.check_records();
        let (now, policy) = (self.now, Resume::CatchUp);
        self.act(Act::Resume(policy), now, |store, clock| {
            engine::resume(store, clock, &|_| true, policy)
        });
        for _ in 0..ROUNDS {
            // Past every delay and lease, and past any instant that another clock put on record.
            let open = self.seen.runs().filter_map(|run| run.available);
            let cursors =
                self.seen.workflows.values().filter_map(|kept| kept.workflow.progress.cursor);
            self.now = open.chain(cursors).chain([self.now]).max().unwrap();
            self.claim_and_finish_everything();
            if self.is_drained() {
                return self.check_drained();
            }
        }
        let left: Vec<_> = self.seen.runs().filter(|run| run.available.is_some()).collect();
        panic!("not drained at {}: {left:?}, after {:?}", self.now, self.trace.last());
    }

    fn claim_and_finish_everything(&mut self) {
        let request = ClaimRequest {
            worker: "drain",
            limit: 1_000,
            lease_ms: 1,
            matches: &|_| true,
            trigger: None,
        };
        let now = self.now;
        let claimed = self
            .act(Act::Claim, now, |store, clock| engine::claim(store, clock, &request))
            .unwrap();
        let finish = Finish { verdict: Verdict::Succeeded, error: None, output: None };
        let ends: Vec<_> = claimed
            .runs
            .iter()
            .map(|run| {
                let token = run.attempt.as_ref().unwrap().token;
                (engine::Held { id: run.id(), token }, finish.clone())
            })
            .collect();
        self.tally.add_some("drained", ends.len() as u64);
        self.act(Act::Finish, now, |store, clock| engine::finish_all(store, clock, &ends)).unwrap();
    }

    fn is_drained(&mut self) -> bool {
        let due = engine::due(&mut *self.store.inner, &FixedClock(self.now)).unwrap();
        due.runs.is_empty() && self.seen.runs().all(|run| run.available.is_none())
    }

    /// Every occurrence since registration that is due has one fate, and every run came to its end.
    fn check_drained(&mut self) {
        for kept in self.seen.workflows.values() {
            account::still_to_come(kept, self.now).unwrap_or_else(|fault| panic!("{fault}"));
            let (from, settled) = account::settled(kept);
            if let Some(cursor) = kept.workflow.progress.cursor {
                assert_eq!(settled, account::count_in(&kept.revisions, from, cursor));
            }
            self.tally.add_some("settled at the end", settled);
        }
        self.check_records();
    }

    /// The product's own check agrees. Incidents are none of its faults: clocks jump here.
    fn check_records(&mut self) {
        let findings = engine::verify(&mut *self.store.inner, &FixedClock(self.now)).unwrap();
        let fault = findings.iter().find(|finding| !finding.problem.contains("needs a look"));
        assert!(fault.is_none(), "{findings:?} after {:?}", self.trace.last());
    }

    /// Who owes anything is in the queue.
    pub(super) fn check_queue(&mut self) {
        let due = engine::due(&mut *self.store.inner, &FixedClock(self.now)).unwrap();
        for (reference, kept) in &self.seen.workflows {
            let is_shown = due.runs.iter().any(|run| {
                &run.reference == reference && run.trigger == Trigger::Schedule && run.attempt == 1
            });
            assert!(
                is_shown || !must_be_shown(kept, self.now),
                "{:?} owes runs at {}, and the queue shows {:?} after {:?}",
                kept.workflow,
                self.now,
                due.runs,
                &self.trace[self.trace.len().saturating_sub(3)..]
            );
        }
    }
}

/// What a workflow owes, whatever may hold it back.
pub(super) fn owed(kept: &Kept, now: Instant) -> Option<Owed> {
    let (cursor, registered) = (kept.workflow.progress.cursor, kept.workflow.registered);
    let position = Position { cursor, registered };
    plan::owed(&kept.timeline, &kept.workflow.policies, position, now).owed
}

/// Whether a workflow owes a run that nothing may hold back.
fn must_be_shown(kept: &Kept, now: Instant) -> bool {
    let (workflow, policies) = (&kept.workflow, &kept.workflow.policies);
    // A first run that was dropped as too old stays dropped when the clock is set back.
    let may_be_dropped = workflow.progress.cursor.is_none() && policies.max_age_ms.is_some();
    let open = || kept.runs.values().filter(|(run, _)| run.available.is_some());
    let is_alone = policies.overlap != Overlap::Allow && open().next().is_some();
    let owed = owed(kept, now);
    let is_taken = owed.is_some_and(|owed| open().any(|(run, _)| run.key.occurrence == owed.first));
    owed.is_some() && workflow.marks.paused.is_none() && !may_be_dropped && !is_alone && !is_taken
}
