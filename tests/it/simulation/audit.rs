//! What must hold after every step, counted apart from the code under test.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use windowpane::clock::FixedClock;
use windowpane::engine::{self, EngineError};
use windowpane::plan::{self, Position, Revision, Timeline};
use windowpane::schedule::{Definition, Reference};
use windowpane::store::record::{RunFilter, RunRecord, RunState, SkipFilter, Trigger, Workflow};
use windowpane::store::{RunId, Store};
use windowpane::time::Instant;

/// What the workers were told, and how much of everything was seen.
#[derive(Default)]
pub(super) struct Audit {
    /// The lease of each run as its worker knows it.
    leases: HashMap<String, (i64, Instant)>,
    /// Runs that were answered to be final.
    finals: HashSet<String>,
    /// Runs that are on record, also those whose hand-out was not answered.
    known: HashSet<String>,
    tokens: HashMap<String, i64>,
    cursors: HashMap<String, Instant>,
    handed_out: u64,
    retried: u64,
    finished: u64,
    fenced: u64,
    settled: u64,
    edits: u64,
}

impl Audit {
    /// A claim answered with this run at `now`.
    pub(super) fn handed_out(&mut self, run: &RunRecord, now: Instant) {
        let id = run.id().to_string();
        let attempt = run.attempt.as_ref().unwrap();
        assert!(!self.finals.contains(&id), "{id} was handed out after it was final");
        if let Some((token, expiry)) = self.leases.get(&id) {
            assert!(
                *expiry <= now,
                "{id} was handed out at {now} under the live lease {token} until {expiry}"
            );
        }
        let last = self.tokens.insert(run.reference.clone(), attempt.token);
        assert!(last < Some(attempt.token), "the token of {id} did not grow");
        // A run that is tried again after the clock was set back may seem early; a new one may not.
        if self.known.insert(id.clone()) {
            assert!(run.plan.due <= now, "{id} was handed out at {now}, before it was due");
        }
        self.leases.insert(id, (attempt.token, run.available.unwrap()));
        self.handed_out += 1;
        self.retried += u64::from(attempt.number > 1);
    }

    /// A worker ended its attempt. Without an answer, it may have ended or not.
    pub(super) fn ended(&mut self, id: &RunId, token: i64, run: Option<&RunRecord>) {
        let id = id.to_string();
        if self.leases.get(&id).is_some_and(|(current, _)| *current == token) {
            self.leases.remove(&id);
        }
        if run.is_some_and(|run| run.available.is_none()) {
            self.finals.insert(id);
        }
        self.finished += u64::from(run.is_some());
    }

    /// A worker was told that its lease was extended.
    pub(super) fn extended(&mut self, run: &RunRecord, token: i64) {
        self.leases.insert(run.id().to_string(), (token, run.available.unwrap()));
    }

    /// A worker was refused.
    pub(super) fn refused(&mut self, error: &EngineError) {
        self.fenced += u64::from(error.is_lost_lease());
    }

    /// Every invariant of the records.
    pub(super) fn check(&mut self, store: &mut dyn Store, now: Instant) {
        let mut owing = HashSet::new();
        let mut tx = store.begin_read().unwrap();
        let workflows = tx.workflows(None, usize::MAX).unwrap();
        for workflow in workflows {
            let rows = tx.revisions(&[(workflow.id, None)]).unwrap().remove(0);
            let reference = Reference::new(&workflow.reference).unwrap();
            let revisions: Vec<Revision> = rows
                .iter()
                .map(|row| {
                    let definition =
                        row.schedule.as_ref().map(|text| Definition::from_canonical(text).unwrap());
                    Revision::new(&reference, row.number, row.after, definition)
                })
                .collect();
            self.edits = self.edits.max(revisions.len() as u64);
            let runs = tx
                .runs(&RunFilter { workflow: Some(workflow.id), ..RunFilter::default() })
                .unwrap();
            let skips = tx
                .skips(&SkipFilter { workflow: Some(workflow.id), ..SkipFilter::default() })
                .unwrap();
            let ranges: Vec<_> =
                skips.iter().map(|skip| (skip.first, skip.last, skip.count)).collect();
            self.check_fates(&workflow, &revisions, &runs, &ranges);
            self.check_leases(&runs);
            let position =
                Position { cursor: workflow.progress.cursor, registered: workflow.registered };
            let timeline = Timeline::new(&revisions);
            // A first run that was dropped as too old stays dropped when the clock is set back.
            let may_be_dropped =
                position.cursor.is_none() && workflow.policies.max_age_ms.is_some();
            let owed = plan::owed(&timeline, &workflow.policies, position, now).owed;
            if owed.is_some() && !may_be_dropped {
                owing.insert(workflow.reference.clone());
            }
        }
        drop(tx);
        let due = engine::due(store, &FixedClock(now)).unwrap();
        let first_attempts =
            due.runs.iter().filter(|run| run.trigger == Trigger::Schedule && run.attempt == 1);
        let shown: HashSet<String> = first_attempts.map(|run| run.reference.clone()).collect();
        assert!(
            owing.is_subset(&shown),
            "{owing:?} owe runs at {now}, and the queue shows {shown:?}"
        );
    }

    /// Between registration and cursor every occurrence is a run or inside one skipped range.
    fn check_fates(
        &mut self,
        workflow: &Workflow,
        revisions: &[Revision],
        runs: &[RunRecord],
        ranges: &[(Instant, Instant, u64)],
    ) {
        let reference = &workflow.reference;
        let Some(cursor) = workflow.progress.cursor else {
            assert!(runs.is_empty() && ranges.is_empty(), "{reference} has records and no cursor");
            return;
        };
        let before = self.cursors.insert(reference.clone(), cursor);
        assert!(before <= Some(cursor), "the cursor of {reference} moved back to {cursor}");
        let mut fates: BTreeMap<Instant, (Instant, u64)> = BTreeMap::new();
        let singles = runs.iter().map(|run| (run.key.occurrence, run.key.occurrence, 1));
        for (first, last, count) in singles.chain(ranges.iter().copied()) {
            assert!(last <= cursor, "{reference}: {last} is settled past the cursor {cursor}");
            assert_eq!(count_in(revisions, first, last), count, "{reference}: {first} to {last}");
            let twice = fates.insert(first, (last, count));
            assert_eq!(twice, None, "{reference}: {first} has two fates");
        }
        let ends: Vec<_> = fates.iter().map(|(first, (last, _))| (*first, *last)).collect();
        for pair in ends.windows(2) {
            assert!(pair[0].1 < pair[1].0, "{reference}: {:?} and {:?} meet", pair[0], pair[1]);
        }
        // A first run may come from before registration; from there on there is no hole.
        let after = workflow.registered.checked_add_ms(1).unwrap();
        let after = fates.keys().next().map_or(after, |first| after.min(*first));
        let settled: u64 = fates.range(after..).map(|(_, (_, count))| count).sum();
        let expected = count_in(revisions, after, cursor);
        assert_eq!(
            settled, expected,
            "{reference}, registered at {}, lost or gained up to {cursor}: {fates:?} of {revisions:?}",
            workflow.registered
        );
        self.settled = self.settled.max(settled);
    }

    fn check_leases(&mut self, runs: &[RunRecord]) {
        for run in runs {
            self.known.insert(run.id().to_string());
            assert_eq!(
                run.available.is_some(),
                matches!(run.state, RunState::Pending | RunState::Claimed)
            );
            if self.finals.contains(&run.id().to_string()) {
                assert_eq!(
                    run.available,
                    None,
                    "{} was final and is {}",
                    run.id(),
                    run.state.as_str()
                );
            }
        }
    }

    /// Adds what another seed has seen.
    pub(super) fn add(&mut self, other: Audit) {
        self.handed_out += other.handed_out;
        self.retried += other.retried;
        self.finished += other.finished;
        self.fenced += other.fenced;
        self.settled += other.settled;
        self.edits += other.edits;
    }

    /// A simulation in which nothing happened would prove nothing.
    pub(super) fn has_teeth(&self) {
        let seen =
            [self.handed_out, self.retried, self.finished, self.fenced, self.settled, self.edits];
        assert!(seen.iter().all(|count| *count > 0), "{self}");
    }
}

/// How many occurrences of the revisions lie from `first` to `last`, both counted.
fn count_in(revisions: &[Revision], first: Instant, last: Instant) -> u64 {
    let ends = revisions.iter().skip(1).map(Revision::after).chain([None]);
    let counts = revisions.iter().zip(ends).filter_map(|(revision, end)| {
        let cadence = revision.definition()?.cadence();
        let from =
            revision.after().map_or(first, |after| first.max(after.checked_add_ms(1).unwrap()));
        let to = end.map_or(last, |end| last.min(end)).checked_add_ms(1).unwrap();
        (from < to).then(|| cadence.count(from, to))
    });
    counts.sum()
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} hand-outs, {} of them again; {} ended, {} fenced; {} occurrences settled over {} revisions",
            self.handed_out, self.retried, self.finished, self.fenced, self.settled, self.edits
        )
    }
}
