//! A sample of the worked cases of `fixtures/golden`, through the command.

use std::process::Command;

use serde_json::Value;

/// One case in so many; the library sees them all.
const ONE_IN: usize = 8;

fn sample(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().step_by(ONE_IN).map(|line| serde_json::from_str(line).unwrap())
}

/// What the command prints as JSON for the schedule of a case.
#[track_caller]
fn answer(verb: &str, case: &Value, flags: &[(&str, &str)]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windowpane"));
    command.args([verb, "--format", "json", "--ref", case["ref"].as_str().unwrap()]);
    command.args(["--schedule", &case["schedule"].to_string()]);
    for (flag, key) in flags {
        command.args(case[key].as_str().map(|value| [*flag, value]).into_iter().flatten());
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `rows` cut down to the members that the expected rows have.
fn cut(rows: &Value, expected: &Value) -> Value {
    let members = |row: &Value, like: &Value| -> Value {
        let names = like.as_object().unwrap().keys();
        names.map(|name| (name.clone(), row[name].clone())).collect()
    };
    let (rows, expected) = (rows.as_array().unwrap(), expected.as_array().unwrap());
    assert_eq!(rows.len(), expected.len());
    rows.iter().zip(expected).map(|(row, like)| members(row, like)).collect()
}

#[test]
fn plan() {
    let texts = [
        include_str!("../../../fixtures/golden/plan.jsonl"),
        include_str!("../../../fixtures/golden/cron.jsonl"),
    ];
    for case in texts.into_iter().flat_map(sample) {
        let answer = answer("plan", &case, &[("--from", "from"), ("--to", "to")]);
        assert_eq!(answer["runs"], case["expect"], "{}", case["name"]);
    }
}

#[test]
fn due() {
    for case in sample(include_str!("../../../fixtures/golden/owed.jsonl")) {
        let flags =
            [("--now", "now"), ("--first-seen", "first_seen"), ("--last-settled", "last_settled")];
        let answer = answer("due", &case, &flags);
        let expect = &case["expect"];
        assert_eq!(cut(&answer["runs"], &expect["run"]), expect["run"], "{}", case["name"]);
        assert_eq!(
            cut(&answer["skipped"], &expect["skipped"]),
            expect["skipped"],
            "{}",
            case["name"]
        );
    }
}
