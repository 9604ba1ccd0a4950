//! Every fault of a folder stands in every report, at the right line and column.

use std::collections::BTreeSet;

use serde_json::Value;

use super::folder::{Marked, faulty};
use super::report;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text")).to_owned()
}

/// A file as the tools name it.
fn named(file: &str) -> String {
    file.strip_prefix("./").unwrap_or(file).to_owned()
}

fn row(row: &Value) -> Marked {
    Marked {
        file: named(&text(&row["file"])),
        start: (number(&row["line"]), number(&row["column"])),
        end: (number(&row["end_line"]), number(&row["end_column"])),
        code: text(&row["code"]),
    }
}

#[track_caller]
fn check(mut found: Vec<Marked>, marked: &[Marked]) {
    found.sort();
    let missing: Vec<_> = marked.iter().filter(|one| !found.contains(one)).collect();
    let more: Vec<_> = found.iter().filter(|one| !marked.contains(one)).collect();
    assert!(missing.is_empty() && more.is_empty(), "missing: {missing:#?}\nmore: {more:#?}");
    let twice: Vec<_> = found.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert_eq!(found.len(), marked.len(), "twice: {twice:#?}");
}

#[test]
fn there_are_forty_different_faults() {
    let (folder, marked) = faulty();
    let codes: BTreeSet<_> = marked.iter().map(|one| &one.code).collect();
    assert!(marked.len() >= 50, "{} faults", marked.len());
    assert!(codes.len() >= 25, "{} kinds", codes.len());
    let report = report(folder.path(), "jsonl");
    let rows = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let messages: BTreeSet<String> = rows.map(|row| text(&row["message"])).collect();
    assert!(messages.len() >= 40, "{} different messages", messages.len());
}

#[test]
fn json() {
    let (folder, marked) = faulty();
    let report: Value = serde_json::from_str(&report(folder.path(), "json")).unwrap();
    let diagnostics = report["diagnostics"].as_array().unwrap();
    check(diagnostics.iter().map(row).collect(), &marked);
    let count = |severity: &str| {
        diagnostics.iter().filter(|row| row["severity"] == severity).count() as u64
    };
    assert_eq!(number(&report["files"]), 13);
    assert_eq!(number(&report["errors"]), count("error"));
    assert_eq!(number(&report["warnings"]), count("warning"));
}

#[test]
fn json_lines() {
    let (folder, marked) = faulty();
    let report = report(folder.path(), "jsonl");
    check(report.lines().map(|line| row(&serde_json::from_str(line).unwrap())).collect(), &marked);
}

#[test]
fn sarif() {
    let (folder, marked) = faulty();
    let report: Value = serde_json::from_str(&report(folder.path(), "sarif")).unwrap();
    let run = &report["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let found = run["results"].as_array().unwrap().iter().map(|result| {
        let place = &result["locations"][0]["physicalLocation"];
        let region = &place["region"];
        let rule = usize::try_from(number(&result["ruleIndex"])).unwrap();
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        Marked {
            file: text(&place["artifactLocation"]["uri"]),
            start: (number(&region["startLine"]), number(&region["startColumn"])),
            end: (number(&region["endLine"]), number(&region["endColumn"])),
            code: text(&result["ruleId"]),
        }
    });
    check(found.collect(), &marked);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
}

#[test]
fn gitlab() {
    let (folder, marked) = faulty();
    let report: Value = serde_json::from_str(&report(folder.path(), "gitlab")).unwrap();
    let entries = report.as_array().unwrap();
    let found = entries.iter().map(|entry| {
        let location = &entry["location"];
        let place = |end: &str| {
            let place = &location["positions"][end];
            assert_eq!(location["lines"][end], place["line"]);
            (number(&place["line"]), number(&place["column"]))
        };
        let (file, code) = (text(&location["path"]), text(&entry["check_name"]));
        Marked { file, start: place("begin"), end: place("end"), code }
    });
    check(found.collect(), &marked);
    let fingerprints: BTreeSet<_> =
        entries.iter().map(|entry| text(&entry["fingerprint"])).collect();
    assert_eq!(fingerprints.len(), entries.len(), "GitLab merges equal fingerprints");
}

#[test]
fn github() {
    let (folder, marked) = faulty();
    let report = report(folder.path(), "github");
    let found = report.lines().filter(|line| line.starts_with("::")).map(|line| {
        let (properties, _) = line.split_once(' ').unwrap().1.split_once("::").unwrap();
        let get = |name: &str| {
            let mut values = properties.split(',').filter_map(|one| one.split_once('='));
            values.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let place = |name: &str| get(name).map(|value| value.parse::<u64>().unwrap());
        let (line, end_line) = (place("line").unwrap(), place("endLine").unwrap());
        Marked {
            file: get("file").unwrap().to_owned(),
            start: (line, place("col").unwrap_or(0)),
            end: (end_line, place("endColumn").unwrap_or(0)),
            code: get("title").unwrap().strip_prefix("windowpane ").unwrap().to_owned(),
        }
    });
    // GitHub refuses columns where there are several lines.
    let marked: Vec<Marked> = marked
        .into_iter()
        .map(|one| match one.start.0 == one.end.0 {
            true => one,
            false => Marked { start: (one.start.0, 0), end: (one.end.0, 0), ..one },
        })
        .collect();
    check(found.collect(), &marked);
}

/// Faults by where they begin: all that reports for people tell of places.
fn begun(marked: &[Marked]) -> Vec<Marked> {
    marked.iter().map(|one| Marked { end: (0, 0), ..one.clone() }).collect()
}

/// `file:line:column`.
fn place(text: &str) -> (String, (u64, u64)) {
    let mut parts = text.rsplitn(3, ':');
    let mut part = || parts.next().unwrap_or_else(|| panic!("`{text}` is not a place"));
    let (column, line, file) = (part(), part(), part());
    (named(file), (line.parse().unwrap(), column.parse().unwrap()))
}

#[test]
fn junit() {
    let (folder, marked) = faulty();
    let report = report(folder.path(), "junit");
    // Every line about a fault has the kind in brackets, and the place beside it.
    let found = report.match_indices("[").filter_map(|(at, _)| {
        let (code, _) = report[at + 1..].split_once(']')?;
        let line_at = report[..at].rfind(['\n', '>'])? + 1;
        let line = report[line_at..].lines().next()?;
        let place_at = line.split_whitespace().map(|word| word.trim_end_matches(':'));
        let (file, start) =
            place_at.filter(|word| word.matches(':').count() == 2).map(place).next()?;
        Some(Marked { file, start, end: (0, 0), code: code.to_owned() })
    });
    let is_code = |one: &Marked| marked.iter().any(|marked| marked.code == one.code);
    check(found.filter(is_code).collect(), &begun(&marked));
}

#[test]
fn human() {
    let (folder, marked) = faulty();
    let report = report(folder.path(), "human");
    let mut code = String::new();
    let mut found: Vec<Marked> = Vec::new();
    for line in report.lines() {
        if let Some((_, rest)) =
            line.split_once('[').filter(|(head, _)| ["error", "warning", "note"].contains(head))
        {
            code = rest.split_once(']').unwrap().0.to_owned();
        } else if let Some(at) = line.trim_start().strip_prefix("--> ") {
            let (file, start) = place(at);
            found.push(Marked { file, start, end: (0, 0), code: code.clone() });
        } else if let Some((_, marks)) = line
            .split_once("| ")
            .filter(|(_, text)| text.contains('^') && text.trim_matches([' ', '^']).is_empty())
        {
            let carets = marks.matches('^').count() as u64;
            let last = found.last().unwrap();
            let exact = marked.iter().find(|one| {
                (&one.file, one.start, &one.code) == (&last.file, last.start, &last.code)
            });
            if let Some(one) = exact.filter(|one| one.start.0 == one.end.0) {
                let wide = one.end.1 - one.start.1;
                assert_eq!(carets, wide.max(1), "{line}\n{last:?}");
            }
        }
    }
    check(found, &begun(&marked));
}
