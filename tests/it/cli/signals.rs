//! The runner and the signals that stop it. Every wait is for something to happen: a command says
//! that it runs by opening a pipe, the runner says on stderr that it stops.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};

use tempfile::TempDir;

use super::{output, shell};

/// Two workflows that both owe a run, and the pipes `ready` and `hold`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let documents = r#"{"ref": "a", "schedule": {"every": "1h", "phase": {"fixed": "0s"}}}
{"ref": "b", "schedule": {"every": "1h", "phase": {"fixed": "0s"}}}
"#;
    fs::write(folder.path().join("docs.jsonl"), documents).unwrap();
    output(folder.path(), "mkfifo ready hold");
    output(folder.path(), "windowpane sync docs.jsonl --db s.db --now 2026-01-01T01:00:00Z");
    folder
}

/// A runner whose command is running.
struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

/// Starts a runner and waits until its command has opened the pipe `ready`.
fn start(folder: &Path, options: &str, command: &str) -> Running {
    let line = format!(
        "exec windowpane run --db s.db --worker w --once --now 2026-01-01T01:00:00Z --format table \
         {options} --exec '{command}'"
    );
    let mut child =
        shell(folder, &line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert_eq!(fs::read_to_string(folder.join("ready")).unwrap(), "ready\n");
    let stderr = BufReader::new(child.stderr.take().unwrap());
    Running { child, stderr }
}

impl Running {
    fn signal(&self, folder: &Path, name: &str) {
        output(folder, &format!("kill -{name} {}", self.child.id()));
    }

    /// Waits for the next line on stderr.
    fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Waits for the end, which is a good one, and gives back what it says until then.
    fn end(mut self) -> String {
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
        rest
    }
}

/// The records afterwards: id, attempts, state.
fn records(folder: &Path) -> String {
    output(folder, "windowpane runs --db s.db --format csv | cut -d, -f1,11,13 | tail -n +2")
}

const STOPPING: &str = "stopping; 1 command still runs";

#[test]
fn a_command_may_end_by_itself_and_nothing_more_is_claimed() {
    for signal in ["TERM", "INT"] {
        let folder = folder();
        let mut running = start(folder.path(), "", "echo ready > ready; cat hold");
        running.signal(folder.path(), signal);
        assert_eq!(running.next_line(), STOPPING);
        output(folder.path(), "echo done > hold");
        assert_eq!(running.end(), "done\n");
        assert_eq!(records(folder.path()), "a@2026-01-01T01:00:00Z,1,succeeded\n");
    }
}

#[test]
fn after_the_grace_period_a_command_is_ended_and_its_run_given_back() {
    let folder = folder();
    let mut running = start(folder.path(), "--grace 0s", "echo ready > ready; cat hold");
    running.signal(folder.path(), "TERM");
    assert_eq!(running.next_line(), STOPPING);
    assert_eq!(running.end(), "");
    assert_eq!(records(folder.path()), "a@2026-01-01T01:00:00Z,0,pending\n");
}

#[test]
fn a_second_signal_ends_at_once_what_will_not_end() {
    let folder = folder();
    let stubborn = "trap \"\" TERM; echo ready > ready; cat hold";
    let mut running = start(folder.path(), "--grace 1h", stubborn);
    running.signal(folder.path(), "INT");
    assert_eq!(running.next_line(), STOPPING);
    running.signal(folder.path(), "INT");
    running.end();
    assert_eq!(records(folder.path()), "a@2026-01-01T01:00:00Z,0,pending\n");
}

#[test]
fn a_runner_wakes_for_what_becomes_due_until_it_is_told_to_stop() {
    let folder = folder();
    let document = r#"{"ref": "tick", "schedule": {"every": "1s", "phase": {"fixed": "0s"}}}"#;
    fs::write(folder.path().join("tick.json"), document).unwrap();
    let line = "exec windowpane run tick.json --db real.db --grace 0s --exec 'echo ready > ready'";
    let mut child =
        shell(folder.path(), line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..2 {
        assert_eq!(fs::read_to_string(folder.path().join("ready")).unwrap(), "ready\n");
    }
    output(folder.path(), &format!("kill -TERM {}", child.id()));
    let mut rows = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rows).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(rows.lines().count() >= 1, "{rows}");
}
