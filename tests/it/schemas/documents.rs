//! The JSON Schemas of documents against the reader, in both directions.

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;
use windowpane::schedule::{Fault, Form, Severity, read_documents};
use windowpane::time::Zone;

use super::{root, schema};
use crate::setting;

/// The schemas of documents.
struct Schemas {
    workflow: Validator,
    project: Validator,
    schedule: Validator,
}

impl Schemas {
    fn new() -> Schemas {
        let validator = |name| jsonschema::draft202012::new(&schema(name)).unwrap();
        Schemas {
            workflow: validator("workflow"),
            project: validator("project"),
            schedule: validator("schedule"),
        }
    }

    /// Whether a document is one by its schema.
    fn accept(&self, document: &Value) -> bool {
        let is_project = document.get("workflows").is_some();
        let validator = if is_project { &self.project } else { &self.workflow };
        let accepts = validator.is_valid(document);
        if let (false, Some(schedule)) = (is_project, document.get("schedule")) {
            let is_ref_right = document.get("ref").is_none() || accepts;
            if is_ref_right {
                assert_eq!(self.schedule.is_valid(schedule), accepts, "{document}");
            }
        }
        accepts
    }
}

/// The errors that the reader finds.
fn errors(text: &str) -> Vec<Fault> {
    let read = read_documents(text, Form::Json, None);
    let inside = read.documents.into_iter().flat_map(|document| document.faults);
    let all = read.faults.into_iter().chain(inside);
    all.filter(|fault| fault.severity() == Severity::Error).collect()
}

/// What only the reader refuses, written down.
struct OnlyTheReader {
    entries: Vec<Value>,
}

impl OnlyTheReader {
    fn read() -> OnlyTheReader {
        let text = fs::read_to_string(root("fixtures/schemas/only-the-reader.jsonl")).unwrap();
        let entries = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        OnlyTheReader { entries }
    }

    fn names(&self, fault: &Fault) -> bool {
        self.entries.iter().any(|entry| {
            entry["code"] == fault.code.as_str()
                && fault.message.contains(entry["says"].as_str().unwrap())
        })
    }
}

/// Holds reader and schema together over one text. Says whether both accept it.
#[track_caller]
fn check(text: &str, schemas: &Schemas, only: &OnlyTheReader) -> bool {
    let Ok(document) = serde_json::from_str::<Value>(text) else { return false };
    let errors = errors(text);
    let is_accepted = schemas.accept(&document);
    if errors.is_empty() {
        assert!(is_accepted, "only the schema refuses {text}");
    } else if is_accepted {
        for fault in &errors {
            assert!(only.names(fault), "only the reader refuses {text}: {fault:?}");
        }
    }
    errors.is_empty()
}

#[test]
fn what_is_on_the_list_only_the_reader_refuses() {
    let (schemas, only) = (Schemas::new(), OnlyTheReader::read());
    for entry in &only.entries {
        let text = entry["text"].as_str().unwrap();
        assert!(schemas.accept(&serde_json::from_str(text).unwrap()), "{}", entry["why"]);
        let errors = errors(text);
        assert_eq!(errors.len(), 1, "{}: {errors:?}", entry["why"]);
        assert_eq!(entry["code"], errors[0].code.as_str(), "{}", entry["why"]);
        assert!(errors[0].message.contains(entry["says"].as_str().unwrap()), "{errors:?}");
    }
}

#[test]
fn fixtures_mean_the_same_to_reader_and_schema() {
    let (schemas, only) = (Schemas::new(), OnlyTheReader::read());
    let mut accepted = 0;
    for name in ["plan", "owed", "cron"] {
        let text = fs::read_to_string(root(&format!("fixtures/golden/{name}.jsonl"))).unwrap();
        for line in text.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let document = serde_json::json!({ "ref": "x", "schedule": case["schedule"] });
            accepted += u32::from(check(&document.to_string(), &schemas, &only));
        }
    }
    assert!(accepted > 400);
    for entry in fs::read_dir(root("fixtures/examples")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(check(&text, &schemas, &only), "{text}");
    }
    let faulty = fs::read_to_string(root("fixtures/diagnostics/faulty.documents")).unwrap();
    for block in faulty.split("\n\n") {
        let lines: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("| ")).collect();
        check(&lines.join("\n"), &schemas, &only);
    }
}

/// Values that are right or wrong somewhere in a schedule.
const DURATIONS: &[&str] = &[
    r#""0s""#,
    r#""5m""#,
    r#""7m""#,
    r#""1h 30m""#,
    r#""90 minutes""#,
    r#""1w""#,
    r#""1500ms""#,
    r#""3660d""#,
    r#""3661d""#,
    r#""000000000001s""#,
    r#""0000000000001s""#,
    r#""1h1hr""#,
    r#""5m 5ms""#,
    r#""5ms5s""#,
    r#""1m1min""#,
    r#""1.5h""#,
    r#""1M""#,
    r#""5 ""#,
    r#"" 5m""#,
    r#""5  m""#,
    r#""5\u00a0m""#,
    r#""5m\n""#,
    r#""1d2h3m4s5ms6w""#,
    r#""-5m""#,
    r#""""#,
    "5",
    "null",
];
const TIMES: &[&str] = &[
    r#""00:00""#,
    r#""23:59:59""#,
    r#""24:00""#,
    r#""7:00""#,
    r#""07:00:60""#,
    r#""07:00\n""#,
    r#"["07:00", "08:00"]"#,
    r#"["07:00", "07:00"]"#,
    r#"["07:00", "07:00:00"]"#,
    "[]",
    "7",
    "null",
];
const ONS: &[&str] = &[
    r#""monday""#,
    r#""Monday""#,
    r#"["monday", "sunday"]"#,
    r#"["monday", "monday"]"#,
    "1",
    "31",
    "32",
    "0",
    "12.0",
    r#""last""#,
    r#"[1, "last", 31]"#,
    r#"[1, 1]"#,
    "[]",
    r#""1""#,
];
const CRONS: &[&str] = &[
    r#""* * * * *""#,
    r#""*/5 9-17 * * mon-fri""#,
    r#"" 0\t2 1,15 JAN-mar/2 7 ""#,
    r#""0005 0 031 012 0007""#,
    r#""00005 0 * * *""#,
    r#""*/0 * * * *""#,
    r#""*/9999 * * * *""#,
    r#""*/10000 * * * *""#,
    r#""5/15 * * * *""#,
    r#""0 22-2 * * *""#,
    r#""0 0 30 2 *""#,
    r#""0 0 L * *""#,
    r#""0 0 * * 1#2""#,
    r#""0 0 ? * 1""#,
    r#""60 0 * * *""#,
    r#""0 24 * * *""#,
    r#""0 0 0 * *""#,
    r#""0 0 * 13 *""#,
    r#""0 0 * * 8""#,
    r#""0 0 * *""#,
    r#""0 0 * * * *""#,
    r#""0,,1 0 * * *""#,
    r#""@daily""#,
    r#""@Daily""#,
    r#""@reboot""#,
    "5",
];

/// A random schedule, right or wrong.
struct Author {
    random: fastrand::Rng,
}

impl Author {
    fn any(&mut self, values: &[&str]) -> String {
        (*self.random.choice(values).unwrap()).to_owned()
    }

    fn every(&mut self) -> String {
        let (at, on) = (self.any(TIMES), self.any(ONS));
        match self.random.usize(0..9) {
            0..3 => self.any(DURATIONS),
            3 => format!(r#"{{"day": {{"at": {at}}}}}"#),
            4 => format!(r#"{{"week": {{"on": {on}, "at": {at}}}}}"#),
            5 => format!(r#"{{"month": {{"on": {on}}}}}"#),
            6 => format!(r#"{{"cron": {}}}"#, self.any(CRONS)),
            7 => self.any(&["{}", r#"{"day": {}, "week": {"on": "monday"}}"#, "[]", "true"]),
            _ => self.any(&[r#"{"day": {}}"#, r#"{"week": {}}"#, r#"{"dya": {}}"#]),
        }
    }

    fn member(&mut self) -> String {
        let duration = self.any(DURATIONS);
        match self.random.usize(0..10) {
            0 => format!(r#""delay": {duration}"#),
            1 => format!(r#""window": {duration}"#),
            2 => {
                let zones = ["\"UTC\"", "\"utc\"", "\"Europe/Kiev\"", "\"Factory\"", "\"\"", "1"];
                format!(r#""timezone": {}"#, self.any(&zones))
            }
            3 => match self.random.usize(0..4) {
                0 => format!(r#""phase": {{"fixed": {duration}}}"#),
                1 => format!(r#""phase": {{"spread": {{"max": {duration}}}}}"#),
                2 => r#""phase": {"spread": {}}"#.to_owned(),
                _ => r#""phase": {"spread": {}, "fixed": "0s"}"#.to_owned(),
            },
            4 => {
                let limit = self.any(&["1", "100000", "100001", "0", "-1", "1.0", "1e1", "\"1\""]);
                let ages = ["", r#""max_age": "1h", "#, r#""max_age": "x", "#, r#""age": 1, "#];
                let age = self.any(&ages);
                format!(r#""catch_up": {{"backfill": {{{age}"limit": {limit}}}}}"#)
            }
            5 => {
                let forms =
                    [r#"{"latest": {}}"#, r#"{"latest": {"limit": 1}}"#, "{}", r#""latest""#];
                format!(r#""catch_up": {}"#, self.any(&forms))
            }
            6 => {
                let gaps = ["\"shift\"", "\"next\"", "\"skip\"", "\"Skip\"", "null"];
                format!(r#""dst": {{"gap": {}}}"#, self.any(&gaps))
            }
            7 => {
                let overlaps = ["\"allow\"", "\"wait\"", "\"skip\"", "\"no\""];
                format!(r#""overlap": {}"#, self.any(&overlaps))
            }
            8 => {
                let numbers = ["1", "100", "101", "0", "3.0", "18446744073709551616", "true"];
                format!(r#""max_attempts": {}"#, self.any(&numbers))
            }
            _ => self.any(&[r#""first_run": "next""#, r#""first_run": "x""#, r#""nope": 1"#]),
        }
    }

    fn document(&mut self) -> String {
        let mut members = vec![format!(r#""every": {}"#, self.every())];
        for _ in 0..self.random.usize(0..3) {
            let member = self.member();
            let key = |member: &str| member.split(':').next().map(str::to_owned);
            // What a repeated key means to a schema depends on its parser.
            if members.iter().all(|other| key(other) != key(&member)) {
                members.push(member);
            }
        }
        let schedule = format!("{{{}}}", members.join(", "));
        let refs = ["\"x\"", "\"\"", "\" x\"", "\"\\ufeffx\"", "\"x\\u0007\"", "\"x\\u3000\"", "1"];
        let reference = if self.random.u8(0..4) > 0 { "\"x\"".to_owned() } else { self.any(&refs) };
        match self.random.usize(0..10) {
            0 => format!(r#"{{"schedule": {schedule}}}"#),
            1 if reference.starts_with('"') => {
                format!(r#"{{"workflows": {{{reference}: {{"schedule": {schedule}}}}}}}"#)
            }
            2 => format!(r#"{{"ref": {reference}, "schedule": {schedule}, "workflows": {{}}}}"#),
            3 => format!(r#"{{"ref": {reference}}}"#),
            _ => format!(r#"{{"ref": {reference}, "own": [1], "schedule": {schedule}}}"#),
        }
    }
}

#[test]
fn random_documents_mean_the_same_to_reader_and_schema() {
    let (schemas, only) = (Schemas::new(), OnlyTheReader::read());
    let mut author = Author { random: fastrand::Rng::with_seed(7) };
    let mut accepted = 0;
    for _ in 0..30_000 {
        accepted += u32::from(check(&author.document(), &schemas, &only));
    }
    assert!(accepted > 1_000, "{accepted}");
}

#[test]
fn examples_and_defaults_in_schemas_are_right() {
    for name in ["schedule", "workflow", "project"] {
        let schema = schema(name);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        for example in schema["examples"].as_array().unwrap() {
            assert!(validator.is_valid(example), "{example}");
        }
        for (key, definition) in schema["$defs"].as_object().unwrap() {
            let alone =
                serde_json::json!({ "$defs": schema["$defs"], "$ref": format!("#/$defs/{key}") });
            let validator = jsonschema::draft202012::new(&alone).unwrap();
            for example in definition["examples"].as_array().into_iter().flatten() {
                assert!(validator.is_valid(example), "{key}: {example}");
            }
        }
    }
}

/// The three schemas are read one by one, so each holds the definitions that it needs.
#[test]
fn shared_definitions_are_the_same() {
    let [schedule, workflow, project] = ["schedule", "workflow", "project"].map(schema);
    assert_eq!(workflow["$defs"], project["$defs"]);
    assert_eq!(workflow["$defs"]["schedule"]["oneOf"], schedule["oneOf"]);
    for (key, definition) in schedule["$defs"].as_object().unwrap() {
        assert_eq!(&workflow["$defs"][key], definition, "{key}");
    }
}

#[test]
fn zones_are_those_of_the_tz_database() {
    let names: Vec<&str> = Zone::names().collect();
    for name in ["schedule", "workflow", "project"] {
        if setting("UPDATE_FIXTURES").is_some() {
            write_zones(&root(&format!("schemas/{name}.schema.json")), &names);
        }
        assert_eq!(schema(name)["$defs"]["zone"]["enum"], serde_json::json!(names));
    }
}

fn write_zones(path: &Path, names: &[&str]) {
    let text = fs::read_to_string(path).unwrap();
    let zone = text.find("\"zone\": {").unwrap();
    let start = zone + text[zone..].find("\"enum\": [").unwrap();
    let end = start + text[start..].find(']').unwrap();
    let lines: Vec<String> = names.iter().map(|name| format!("        \"{name}\"")).collect();
    let list = format!("\"enum\": [\n{}\n      ", lines.join(",\n"));
    fs::write(path, format!("{}{list}{}", &text[..start], &text[end..])).unwrap();
}
