//! Many processes on one schema: every owed occurrence is handed out exactly once.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::cli::{output, shell};

use super::{Scratch, scratch};

const WORKFLOWS: usize = 20;
const PROCESSES: usize = 8;

/// Twelve owed runs of every workflow; of the last ones only one at a time may run.
fn with_backlog(folder: &Path, scratch: &Scratch) -> Vec<String> {
    let documents: String = (0..WORKFLOWS)
        .map(|number| {
            let overlap = if number < WORKFLOWS - 4 { "allow" } else { "wait" };
            format!(
                r#"{{"ref": "tenant-{number}", "schedule": {{"every": "5m", "overlap": "{overlap}",
                "catch_up": {{"backfill": {{"limit": 11}}}}, "first_run": "next"}}}}"#
            )
            .replace('\n', " ")
                + "\n"
        })
        .collect();
    fs::write(folder.join("docs.jsonl"), documents).unwrap();
    output(
        folder,
        &format!("windowpane sync docs.jsonl --db '{}' --now 2026-01-01", scratch.url()),
    );
    let due = "windowpane due --now 2026-01-02 --format csv | tail -n +2";
    let line = format!("export WINDOWPANE_DB='{}'; {due} | cut -d, -f1", scratch.url());
    let mut ids: Vec<String> = output(folder, &line).lines().map(str::to_owned).collect();
    assert_eq!(ids.len(), (WORKFLOWS - 4) * 12 + 4, "of those that wait only the first runs now");
    ids.sort();
    ids
}

/// What eight processes print that begin at once, sorted.
fn at_once(folder: &Path, line: impl Fn(usize) -> String) -> Vec<String> {
    let start = |number| shell(folder, &line(number)).stdout(Stdio::piped()).spawn().unwrap();
    let children: Vec<Child> = (0..PROCESSES).map(start).collect();
    let mut lines: Vec<String> = children
        .into_iter()
        .flat_map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn eight_processes_claim_every_owed_occurrence_exactly_once() {
    let Some(scratch) = scratch() else { return };
    let folder = tempfile::tempdir().unwrap();
    let owed = with_backlog(folder.path(), &scratch);
    let url = scratch.url();
    let claimed = at_once(folder.path(), |number| {
        format!(
            "while rows=$(windowpane claim --db '{url}' --worker w{number} --limit 3 \
             --now 2026-01-02 --format csv) && rows=$(echo \"$rows\" | tail -n +2) && \
             [ -n \"$rows\" ]; do echo \"$rows\" | cut -d, -f1; done"
        )
    });
    assert_eq!(claimed, owed);
}

#[test]
fn eight_runners_carry_out_every_owed_occurrence_exactly_once() {
    let Some(scratch) = scratch() else { return };
    let folder = tempfile::tempdir().unwrap();
    with_backlog(folder.path(), &scratch);
    let url = scratch.url();
    let finished = at_once(folder.path(), |number| {
        format!(
            "windowpane run --db '{url}' --worker w{number} --once --concurrency 2 \
             --now 2026-01-02 --format csv --exec 'echo \"$WINDOWPANE_RUN_ID\" >> log' \
             | tail -n +2 | cut -d, -f1"
        )
    });
    let mut once = finished.clone();
    once.dedup();
    assert_eq!(finished, once, "none is finished twice");
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    let mut carried_out: Vec<String> = log.lines().map(str::to_owned).collect();
    carried_out.sort();
    assert_eq!(carried_out, finished, "what is carried out is finished");
    assert_eq!(finished.len(), WORKFLOWS * 12);
}
