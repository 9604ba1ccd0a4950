//! Polls that are killed, that meet, that wait, and that have more to say than the host takes.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use windowpane::apiary::{RESPONSE_LIMIT_BYTES, exchange};
use windowpane::clock::FixedClock;

use crate::cli::{output, shell};

/// A folder with `poll.json`, a poll of these routines.
fn folder(max_per_poll: u32, routines: &Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let request = json!({
        "protocol": 1, "request_id": "x", "capability": "source", "method": "poll",
        "config": {
            "state_file": folder.path().join("state.json"),
            "max_per_poll": max_per_poll,
            "routines": routines,
        },
    });
    fs::write(folder.path().join("poll.json"), request.to_string()).unwrap();
    folder
}

/// A poll that has begun.
fn begin(folder: &Path, now: &str) -> Child {
    shell(folder, &format!("exec windowpane-apiary --now {now} < poll.json"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The ids that an answer emits.
#[track_caller]
fn ids(answer: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(answer).unwrap();
    let items = answer["result"]["items"].as_array().unwrap_or_else(|| panic!("{answer}"));
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

fn poll(folder: &Path, now: &str) -> Vec<String> {
    ids(&output(folder, &format!("windowpane poll --now {now} < poll.json")))
}

#[test]
fn a_poll_that_is_killed_before_its_answer_skips_and_never_doubles() {
    // An answer that no pipe holds, so that the poll is still writing it when it is killed.
    let long = "\u{1}".repeat(99_000); // six bytes each as JSON
    let routine = |id| json!({"id": id, "schedule": "0 * * * *", "description": long});
    let folder = folder(6, &["a", "b", "c", "d", "e", "f"].map(routine).into());
    assert!(poll(folder.path(), "2026-03-02T00:30:00Z").is_empty());

    let mut child = begin(folder.path(), "2026-03-02T01:30:00Z");
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    let state = fs::read_to_string(folder.path().join("state.json")).unwrap();
    let emitted = state.matches(r#""last_emitted": "2026-03-02T01:00:00Z""#).count();
    assert_eq!(emitted, 6, "{state}");
    child.kill().unwrap();
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert!(!child.wait().unwrap().success() && !rest.ends_with('\n'), "it was not cut off");

    assert!(poll(folder.path(), "2026-03-02T01:30:00Z").is_empty(), "01:00 came twice");
    let next = poll(folder.path(), "2026-03-02T02:30:00Z");
    assert_eq!(next, ["a", "b", "c", "d", "e", "f"].map(|id| format!("{id}@2026-03-02T02:00:00Z")));
}

#[test]
fn ten_polls_at_once_emit_each_occurrence_once() {
    let routines = json!([
        {"id": "all", "schedule": "*/10 * * * *", "catch_up": true},
        {"id": "more", "schedule": "*/20 * * * *", "catch_up": true},
        {"id": "newest", "schedule": "0 * * * *"},
    ]);
    let folder = folder(3, &routines);
    poll(folder.path(), "2026-03-02T00:00:00Z");
    let polls: Vec<Child> = (0..10).map(|_| begin(folder.path(), "2026-03-02T03:00:00Z")).collect();
    let mut emitted = Vec::new();
    for child in polls {
        let answer = child.wait_with_output().unwrap();
        assert!(answer.status.success());
        emitted.extend(ids(&String::from_utf8(answer.stdout).unwrap()));
    }
    let at = |minute: u32| format!("2026-03-02T{:02}:{:02}:00Z", minute / 60, minute % 60);
    let every = |id: &str, step: u32| {
        (1..=180 / step).map(|turn| format!("{id}@{}", at(turn * step))).collect::<Vec<_>>()
    };
    let expected: BTreeSet<String> =
        [every("all", 10), every("more", 20), vec![format!("newest@{}", at(180))]]
            .into_iter()
            .flatten()
            .collect();
    assert_eq!(emitted.len(), expected.len(), "{emitted:?}");
    assert_eq!(emitted.into_iter().collect::<BTreeSet<_>>(), expected);
    let state: Value =
        serde_json::from_slice(&fs::read(folder.path().join("state.json")).unwrap()).unwrap();
    assert_eq!(state["routines"]["all"]["emitted_count"], 18, "an update was lost");
}

#[test]
fn a_poll_that_finds_the_state_locked_gives_up() {
    let folder = folder(5, &json!([{"id": "a", "schedule": "0 * * * *"}]));
    let lock = fs::File::create(folder.path().join("state.json.lock")).unwrap();
    lock.lock().unwrap();
    let request = fs::read(folder.path().join("poll.json")).unwrap();
    let answer = |patience_ms| {
        let clock = FixedClock("2026-03-02T00:00:00Z".parse().unwrap());
        String::from_utf8(exchange(&request, &clock, patience_ms).unwrap()).unwrap()
    };
    let refused = answer(1);
    assert!(refused.contains(r#""code":"poll_failed""#), "{refused}");
    assert!(refused.contains("another poll has held"), "{refused}");
    assert!(!folder.path().join("state.json").exists());
    drop(lock);
    assert!(ids(&answer(1)).is_empty());
    assert!(folder.path().join("state.json").exists());
}

#[test]
fn what_the_host_would_not_take_stays_for_the_next_poll() {
    let long = "\u{1}".repeat(99_000); // six bytes each as JSON
    let routine =
        json!([{"id": "a", "schedule": "0 * * * *", "catch_up": true, "description": long}]);
    let folder = folder(100, &routine);
    poll(folder.path(), "2026-03-02T00:00:00Z");
    let mut emitted = Vec::new();
    loop {
        let line = "windowpane poll --now 2026-03-03T00:00:00Z < poll.json";
        let answer = output(folder.path(), line);
        assert!(answer.len() <= RESPONSE_LIMIT_BYTES, "{} bytes", answer.len());
        let some = ids(&answer);
        if some.is_empty() {
            break;
        }
        emitted.extend(some);
    }
    let expected: Vec<String> = (1..=24)
        .map(|hour| format!("a@2026-03-{:02}T{:02}:00:00Z", 2 + hour / 24, hour % 24))
        .collect();
    assert_eq!(emitted, expected);
}
