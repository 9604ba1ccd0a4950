//! The schemas of rows, made from the columns of each row and `schemas/columns.json`, and what the
//! command really prints against them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use windowpane::wire::{
    AnswerRow, ClaimRow, Column, CoverageRow, CursorRow, Diagnostic, DueRow, ExplainRow,
    FindingRow, ImportRow, PauseRow, PlanRow, Problem, PruneRow, RequestedRow, Row, RunRow,
    SkipRow, SkippedRow, StandingRow, SyncRow,
};

use super::{root, schema};
use crate::cli::shell;
use crate::setting;

/// One row that the command prints as a line of JSON.
struct RowForm {
    name: &'static str,
    title: &'static str,
    columns: &'static [Column],
    /// The columns that may be null.
    nullable: &'static [&'static str],
}

const RUN_NULLABLE: &[&str] = &[
    "token",
    "worker",
    "claimed",
    "ended",
    "lease_expires",
    "available",
    "error",
    "output",
    "local",
];

const CUT: &[&str] = &["cut", "gap_start", "gap_end", "overlap_start", "overlap_end"];

const PAUSE_NULLABLE: &[&str] = &[
    "paused",
    "resumed",
    "by",
    "reason",
    "policy",
    "skipped_first",
    "skipped_last",
    "skipped_count",
];

const CURSOR_NULLABLE: &[&str] =
    &["before", "cursor", "skipped_first", "skipped_last", "skipped_count"];

const EXPLAIN_NULLABLE: &[&str] = &[
    "id",
    "occurrence",
    "reason",
    "due",
    "window_start",
    "window_end",
    "interval_ms",
    "phase_ms",
    "revision",
    "skipped",
    "attempt",
    "token",
    "worker",
    "claimed",
    "ended",
    "lease_expires",
    "available",
    "error",
    "local",
    "resolution",
    "tzdb",
    "paused",
    "resumed",
    "policy",
    "paused_by",
    "pause_reason",
];

fn row_forms() -> Vec<RowForm> {
    let form = |name, title, columns, nullable| RowForm { name, title, columns, nullable };
    let planned = &["id", "ref", "due", "phase_ms"][..];
    let answered = &["token", "lease_expires", "available"][..];
    let standing = &["cursor", "next_due", "paused", "retired"][..];
    let diagnosed = &["ref", "hint"][..];
    vec![
        form("plan-row", "An occurrence", PlanRow::COLUMNS, planned),
        form("due-row", "A run that is owed", DueRow::COLUMNS, &[]),
        form("claim-row", "A run that was handed out", ClaimRow::COLUMNS, &[]),
        form("run-row", "A run record", RunRow::COLUMNS, RUN_NULLABLE),
        form("skip-row", "A record of skipped occurrences", SkipRow::COLUMNS, &[]),
        form("skipped-row", "Occurrences that are skipped", SkippedRow::COLUMNS, &[]),
        form("sync-row", "What a sync did with a workflow", SyncRow::COLUMNS, CUT),
        form("import-row", "Where an imported workflow stands", ImportRow::COLUMNS, standing),
        form("list-row", "Where a workflow stands", StandingRow::COLUMNS, standing),
        form("answer-row", "How a run stands", AnswerRow::COLUMNS, answered),
        form("explain-row", "What became of an occurrence", ExplainRow::COLUMNS, EXPLAIN_NULLABLE),
        form("coverage-row", "How data is covered", CoverageRow::COLUMNS, &[]),
        form("request-row", "A run that was asked for", RequestedRow::COLUMNS, &[]),
        form("pause-row", "A pause of a workflow", PauseRow::COLUMNS, PAUSE_NULLABLE),
        form("cursor-row", "A cursor that was set by hand", CursorRow::COLUMNS, CURSOR_NULLABLE),
        form("prune-row", "What was removed of a workflow", PruneRow::COLUMNS, &[]),
        form("finding-row", "What a check of a store found", FindingRow::COLUMNS, &[]),
        form("diagnostic", "What a check of documents found", Diagnostic::COLUMNS, diagnosed),
        form("error", "Why a command did not do its job", Problem::COLUMNS, &["hint"]),
    ]
}

/// One object that the command prints under `--format json`.
struct ObjectForm {
    name: &'static str,
    title: &'static str,
    members: &'static [(&'static str, Member)],
}

enum Member {
    Rows(&'static str),
    Instant,
    InstantOrNull,
    Count,
    Counts,
    Text,
    Percent,
}

const OBJECTS: &[ObjectForm] = &[
    ObjectForm {
        name: "plan",
        title: "Occurrences",
        members: &[("runs", Member::Rows("plan-row"))],
    },
    ObjectForm {
        name: "due",
        title: "What is owed",
        members: &[
            ("now", Member::Instant),
            ("runs", Member::Rows("due-row")),
            ("skipped", Member::Rows("skipped-row")),
            ("next_due", Member::InstantOrNull),
        ],
    },
    ObjectForm {
        name: "claim",
        title: "What was handed out",
        members: &[
            ("now", Member::Instant),
            ("runs", Member::Rows("claim-row")),
            ("skipped", Member::Rows("skipped-row")),
            ("next_due", Member::InstantOrNull),
        ],
    },
    ObjectForm {
        name: "sync",
        title: "What a sync did",
        members: &[("now", Member::Instant), ("workflows", Member::Rows("sync-row"))],
    },
    ObjectForm {
        name: "import",
        title: "What was imported",
        members: &[("workflows", Member::Rows("import-row"))],
    },
    ObjectForm {
        name: "cursor",
        title: "The cursors that were set",
        members: &[("workflows", Member::Rows("cursor-row"))],
    },
    ObjectForm {
        name: "prune",
        title: "What was removed",
        members: &[("workflows", Member::Rows("prune-row"))],
    },
    ObjectForm {
        name: "list",
        title: "Where the workflows stand",
        members: &[("workflows", Member::Rows("list-row"))],
    },
    ObjectForm {
        name: "runs",
        title: "Run records",
        members: &[("runs", Member::Rows("run-row"))],
    },
    ObjectForm {
        name: "skips",
        title: "Skip records",
        members: &[("skips", Member::Rows("skip-row"))],
    },
    ObjectForm {
        name: "answer",
        title: "How runs stand after a heartbeat, a finish or a release",
        members: &[("runs", Member::Rows("answer-row"))],
    },
    ObjectForm {
        name: "explain",
        title: "What became of occurrences",
        members: &[("fates", Member::Rows("explain-row"))],
    },
    ObjectForm {
        name: "coverage",
        title: "Which data was evaluated",
        members: &[
            ("ref", Member::Text),
            ("from", Member::Instant),
            ("to", Member::Instant),
            ("percent", Member::Percent),
            ("covered_ms", Member::Count),
            ("double_ms", Member::Count),
            ("missing_ms", Member::Count),
            ("pending_ms", Member::Count),
            ("unknown_ms", Member::Count),
            ("spans", Member::Rows("coverage-row")),
        ],
    },
    ObjectForm {
        name: "request",
        title: "What was asked for",
        members: &[
            ("made", Member::Instant),
            ("runs", Member::Rows("request-row")),
            ("left_out", Member::Counts),
        ],
    },
    ObjectForm {
        name: "pause",
        title: "What was paused or resumed",
        members: &[("workflows", Member::Rows("pause-row"))],
    },
    ObjectForm {
        name: "findings",
        title: "What a check of a store found",
        members: &[("findings", Member::Rows("finding-row"))],
    },
    ObjectForm {
        name: "diagnostics",
        title: "What a check of documents found",
        members: &[
            ("diagnostics", Member::Rows("diagnostic")),
            ("files", Member::Count),
            ("workflows", Member::Count),
            ("errors", Member::Count),
            ("warnings", Member::Count),
        ],
    },
];

/// The definition of a column, from the file that describes them all.
fn property(columns: &Value, row: &RowForm, column: &Column) -> Value {
    let own = format!("{}.{}", row.name.trim_end_matches("-row"), column.name);
    let found = columns.get(&own).or_else(|| columns.get(column.name));
    let mut property = found
        .unwrap_or_else(|| panic!("schemas/columns.json does not describe `{}`", column.name))
        .clone();
    if row.nullable.contains(&column.name) {
        if let Some(kind) = property.get("type").cloned() {
            property["type"] = json!([kind, "null"]);
        } else if let Some(words) = property.get_mut("enum").and_then(Value::as_array_mut) {
            words.push(Value::Null);
        }
    }
    property
}

/// A value, set in by so many spaces from the second line on.
fn indented(value: &Value, spaces: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap();
    text.replace('\n', &format!("\n{}", " ".repeat(spaces)))
}

/// An object schema with its properties in their own order.
fn object_schema(title: &str, properties: &[(&str, Value)], spaces: usize) -> String {
    let margin = " ".repeat(spaces);
    let mut text = format!("{margin}\"title\": \"{title}\",\n{margin}\"type\": \"object\",\n");
    writeln!(text, "{margin}\"properties\": {{").unwrap();
    for (index, (name, value)) in properties.iter().enumerate() {
        let comma = if index + 1 < properties.len() { "," } else { "" };
        writeln!(text, "{margin}  \"{name}\": {}{comma}", indented(value, spaces + 2)).unwrap();
    }
    let names: Vec<String> = properties.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    writeln!(text, "{margin}}},\n{margin}\"required\": [{}]", names.join(", ")).unwrap();
    text
}

fn head(name: &str) -> String {
    format!(
        "{{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \
         \"$id\": \"urn:windowpane:schema:{name}:1\",\n"
    )
}

fn row_schema(columns: &Value, row: &RowForm, spaces: usize) -> String {
    let properties: Vec<(&str, Value)> =
        row.columns.iter().map(|column| (column.name, property(columns, row, column))).collect();
    object_schema(row.title, &properties, spaces)
}

fn whole_object_schema(columns: &Value, rows: &[RowForm], form: &ObjectForm) -> String {
    let instant = || json!({ "type": "string", "format": "date-time" });
    let mut definitions = Vec::new();
    let properties: Vec<(&str, Value)> = form
        .members
        .iter()
        .map(|(name, member)| {
            let value = match member {
                Member::Instant => instant(),
                Member::InstantOrNull => {
                    json!({ "type": ["string", "null"], "format": "date-time" })
                }
                Member::Text => json!({ "type": "string" }),
                Member::Percent => {
                    json!({ "type": ["number", "null"], "minimum": 0, "maximum": 100 })
                }
                Member::Count => json!({ "type": "integer", "minimum": 0 }),
                Member::Counts => {
                    json!({ "type": "object", "additionalProperties": { "type": "integer" } })
                }
                Member::Rows(row) => {
                    definitions.push(*row);
                    json!({ "type": "array", "items": { "$ref": format!("#/$defs/{row}") } })
                }
            };
            (*name, value)
        })
        .collect();
    let mut text = head(form.name) + &object_schema(form.title, &properties, 2);
    text.truncate(text.trim_end().len());
    let definitions: Vec<String> = definitions
        .into_iter()
        .map(|name| {
            let row = rows.iter().find(|row| row.name == name).unwrap();
            format!("    \"{name}\": {{\n{}    }}", row_schema(columns, row, 6))
        })
        .collect();
    text + &format!(",\n  \"$defs\": {{\n{}\n  }}\n}}\n", definitions.join(",\n"))
}

#[track_caller]
fn check_file(path: &Path, expected: &str) {
    if setting("UPDATE_FIXTURES").is_some() {
        fs::write(path, expected).unwrap();
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == expected,
        "{} is not what the rows are now; UPDATE_FIXTURES=1 rewrites it",
        path.display()
    );
}

#[test]
fn every_row_has_a_schema_of_its_columns() {
    let columns = fs::read_to_string(root("schemas/columns.json")).unwrap();
    let columns: Value = serde_json::from_str(&columns).unwrap();
    let rows = row_forms();
    for row in &rows {
        let text = format!("{}{}}}\n", head(row.name), row_schema(&columns, row, 2));
        check_file(&root(&format!("schemas/rows/{}.schema.json", row.name)), &text);
    }
    for form in OBJECTS {
        let text = whole_object_schema(&columns, &rows, form);
        check_file(&root(&format!("schemas/rows/{}.schema.json", form.name)), &text);
    }
}

/// Everything that one small story prints.
#[test]
fn what_the_command_prints_fits_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let documents = folder.path().join("docs");
    fs::create_dir(&documents).unwrap();
    let every = r#"{"ref": "a", "schedule": {"every": "5m", "phase": {"fixed": "0s"}}}"#;
    fs::write(documents.join("a.json"), every).unwrap();
    fs::copy(root("fixtures/examples/report-weekly.json"), documents.join("b.json")).unwrap();
    fs::write(folder.path().join("bad.json"), r#"{"ref": "x", "schedule": {"every": "7m"}}"#)
        .unwrap();
    let config = r#"{"state_file": "s", "routines": [{"id": "r", "schedule": "0 3 * * *"}]}"#;
    fs::write(folder.path().join("config.json"), config).unwrap();
    fs::write(folder.path().join("state.json"), r#"{"version": 1, "routines": {}}"#).unwrap();
    let id = "a@2026-01-05T12:05:00Z";
    let at = "--now 2026-01-05T12:07:00Z --db s.db";
    let story = [
        ("sync", "sync docs --now 2026-01-05T12:00:00Z --db s.db".to_owned()),
        ("plan", "plan docs --from 2026-01-05 --to 2026-01-06".to_owned()),
        (
            "plan",
            "plan --schedule '{\"every\": \"6h\"}' --from 2026-01-05 --to 2026-01-06".to_owned(),
        ),
        ("due", format!("due {at}")),
        ("claim", format!("claim {at} --worker w --limit 3")),
        ("answer", format!("heartbeat '{id}' --token 1 {at}")),
        ("answer", format!("finish '{id}' --token 1 --status succeeded --output '[1]' {at}")),
        ("runs", format!("runs {at}")),
        ("skips", "skips --db s.db".to_owned()),
        ("list", format!("list {at}")),
        ("explain", format!("explain a {at} --from 2026-01-05 --to 2026-01-06")),
        ("coverage", format!("coverage a {at} --from 2026-01-05 --to 2026-01-06")),
        ("pause", format!("pause '*' {at}")),
        ("cursor", format!("cursor a --set 2026-01-05T12:10:00Z {at}")),
        ("prune", format!("prune --older-than 0s {at}")),
        ("import", "import-routines config.json --state state.json --db t.db".to_owned()),
        ("findings", "verify --db s.db".to_owned()),
        ("diagnostics", "validate bad.json docs".to_owned()),
    ];
    for (name, command) in story {
        for format in ["json", "jsonl"] {
            let line = format!("windowpane {command} --format {format}");
            let output = shell(folder.path(), &line).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let name = if format == "json" { name.to_owned() } else { row_of(name) };
            let schema = schema(&format!("rows/{name}"));
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            let values: Vec<Value> = match format {
                "json" => vec![serde_json::from_str(&text).unwrap()],
                _ => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
            };
            for value in values {
                let errors: Vec<String> =
                    validator.iter_errors(&value).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{line}: {value}: {errors:?}");
            }
        }
    }
}

/// The schema of the lines of a command, by that of its object.
fn row_of(name: &str) -> String {
    match name {
        "runs" => "run-row".to_owned(),
        "skips" => "skip-row".to_owned(),
        "findings" => "finding-row".to_owned(),
        "diagnostics" => "diagnostic".to_owned(),
        name => format!("{name}-row"),
    }
}

#[test]
fn every_schema_is_printed() {
    let folders = ["schemas", "schemas/rows"].map(root);
    for entry in folders.into_iter().flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(name) = name.strip_suffix(".schema.json") else { continue };
        let line = format!("windowpane schema {name}");
        let output = shell(Path::new("."), &line).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), fs::read_to_string(&path).unwrap());
    }
}
