//! A sample of the worked cases of `fixtures/golden`, through the command.

use std::process::Command;

use serde_json::{Value, json};

/// One case in this many goes through the command; all go through the library.
const SAMPLE: usize = 8;

fn sample(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().step_by(SAMPLE).map(|line| serde_json::from_str(line).unwrap())
}

/// The answer of a command as JSON, about the schedule and ref of `case`.
#[track_caller]
fn answer(case: &Value, command: &str, options: &[(&str, &Value)]) -> Value {
    let mut line = Command::new(env!("CARGO_BIN_EXE_windowpane"));
    line.env_clear().args([command, "--format", "json"]);
    line.args(["--ref", case["ref"].as_str().unwrap()]);
    line.args(["--schedule", &case["schedule"].to_string()]);
    for (flag, value) in options.iter().filter(|(_, value)| !value.is_null()) {
        line.args([flag, value.as_str().unwrap()]);
    }
    let output = line.output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {talk}", case["name"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Objects with those keys only that a worked case has.
fn like(rows: &Value, expected: &Value) -> Value {
    let keys = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let Some(keys) = expected.as_array().unwrap().first().map(keys) else { return rows.clone() };
    let row = |row: &Value| keys.iter().map(|key| (key.clone(), row[key].clone())).collect();
    Value::from_iter(rows.as_array().unwrap().iter().map(row).map(Value::Object))
}

#[test]
fn plans_are_as_worked() {
    let plans = include_str!("../../../fixtures/golden/plan.jsonl");
    let crons = include_str!("../../../fixtures/golden/cron.jsonl");
    for case in sample(plans).chain(sample(crons)) {
        let span = [("--from", &case["from"]), ("--to", &case["to"])];
        let runs = &answer(&case, "plan", &span)["runs"];
        assert_eq!(like(runs, &case["expect"]), case["expect"], "{}", case["name"]);
    }
}

#[test]
fn what_is_owed_is_as_worked() {
    for case in sample(include_str!("../../../fixtures/golden/owed.jsonl")) {
        let position = [
            ("--now", &case["now"]),
            ("--first-seen", &case["first_seen"]),
            ("--last-settled", &case["last_settled"]),
        ];
        let due = answer(&case, "due", &position);
        let expected = &case["expect"];
        let owed = json!({
            "run": like(&due["runs"], &expected["run"]),
            "skipped": like(&due["skipped"], &expected["skipped"]),
        });
        assert_eq!(owed, *expected, "{}", case["name"]);
    }
}
