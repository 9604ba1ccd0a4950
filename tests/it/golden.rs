//! The worked cases of `fixtures/golden`, on which two independent programs agree, through the
//! library.

use serde_json::{Value, json};
use windowpane::plan::{self, Position, Revision, Run, Skip, Timeline};
use windowpane::schedule::{Reference, Schedule};
use windowpane::store::RunId;
use windowpane::time::Instant;

fn cases(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn instant(value: &Value) -> Instant {
    value.as_str().unwrap().parse().unwrap()
}

fn schedule_of(case: &Value) -> (Reference, Schedule) {
    let reference = Reference::new(case["ref"].as_str().unwrap()).unwrap();
    (reference, crate::schedule(&case["schedule"].to_string()))
}

fn timeline(reference: &Reference, schedule: &Schedule) -> Timeline {
    Timeline::new(&[Revision::new(reference, 1, None, Some(schedule.definition.clone()))])
}

fn run_row(reference: &Reference, run: Run) -> Value {
    let id = RunId {
        reference: reference.to_string(),
        occurrence: run.occurrence,
        request_id: String::new(),
    };
    json!({
        "id": id.to_string(),
        "ref": reference.as_str(),
        "occurrence": run.occurrence.to_string(),
        "due": run.due.to_string(),
        "window_start": run.window.start.to_string(),
        "window_end": run.window.end.to_string(),
        "interval_ms": run.interval_ms,
        "phase_ms": run.phase_ms,
    })
}

fn skip_row(skip: &Skip) -> Value {
    json!({
        "first": skip.first.to_string(),
        "last": skip.last.to_string(),
        "count": skip.count,
        "reason": skip.reason.as_str(),
    })
}

#[track_caller]
fn check_plan(case: &Value) {
    let (reference, schedule) = schedule_of(case);
    let timeline = timeline(&reference, &schedule);
    let (from, to) = (instant(&case["from"]), instant(&case["to"]));
    let runs = timeline.runs(from, to).map(|run| run_row(&reference, run.unwrap()));
    assert_eq!(Value::from_iter(runs), case["expect"], "{}", case["name"]);

    let sentence = schedule.describe();
    let is_sentence = sentence.ends_with('.') && sentence.matches(". ").count() == 0;
    assert!(is_sentence && !sentence.contains(",,"), "{sentence}");

    let cadence = schedule.definition.cadence();
    let expected = case["expect"].as_array().unwrap();
    assert_eq!(cadence.count(from, to), expected.len() as u64, "count, {}", case["name"]);
    let backward =
        cadence.occurrences(from, to).rev().map(|occurrence| json!(occurrence.to_string()));
    let reversed = expected.iter().rev().map(|row| row["occurrence"].clone());
    assert!(backward.eq(reversed), "backward, {}", case["name"]);
}

#[track_caller]
fn check_owed(case: &Value) {
    let (reference, schedule) = schedule_of(case);
    let timeline = timeline(&reference, &schedule);
    let cursor = Some(&case["last_settled"]).filter(|cursor| !cursor.is_null()).map(instant);
    let position = Position { cursor, registered: instant(&case["first_seen"]) };
    let plan = plan::owed(&timeline, &schedule.policies, position, instant(&case["now"]));
    let runs: Vec<Value> =
        plan.runs(&timeline).map(|run| run_row(&reference, run.unwrap())).collect();
    let owed = plan.owed.map_or(0, |owed| owed.count);
    assert_eq!(owed, runs.len() as u64, "count of owed, {}", case["name"]);
    let skipped = Value::from_iter(plan.skipped.iter().map(skip_row));
    assert_eq!(json!({ "run": runs, "skipped": skipped }), case["expect"], "{}", case["name"]);
}

#[test]
fn plans_are_as_worked() {
    let text = include_str!("../../fixtures/golden/plan.jsonl");
    assert_eq!(cases(text).map(|case| check_plan(&case)).count(), 223);
}

#[test]
fn what_is_owed_is_as_worked() {
    let text = include_str!("../../fixtures/golden/owed.jsonl");
    assert_eq!(cases(text).map(|case| check_owed(&case)).count(), 164);
}

#[test]
fn cron_plans_are_as_worked() {
    let text = include_str!("../../fixtures/golden/cron.jsonl");
    assert_eq!(cases(text).map(|case| check_plan(&case)).count(), 72);
}
