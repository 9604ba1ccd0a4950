//! Documents by somebody who means harm: each has a clear fault at its place, in bounded memory.

use std::fs;
use std::process::Output;

use serde_json::Value;

use super::shell;

/// So much address space the command gets, in KiB: a fixed multiple of the longest text.
const MEMORY_KIB: usize = 768 * 1024;

/// The longest text that is read.
const TEXT_BYTES: usize = 16 * 1024 * 1024;

/// The forms that keep most, each in its own way.
const HEAVY: [&str; 3] = ["jsonl", "junit", "sarif"];

/// Checks a file, under the limit of memory.
fn validate(file: &str, content: &[u8], form: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(file), content).unwrap();
    let line = format!(
        "ulimit -v {MEMORY_KIB}; exec windowpane validate {file} --format {form} --now 2026-12-01"
    );
    shell(folder.path(), &line).output().unwrap()
}

/// What is told of a file in the first of some forms, which must be `jsonl`. None of them may crash
/// or need too much memory.
#[track_caller]
fn told_in(forms: &[&str], file: &str, content: &[u8]) -> Vec<Value> {
    let mut told = Vec::new();
    for form in forms {
        let output = validate(file, content, form);
        let talk = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1)), "{file} as {form}: {}: {talk}", output.status);
        if *form == "jsonl" {
            let report = String::from_utf8(output.stdout).unwrap();
            told = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(code, Some(i32::from(!told.is_empty())));
        }
    }
    told
}

/// `line:column code` of a diagnostic.
fn place(row: &Value) -> String {
    format!("{}:{} {}", row["line"], row["column"], row["code"].as_str().unwrap())
}

#[track_caller]
fn check(file: &str, content: impl AsRef<[u8]>, expected: &[&str]) {
    let told = told_in(&HEAVY, file, content.as_ref());
    assert_eq!(told.iter().map(place).collect::<Vec<_>>(), expected, "{told:#?}");
    for row in &told {
        let length = row["message"].as_str().unwrap().len();
        assert!(length < 1_000, "a message of {length} bytes");
    }
}

/// As many of `item` as a text of the longest kind holds between `head` and `tail`.
fn full(head: &str, item: &str, tail: &str) -> String {
    let count = (TEXT_BYTES - head.len() - tail.len()) / item.len();
    format!("{head}{}{tail}", item.repeat(count))
}

#[test]
fn deep_nesting() {
    let deep = |open: &str, close: &str| [open.repeat(200_000), close.repeat(200_000)].join("1");
    let schedule = |schedule: &str| format!(r#"{{"ref": "a", "schedule": {schedule}}}"#);
    check("lists.json", schedule(&deep("[", "]")), &["1:26 wrong-type"]);
    check("objects.json", schedule(&deep(r#"{"every":"#, "}")), &["1:1160 syntax"]);
    check("open.json", "[".repeat(200_000), &["1:200000 syntax"]);
    let own = format!(r#"{{"own": {}, "ref": "a", "schedule": false}}"#, deep("[", "]"));
    check("own.json", own, &[]);
}

#[test]
fn long_texts() {
    let text = format!(r#"{{"ref": "a", "schedule": "{}"}}"#, "x".repeat(100_000_000));
    check("long.json", &text, &["1:1 too-large"]);
    // Whoever stands behind it is looked at all the same.
    let lines = format!("{text}\n{{\"ref\": \"b\", \"schedule\": {{\"every\": \"7m\"}}}}\n");
    for file in ["long.jsonl", "long"] {
        check(file, &lines, &["1:1 too-large", "2:36 bad-interval"]);
    }
    check("blank.jsonl", "\n".repeat(100_000_000) + "1", &["100000001:1 no-workflow"]);
}

#[test]
fn long_strings_and_numbers() {
    let every = |head: &str, item: &str, tail: &str| {
        let head = format!(r#"{{"ref": "a", "schedule": {{"every": {head}"#);
        full(&head, item, &format!("{tail}}}}}"))
    };
    check("string.json", every("\"", "x", "\""), &["1:36 bad-duration"]);
    check("escapes.json", every("\"", "\\u001b", "\""), &["1:36 bad-duration"]);
    check("digits.json", every("", "9", ""), &["1:36 syntax"]);
    check("cron.json", every(r#"{"cron": ""#, "1,", "\"}"), &["1:45 bad-cron"]);
    check("ref.json", full(r#"{"ref": ""#, "x", r#"", "schedule": false}"#), &["1:9 bad-ref"]);
    let huge =
        format!(r#"{{"ref": "a", "schedule": {{"every": 1e400, "x": {}}}}}"#, "9".repeat(400));
    check("huge.json", huge, &["1:36 syntax"]);
    let large =
        r#"{"ref": "a", "schedule": {"every": 1e308, "max_attempts": 99999999999999999999}}"#;
    check("large.json", large, &["1:36 wrong-type", "1:59 wrong-type"]);
}

/// humantime 2.4 panics on it.
#[test]
fn a_duration_that_overflows() {
    let text = r#"{"ref": "a", "schedule": {"every": "18446744073709551615s 1000000000ns"}}"#;
    check("a.json", text, &["1:36 bad-duration"]);
}

#[test]
fn bytes_that_are_no_text() {
    check("utf8.json", b"{\"ref\":\n\"\xff\"}", &["2:2 not-utf8"]);
    check("all.json", vec![0xff; TEXT_BYTES], &["1:1 not-utf8"]);
    check("overlong.json", b"{\"ref\": \"\xc0\xaf\"}", &["1:10 not-utf8"]);
    check("mark.json", "\u{feff}{\"ref\": \"a\", \"schedule\": false}", &["1:1 syntax"]);
    check("nul.json", "{\"ref\": \"a\0b\", \"schedule\": false}", &["1:11 syntax"]);
    check("nuls.json", vec![0; TEXT_BYTES], &["1:1 syntax"]);
    check("half.json", r#"{"ref": "\ud800", "schedule": false}"#, &["1:10 syntax"]);
    check("halves.json", r#"{"ref": "\udc00\ud800", "schedule": false}"#, &["1:10 syntax"]);
}

#[test]
fn a_million_keys() {
    let keys: Vec<String> = (0..1_000_000).map(|key| format!("\"k{key:06}\":1")).collect();
    let text = format!(r#"{{"ref": "a", "schedule": {{{}}}}}"#, keys.join(","));
    let told = told_in(&HEAVY, "keys.json", text.as_bytes());
    assert_eq!(told.len(), 100_001);
    assert_eq!(place(&told[0]), "1:27 unknown-key");
    // The one that is missing is counted, too.
    let last = &told[100_000];
    assert_eq!(last["code"], "too-many-faults");
    assert_eq!(last["message"], "there are 900001 faults more, 900001 of them errors");
    let text = format!(r#"{{"ref": "a", "schedule": false, {}}}"#, keys.join(","));
    check("own.json", text, &[]);
}

#[test]
fn a_million_workflows_in_one_project() {
    let workflows: Vec<String> = (0..1_000_000).map(|name| format!("\"{name:x}\":1")).collect();
    let text = format!(r#"{{"workflows": {{{}}}}}"#, workflows.join(","));
    let told = told_in(&HEAVY, "project.json", text.as_bytes());
    let large = told.iter().find(|row| row["code"] == "too-large").unwrap();
    assert_eq!(place(large), "1:2 too-large");
    assert_eq!(large["message"], "a project holds at most 100000 workflows");
    // The others are told as far as they go.
    assert_eq!(place(&told[0]), "1:20 wrong-type");
    assert_eq!(told.iter().filter(|row| row["code"] == "wrong-type").count(), 99_999);
}

#[test]
fn small_values_that_are_large_in_memory() {
    for (head, item, tail) in [
        ("[", "[0],", "0]"),
        ("[", r#"{"":0},"#, "0]"),
        (r#"{"day": {"at": ["#, r#""1","#, r#""1"]}}"#),
        ("{", r#""":[0],"#, r#""":0}"#),
        ("{", r#""":{"":0},"#, r#""":0}"#),
        ("{", r#""":{"":0,"":0},"#, r#""":0}"#),
    ] {
        let head = format!(r#"{{"ref": "a", "schedule": {{"timezone": "UTC", "every": {head}"#);
        let told =
            told_in(&["jsonl"], "a.json", full(&head, item, &format!("{tail}}}}}")).as_bytes());
        assert!(!told.is_empty(), "{item}");
    }
}

/// Each fault repeats the keys on the way to it.
#[test]
fn long_keys_on_the_way_to_many_faults() {
    let keys: Vec<String> = (0..200_000).map(|key| format!("\"{key}\":1")).collect();
    let long = "~".repeat(7 << 20);
    let text = format!(r#"{{"workflows": {{"{long}": {{"schedule": {{{}}}}}}}}}"#, keys.join(","));
    let told = told_in(&HEAVY, "a.json", text.as_bytes());
    assert_eq!(place(&told[0]), "1:16 bad-ref");
    assert_eq!(told.last().unwrap()["code"], "too-many-faults");
    assert!(told.len() < 10, "{} of them are told", told.len());
}

#[test]
fn one_ref_on_very_many_lines() {
    let mut lines = "{\"ref\": \"a\", \"schedule\": false}\n".repeat(200_000);
    lines += "{\"ref\": \"b\", \"schedule\": {\"every\": \"7m\"}}\n{\"ref\": \"b\", \"schedule\": false}\n";
    let told = told_in(&HEAVY, "a.jsonl", lines.as_bytes());
    let places: Vec<String> = told.iter().map(place).collect();
    assert_eq!(places[..2], ["200001:36 bad-interval", "2:9 duplicate-ref"]);
    assert_eq!(
        places[10..],
        ["11:9 duplicate-ref", "200002:9 duplicate-ref", "12:1 too-many-faults"]
    );
    assert_eq!(told[12]["message"], "from here on 199989 refs more are declared twice");
    assert_eq!(told[1]["message"], "`a` is declared twice, first at a.jsonl:1:9");
}
