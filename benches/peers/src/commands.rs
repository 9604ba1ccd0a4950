//! The command itself, over pipes: rows of `plan`.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant as Moment;

use crate::contest::{self, median};

const ROUNDS: usize = 5;

/// The command that was built beside this program.
pub fn windowpane() -> Command {
    let own: PathBuf = std::env::current_exe().expect("this program");
    Command::new(own.with_file_name("windowpane"))
}

pub fn run() {
    for format in ["jsonl", "csv"] {
        rows(format);
    }
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
