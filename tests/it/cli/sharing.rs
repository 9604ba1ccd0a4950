//! Many processes on one store: every owed occurrence is handed out exactly once.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use tempfile::TempDir;

use super::{output, shell};

const WORKFLOWS: usize = 20;
const PROCESSES: usize = 8;

/// A store in which every workflow owes twelve runs.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let documents: String = (0..WORKFLOWS)
        .map(|number| {
            format!(
                r#"{{"ref": "tenant-{number}", "schedule": {{"every": "5m", "catch_up": {{"backfill": {{"limit": 11}}}}, "first_run": "next"}}}}"#
            ) + "\n"
        })
        .collect();
    fs::write(folder.path().join("docs.jsonl"), documents).unwrap();
    output(folder.path(), "windowpane sync docs.jsonl --db s.db --now 2026-01-01");
    folder
}

fn at_once(folder: &Path, line: impl Fn(usize) -> String) -> Vec<String> {
    let start = |number| shell(folder, &line(number)).stdout(Stdio::piped()).spawn().unwrap();
    let children: Vec<Child> = (0..PROCESSES).map(start).collect();
    let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap());
    let mut lines: Vec<String> = outputs
        .flat_map(|output| {
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    lines.sort();
    lines
}

fn owed(folder: &Path) -> Vec<String> {
    let due = "windowpane due --db s.db --now 2026-01-02 --format csv | tail -n +2 | cut -d, -f1";
    let mut ids: Vec<String> = output(folder, due).lines().map(str::to_owned).collect();
    assert_eq!(ids.len(), WORKFLOWS * 12);
    ids.sort();
    ids
}

#[test]
fn eight_processes_claim_every_owed_occurrence_exactly_once() {
    let folder = folder();
    let owed = owed(folder.path());
    let claimed = at_once(folder.path(), |number| {
        format!(
            "while rows=$(windowpane claim --db s.db --worker w{number} --limit 3 --now 2026-01-02 \
             --format csv) && rows=$(echo \"$rows\" | tail -n +2) && [ -n \"$rows\" ]; do \
             echo \"$rows\" | cut -d, -f1; done"
        )
    });
    assert_eq!(claimed, owed);
}

#[test]
fn eight_runners_carry_out_every_owed_occurrence_exactly_once() {
    let folder = folder();
    let owed = owed(folder.path());
    let finished = at_once(folder.path(), |number| {
        format!(
            "windowpane run --db s.db --worker w{number} --once --concurrency 2 --now 2026-01-02 \
             --format csv --exec 'echo \"$WINDOWPANE_RUN_ID\" >> log' | tail -n +2 | cut -d, -f1"
        )
    });
    assert_eq!(finished, owed);
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    let mut carried_out: Vec<String> = log.lines().map(str::to_owned).collect();
    carried_out.sort();
    assert_eq!(carried_out, owed);
}
