//! The audit after a storm: what every process was told against what is on record.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs;

use windowpane::clock::{Clock, FixedClock};
use windowpane::engine;
use windowpane::store::RunId;
use windowpane::store::record::{Attempt, Outcome, RunRecord, RunState};
use windowpane::store::sqlite::SqliteStore;
use windowpane::time::Instant;

use crate::account::{self, Kept, Kind, Snapshot};
use crate::faults::drain;

use super::worker::{ALONE, PRUNED, Place};

/// What was seen; a storm in which one of these is zero proves nothing.
const SEEN: [&str; 13] = [
    "occurrences",
    "hand-outs",
    "again",
    "succeeded",
    "failed",
    "released",
    "fenced",
    "edits",
    "requested",
    "cancelled",
    "skipped",
    "pruned",
    "moved",
];
/// What must not be.
const BAD: [&str; 7] = ["lost", "twice", "stray", "together", "tokens", "unsaid", "findings"];

/// Counts by column, and the first things that are wrong.
#[derive(Default)]
pub(super) struct Table {
    counts: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
}

impl Table {
    fn add(&mut self, column: &'static str, count: u64) {
        *self.counts.entry(column).or_default() += count;
    }

    fn wrong(&mut self, column: &'static str, what: impl fmt::Display) {
        self.add(column, 1);
        self.wrong.push(format!("{column}: {what}"));
    }

    fn count(&self, column: &str) -> u64 {
        self.counts.get(column).copied().unwrap_or(0)
    }

    /// Zero in every bad column, and something in every other.
    pub(super) fn check(&self) {
        let bad: u64 = BAD.iter().map(|column| self.count(column)).sum();
        assert_eq!(bad, 0, "{}", self.wrong[..self.wrong.len().min(9)].join("\n"));
        let missing = SEEN.iter().find(|column| self.count(column) == 0);
        assert_eq!(missing, None, "nothing was seen of it, so the storm proves nothing");
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for columns in [&SEEN[..], &BAD[..]] {
            columns.iter().try_for_each(|column| write!(f, "{column:>12}"))?;
            writeln!(f)?;
            columns.iter().try_for_each(|column| write!(f, "{:>12}", self.count(column)))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Audits the store as the storm left it, and once more when everything has come to its end.
pub(super) fn audit(place: &Place) -> Table {
    let mut table = Table::default();
    let mut store = SqliteStore::open(&place.store()).unwrap();
    let left = Snapshot::read(&mut store, &Snapshot::default());
    check_store(&mut store, &left, &mut table);
    check_answers(place, &left, &mut table);
    drain(&mut store, place.now().checked_add_ms(3_600_000).unwrap());
    let drained = Snapshot::read(&mut store, &left);
    check_store(&mut store, &drained, &mut table);
    check_answers(place, &drained, &mut table);
    check_drained(&drained, &mut store, &mut table);
    count_seen(place, &drained, &mut table);
    table
}

fn check_store(store: &mut SqliteStore, snapshot: &Snapshot, table: &mut Table) {
    let against_schedules = engine::verify(store, &FixedClock(Instant::MAX)).unwrap();
    for finding in store.verify().unwrap().into_iter().chain(against_schedules) {
        table.wrong("findings", finding);
    }
    for fault in account::faults(snapshot) {
        let column = match fault.kind {
            Kind::Lost => "lost",
            Kind::Twice => "twice",
            Kind::Token => "tokens",
            Kind::Together => "together",
            Kind::Stray | Kind::Transition | Kind::Forbidden => "stray",
        };
        table.wrong(column, fault);
    }
    for kept in snapshot.workflows.values() {
        check_leases(kept, table);
    }
}

/// An attempt, from its hand-out to its end.
type Span<'a> = (Instant, Instant, &'a Attempt);

/// No two attempts at one occurrence at once, whatever their triggers; where runs do not overlap,
/// no two at all.
fn check_leases(kept: &Kept, table: &mut Table) {
    let mut spans: BTreeMap<Option<Instant>, Vec<Span<'_>>> = BTreeMap::new();
    for (run, past) in kept.runs.values() {
        let is_alone = kept.workflow.reference == ALONE;
        let place = (!is_alone).then_some(run.key.occurrence);
        for attempt in past.iter().chain(&run.attempt) {
            let end = attempt.ended.or(run.available).unwrap_or(Instant::MAX);
            spans.entry(place).or_default().push((attempt.claimed, end, attempt));
        }
    }
    for spans in spans.values_mut() {
        spans.sort_by_key(|(_, _, attempt)| attempt.token);
        for pair in spans.windows(2).filter(|pair| pair[0].1 > pair[1].0) {
            table.wrong("together", format!("{}: {pair:?}", kept.workflow.reference));
        }
    }
}

/// Every answer that a process was given holds.
fn check_answers(place: &Place, snapshot: &Snapshot, table: &mut Table) {
    let mut leases: HashMap<(String, i64), i64> = HashMap::new();
    for (worker, line) in answers(place) {
        let words: Vec<&str> = line.split(' ').collect();
        let holds = match words[..] {
            ["requested", reference, id, made] => {
                let kept = &snapshot.workflows[reference];
                let runs = kept.runs.keys().filter(|key| key.request_id == id).count();
                let request = kept.requests.iter().find(|request| request.id == id);
                request.is_some_and(|request| made == (runs + request.pruned.len()).to_string())
            }
            ["pruned", reference, horizon_ms] => {
                let marks = snapshot.workflows[reference].workflow.marks;
                marks.pruned_before >= Some(instant(horizon_ms))
            }
            ["moved", reference, cursor_ms] => {
                let cursor = snapshot.workflows[reference].workflow.progress.cursor;
                cursor_ms == i64::MIN.to_string() || cursor >= Some(instant(cursor_ms))
            }
            ["synced", reference, revision] => {
                let rows = snapshot.workflows[reference].rows.len();
                revision.parse::<usize>().unwrap() <= rows
            }
            // Of what is pruned nothing is on record.
            [_, id, ..] if is_pruned(snapshot, id) => true,
            ["cancelled", id, ..] => {
                run_with(snapshot, id).is_some_and(|(run, _)| run.state == RunState::Cancelled)
            }
            [word, id, token, ref instants @ ..] => {
                let instants: Vec<i64> = instants.iter().map(|ms| ms.parse().unwrap()).collect();
                let token: i64 = token.parse().unwrap();
                let lease = leases.entry((id.to_owned(), token)).or_default();
                if matches!(word, "claimed" | "extended") {
                    *lease = instants.last().copied().unwrap();
                }
                let found = run_with(snapshot, id).and_then(|found| attempt(found, token));
                found.is_some_and(|found| {
                    found.worker == worker && is_true(word, found, &instants, *lease)
                })
            }
            _ => panic!("{line}"),
        };
        if !holds {
            table.wrong("unsaid", format!("{worker} was told: {line}"));
        }
    }
}

/// Whether what a process was told of an attempt is on record, and its lease was not cut short.
fn is_true(word: &str, found: &Attempt, instants: &[i64], lease_ms: i64) -> bool {
    let is_cut = found.outcome == Some(Outcome::Expired) && found.ended.unwrap().as_ms() < lease_ms;
    let outcome = found.outcome.map(Outcome::as_str);
    !is_cut
        && match word {
            "claimed" => found.claimed.as_ms() == instants[0],
            "succeeded" | "failed" | "released" => outcome == Some(word),
            _ => true,
        }
}

fn instant(ms: &str) -> Instant {
    Instant::from_ms(ms.parse().unwrap()).unwrap()
}

/// Whether the records of a run may have been pruned.
fn is_pruned(snapshot: &Snapshot, id: &str) -> bool {
    let id: RunId = id.parse().unwrap();
    let horizon = snapshot.workflows[&id.reference].workflow.marks.pruned_before;
    PRUNED.contains(&&*id.reference) && horizon.is_some_and(|horizon| id.occurrence < horizon)
}

fn run_with<'s>(snapshot: &'s Snapshot, id: &str) -> Option<(&'s RunRecord, &'s [Attempt])> {
    let id: RunId = id.parse().unwrap();
    let runs = &snapshot.workflows.get(&id.reference)?.runs;
    let mut found = runs.values().filter(|(run, _)| {
        run.key.occurrence == id.occurrence && run.key.request_id == id.request_id
    });
    found.next().map(|(run, past)| (run, past.as_slice()))
}

fn attempt<'s>((run, past): (&'s RunRecord, &'s [Attempt]), token: i64) -> Option<&'s Attempt> {
    past.iter().chain(&run.attempt).find(|attempt| attempt.token == token)
}

/// Every line of every log, with the name of its process. A line without its end was not said.
fn answers(place: &Place) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for entry in fs::read_dir(place.acks()).unwrap() {
        let path = entry.unwrap().path();
        let worker = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        answers.extend(lines.map(|line| (worker.clone(), line.to_owned())));
    }
    answers
}

/// Nothing is open, and nothing that is due is unsettled.
fn check_drained(snapshot: &Snapshot, store: &mut SqliteStore, table: &mut Table) {
    let last = snapshot.runs().filter_map(|run| run.attempt.as_ref()?.ended).max();
    let now = last.unwrap_or(Instant::MIN);
    for run in snapshot.runs().filter(|run| run.available.is_some()) {
        table.wrong("lost", format!("{run:?} is still open"));
    }
    for kept in snapshot.workflows.values() {
        if let Err(fault) = account::still_to_come(kept, now) {
            table.wrong("lost", fault);
        }
    }
    let due = engine::due(store, &FixedClock(now)).unwrap();
    due.runs.iter().for_each(|run| table.wrong("lost", format!("{run:?} is still owed")));
}

fn count_seen(place: &Place, snapshot: &Snapshot, table: &mut Table) {
    for kept in snapshot.workflows.values() {
        table.add("occurrences", account::settled(kept).1);
        table.add("skipped", kept.skips.iter().map(|skip| skip.count).sum());
        table.add("edits", kept.rows.len() as u64 - 1);
        for (run, past) in kept.runs.values() {
            let attempts = past.len() as u64 + u64::from(run.attempt.is_some());
            table.add("hand-outs", attempts);
            table.add("again", attempts.saturating_sub(1));
            table.add("requested", u64::from(!run.key.request_id.is_empty()));
            table.add("cancelled", u64::from(run.state == RunState::Cancelled));
        }
    }
    for (_, line) in answers(place) {
        let seen = SEEN.iter().find(|column| line.starts_with(**column));
        seen.filter(|column| {
            ["succeeded", "failed", "released", "fenced", "pruned", "moved"].contains(column)
        })
        .into_iter()
        .for_each(|column| table.add(column, 1));
    }
}
