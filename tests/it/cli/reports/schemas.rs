//! Reports against the public schemas of their forms.

use std::collections::BTreeSet;
use std::fs;

use jsonschema::{Validator, validator_for};
use serde_json::{Value, json};

use super::folder::faulty;
use super::{report, validate};

/// The schema of SARIF 2.1.0 by OASIS, as the crate `serde-sarif` 0.8.0 (MIT licence) ships it.
const SARIF: &str = include_str!("../../../../fixtures/validate/sarif-2.1.0.schema.json");

/// What GitLab documents of its code quality reports. Its own schema is in no package, and asks
/// for less.
fn gitlab() -> Value {
    let place = json!({ "type": "integer", "minimum": 1 });
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "description": { "type": "string", "minLength": 1 },
                "check_name": { "type": "string", "minLength": 1 },
                "fingerprint": { "type": "string", "minLength": 1 },
                "severity": { "enum": ["info", "minor", "major", "critical", "blocker"] },
                "location": {
                    "type": "object",
                    "required": ["path", "lines"],
                    "properties": {
                        "path": { "type": "string", "pattern": "^[^./]" },
                        "lines": { "required": ["begin"], "properties": { "begin": place } },
                        "positions": { "properties": { "begin": {
                            "required": ["line"], "properties": { "line": place, "column": place },
                        } } },
                    },
                },
            },
        },
    })
}

#[track_caller]
fn check(validator: &Validator, report: &str) {
    let report: Value = serde_json::from_str(report).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// A report on nothing but good documents.
#[track_caller]
fn clean(form: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.json"), r#"{"ref": "good", "schedule": false}"#).unwrap();
    let output = validate(folder.path(), &format!("good.json --format {form}"));
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn sarif_is_valid() {
    // As published, two patterns close a bracket that they never opened.
    let schema: Value = serde_json::from_str(&SARIF.replace("{2}]?$", "{2}\\\\]?$")).unwrap();
    let validator = validator_for(&schema).unwrap();
    check(&validator, &clean("sarif"));
    let (folder, marked) = faulty();
    let report = report(folder.path(), "sarif");
    check(&validator, &report);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["runs"][0]["results"].as_array().unwrap().len(), marked.len());
    let wrong = json!({ "version": "2.1.0", "runs": [{ "tool": {} }] });
    assert!(!validator.is_valid(&wrong), "the schema refuses nothing");
}

#[test]
fn what_code_scanning_asks_for_is_there() {
    let (folder, _) = faulty();
    let report: Value = serde_json::from_str(&report(folder.path(), "sarif")).unwrap();
    for rule in report["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap() {
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[text]["text"].is_string(), "{text} of {}", rule["id"]);
        }
        assert!(rule["defaultConfiguration"]["level"].is_string());
    }
    let results = report["runs"][0]["results"].as_array().unwrap();
    let fingerprints: BTreeSet<&str> = results
        .iter()
        .map(|result| result["partialFingerprints"]["windowpane/v1"].as_str().unwrap())
        .collect();
    assert_eq!(fingerprints.len(), results.len());
}

#[test]
fn gitlab_is_valid() {
    let validator = validator_for(&gitlab()).unwrap();
    assert_eq!(clean("gitlab"), "[]\n");
    let (folder, _) = faulty();
    let report = report(folder.path(), "gitlab");
    assert!(report.starts_with('['), "GitLab takes no byte order mark");
    check(&validator, &report);
}

/// What an issue is called must not change with the release: else it is opened once more.
#[test]
fn fingerprints_stay_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let write = |lead: &str| {
        let text = format!("{lead}{{\"ref\": \"a\", \"schedule\": {{\"every\": \"7m\"}}}}");
        fs::write(folder.path().join("a.json"), text).unwrap();
        let report: Value = serde_json::from_str(&report(folder.path(), "gitlab")).unwrap();
        report[0]["fingerprint"].as_str().unwrap().to_owned()
    };
    let fingerprint = write("");
    assert_eq!(fingerprint, "75b6c7eeff4ed5ee0001");
    assert_eq!(fingerprint, write("\n\n"), "it moves with the line");
}

/// A file of many workflows is more than one suite, and each counts its own.
#[test]
fn junit_suites_count_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let line = |number: usize| {
        let every = if number.is_multiple_of(2) { "7m" } else { "5m" };
        format!("{{\"ref\": \"{number}\", \"schedule\": {{\"every\": \"{every}\"}}}}\n")
    };
    fs::write(folder.path().join("a.jsonl"), (0..10_000).map(line).collect::<String>()).unwrap();
    let report = report(folder.path(), "junit");
    let suites: Vec<&str> = report.split("<testsuite ").skip(1).collect();
    assert!(suites.len() > 1, "one suite holds them all");
    let (mut tests, mut failures) = (0, 0);
    for suite in suites {
        let count = |name: &str| -> usize {
            let (_, rest) = suite.split_once(&format!(" {name}=\"")).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        assert_eq!(suite.matches("<testcase ").count(), count("tests"));
        assert_eq!(suite.matches("<failure ").count(), count("failures"));
        (tests, failures) = (tests + count("tests"), failures + count("failures"));
    }
    assert_eq!((tests, failures), (10_000, 5_000));
}
