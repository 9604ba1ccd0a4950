//! The fate of every occurrence, and what must hold of the records at any instant.

use std::collections::BTreeSet;

use windowpane::plan::Revision;
use windowpane::store::record::{Outcome, RunRecord, RunState, Trigger};
use windowpane::time::Instant;

use super::{Fault, Kept, Kind, Snapshot};

/// What is wrong with the records as they are.
pub(crate) fn faults(snapshot: &Snapshot) -> Vec<Fault> {
    let mut faults = Vec::new();
    for kept in snapshot.workflows.values() {
        check_fates(kept, &mut faults);
        check_tokens(kept, &mut faults);
        for (run, _) in kept.runs.values() {
            check_state(run, &mut faults);
            check_revision(kept, run, &mut faults);
        }
    }
    faults
}

/// A settled stretch of the timeline: its first and last occurrence, and how many there are.
type Stretch = (Instant, Instant, u64);

/// The settled stretches of a workflow, oldest first: its scheduled runs and its skipped ranges.
fn fates(kept: &Kept) -> Vec<Stretch> {
    let scheduled =
        kept.runs.values().map(|(run, _)| run).filter(|run| run.trigger() == Trigger::Schedule);
    let runs = scheduled.map(|run| (run.key.occurrence, run.key.occurrence, 1));
    let skips = kept.skips.iter().map(|skip| (skip.first, skip.last, skip.count));
    let mut fates: Vec<Stretch> = runs.chain(skips).collect();
    fates.sort_unstable();
    fates
}

/// From registration to cursor each occurrence is a run or inside one skipped range, and past the
/// cursor there is nothing, but for runs that were there when it was set back.
fn check_fates(kept: &Kept, faults: &mut Vec<Fault>) {
    let (workflow, reference) = (&kept.workflow, &kept.workflow.reference);
    let fates = fates(kept);
    let cursor = workflow.progress.cursor;
    for &(first, last, count) in &fates {
        if Some(last) > cursor && Some(last) > workflow.marks.rewound_from {
            let what = format!("{reference}: {last} is settled past the cursor {cursor:?}");
            faults.push(Fault::new(Kind::Stray, what));
        }
        let counted = count_in(&kept.revisions, first, last);
        // An edit may have come before a run that was there when the cursor was set back.
        let is_kept = first == last && Some(last) <= workflow.marks.rewound_from;
        if counted != count && !is_kept {
            let what = format!("{reference}: {first} to {last} are {counted}, not {count}");
            faults.push(Fault::new(Kind::Stray, what));
        }
    }
    for pair in fates.windows(2).filter(|pair| pair[0].1 >= pair[1].0) {
        let what = format!("{reference}: {:?} and {:?} meet", pair[0], pair[1]);
        faults.push(Fault::new(Kind::Twice, what));
    }
    let Some(cursor) = cursor else { return };
    let (from, settled) = settled(kept);
    let expected = count_in(&kept.revisions, from, cursor);
    if settled != expected {
        let kind = if settled < expected { Kind::Lost } else { Kind::Twice };
        let what = format!("{reference}: {settled} are settled of {expected}, {from} to {cursor}");
        faults.push(Fault::new(kind, what));
    }
}

/// From where on each occurrence has a fate on record, and how many have one. A first run may come
/// from before registration; before the prune horizon nothing is known.
pub(crate) fn settled(kept: &Kept) -> (Instant, u64) {
    let (fates, workflow) = (fates(kept), &kept.workflow);
    let registered = workflow.registered.checked_add_ms(1).unwrap();
    let first = fates.first().map_or(registered, |(first, ..)| registered.min(*first));
    let from = workflow.marks.pruned_before.map_or(first, |horizon| horizon.max(first));
    let until = workflow.progress.cursor.unwrap_or(Instant::MAX);
    let known = fates.iter().filter(|(first, last, _)| *last >= from && *first <= until);
    let counts = known.map(|&(first, last, count)| {
        let is_kept = Some(last) <= workflow.marks.rewound_from;
        if first >= from && !is_kept {
            count
        } else {
            count_in(&kept.revisions, first.max(from), last)
        }
    });
    (from, counts.sum())
}

fn check_tokens(kept: &Kept, faults: &mut Vec<Fault>) {
    let mut seen = BTreeSet::new();
    for (run, past) in kept.runs.values() {
        let tokens: Vec<i64> =
            past.iter().chain(&run.attempt).map(|attempt| attempt.token).collect();
        let grows = tokens.windows(2).all(|pair| pair[0] < pair[1]);
        let handed_out = tokens.iter().all(|token| *token <= kept.workflow.progress.last_token);
        if !grows || !handed_out || !tokens.iter().all(|token| seen.insert(*token)) {
            faults.push(Fault::new(Kind::Token, format!("{}: {tokens:?}", run.id())));
        }
        if let Some(open) = past.iter().find(|attempt| attempt.ended.is_none()) {
            let what = format!("{}: the past attempt {} did not end", run.id(), open.token);
            faults.push(Fault::new(Kind::Transition, what));
        }
    }
}

/// A state, and what must be on record beside it.
fn check_state(run: &RunRecord, faults: &mut Vec<Fault>) {
    let outcome = run.attempt.as_ref().map(|attempt| attempt.outcome);
    let (is_open, fits) = match run.state {
        RunState::Pending => (true, outcome != Some(None)),
        RunState::Claimed => (true, outcome == Some(None)),
        RunState::Succeeded => (false, outcome == Some(Some(Outcome::Succeeded))),
        RunState::Failed => (false, outcome == Some(Some(Outcome::Failed))),
        RunState::Abandoned => (false, outcome == Some(Some(Outcome::Expired))),
        RunState::Cancelled => (false, outcome != Some(None)),
    };
    if run.available.is_some() != is_open || !fits {
        faults.push(Fault::new(Kind::Transition, format!("{run:?}")));
    }
}

/// A scheduled run belongs to the revision that holds its occurrence.
fn check_revision(kept: &Kept, run: &RunRecord, faults: &mut Vec<Fault>) {
    let before = |revision: &&Revision| revision.after() < Some(run.key.occurrence);
    let holder = kept.revisions.iter().rev().find(before).map(Revision::number);
    let is_rewound = Some(run.key.occurrence) <= kept.workflow.marks.rewound_from;
    if run.trigger() == Trigger::Schedule && !is_rewound && holder != Some(run.plan.revision) {
        let what = format!("{} has revision {}, not {holder:?}", run.id(), run.plan.revision);
        faults.push(Fault::new(Kind::Stray, what));
    }
}

/// How many occurrences of the revisions lie from `first` to `last`, both counted.
pub(crate) fn count_in(revisions: &[Revision], first: Instant, last: Instant) -> u64 {
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

/// Whether all of a workflow that is due at `now` is settled: what comes next is not due yet.
pub(crate) fn still_to_come(kept: &Kept, now: Instant) -> Result<(), Fault> {
    let settled = kept.workflow.progress.cursor.unwrap_or(kept.workflow.registered);
    let next = kept.timeline.runs_from(settled.checked_add_ms(1).unwrap()).next();
    match next {
        Some(Ok(run)) if run.due <= now => {
            let what = format!("{}: {run:?} was due at {now}", kept.workflow.reference);
            Err(Fault::new(Kind::Lost, what))
        }
        _ => Ok(()),
    }
}
