//! The command itself, over pipes and files: rows of `plan`, and documents that `validate` checks.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant as Moment;

use crate::contest::{self, median};
use crate::paths::DOCUMENT;

const ROUNDS: usize = 5;
const DOCUMENTS: usize = 300_000;

/// The command that was built beside this program.
fn windowpane() -> Command {
    let own: PathBuf = std::env::current_exe().expect("this program");
    Command::new(own.with_file_name("windowpane"))
}

pub fn run() {
    for format in ["jsonl", "csv"] {
        rows(format);
    }
    documents();
}

/// Ten years of minutes to a pipe that is read at once.
fn rows(format: &str) {
    let per_second = (0..ROUNDS).map(|_| {
        let mut plan = windowpane();
        plan.args(["plan", "--schedule", r#"{"every":"1m","delay":"30s"}"#])
            .args(["--ref", "checkout/availability", "--format", format])
            .args(["--from", "2016-01-01", "--to", "2026-01-01"])
            .stdout(Stdio::piped());
        let begun = Moment::now();
        let mut child = plan.spawn().expect("windowpane, built beside this program");
        let mut out = child.stdout.take().expect("a pipe");
        let (mut buffer, mut lines) = (vec![0; 1 << 16], 0);
        loop {
            let read = out.read(&mut buffer).expect("rows");
            if read == 0 {
                break;
            }
            lines += buffer[..read].iter().filter(|byte| **byte == b'\n').count();
        }
        assert!(child.wait().expect("its end").success());
        lines as f64 / begun.elapsed().as_secs_f64()
    });
    let per_second = median(per_second.collect());
    let ours = format!("{:.1} million rows a second", per_second / 1e6);
    contest::bound(
        &format!("`plan` to a pipe, {format}"),
        &ours,
        "",
        per_second >= 2e6,
        "≥ 2 million a second",
    );
}

/// One JSONL file, beside a bare parse of its lines with serde_json.
fn documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("workflows.jsonl");
    let lines: Vec<String> = (0..DOCUMENTS)
        .map(|index| DOCUMENT.replace("availability", &format!("workflow-{index}")))
        .collect();
    let mut file = std::fs::File::create(&path).expect("a file");
    file.write_all(lines.join("\n").as_bytes()).expect("documents");
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Moment::now();
        let checked =
            windowpane().args(["validate", "--quiet"]).arg(&path).output().expect("windowpane");
        ours.push(DOCUMENTS as f64 / begun.elapsed().as_secs_f64());
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        let begun = Moment::now();
        let read =
            lines.iter().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
        assert_eq!(read.count(), DOCUMENTS);
        bare.push(DOCUMENTS as f64 / begun.elapsed().as_secs_f64());
    }
    let (ours, bare) = (median(ours), median(bare));
    contest::bound(
        "`validate` of one JSONL file",
        &format!("{:.2} million documents a second", ours / 1e6),
        &format!("serde_json alone, unchecked, {:.2} million a second", bare / 1e6),
        ours >= 1.5e6,
        "≥ 1.5 million a second",
    );
}
