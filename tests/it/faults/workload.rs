//! A process of its own that claims and finishes runs, and says so only once each is committed.
//!
//! The test binary starts itself again to be this process, with what limits or watches it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use windowpane::store::StoreError;
use windowpane::store::lifecycle::{Finish, Finished, Verdict};
use windowpane::store::record::{
    ClockKind, Progress, RunFilter, RunRecord, RunState, StoreInfo, Workflow,
};
use windowpane::store::sqlite::{Durability, Options, SqliteStore};

use super::count;
use crate::setting;
use crate::store_suite::sample::{minute, new_workflow, pending, read, revision, with_id, write};

/// The store that the process works on; without it there is nothing to do.
const STORE: &str = "WINDOWPANE_FAULT_STORE";
/// The file that it writes what was committed to, line by line.
const ACKS: &str = "WINDOWPANE_FAULT_ACKS";
/// How many runs it claims.
const RUNS: &str = "WINDOWPANE_FAULT_RUNS";
/// Set for a process with the lower durability.
const DURABILITY: &str = "WINDOWPANE_FAULT_DURABILITY";

/// So often the log is folded back into the file.
const RUNS_PER_CHECKPOINT: i64 = 5;

/// The commands that turn into this process, given what stands before the program.
pub(super) struct Workload<'a> {
    pub(super) store: &'a Path,
    pub(super) acks: &'a Path,
    pub(super) runs: i64,
    pub(super) durability: Durability,
}

impl Workload<'_> {
    /// The process, started by `shell` with the program as `$0` and its arguments as `$@`.
    pub(super) fn command(&self, shell: &str) -> Command {
        let mut command = this_test(shell, "faults::workload::work");
        command.env(STORE, self.store).env(ACKS, self.acks).env(RUNS, self.runs.to_string());
        if self.durability == Durability::Process {
            command.env(DURABILITY, "process");
        }
        command
    }
}

/// This program again, to run one test of it, started by a line of shell.
pub(super) fn this_test(shell: &str, test: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(shell).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--quiet"]);
    command
}

/// What the process did before it stopped: the last thing that each run was acknowledged to be.
pub(super) fn acknowledged(acks: &[u8]) -> BTreeMap<i64, RunState> {
    let text = String::from_utf8_lossy(acks);
    // A line without its end was not yet said.
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let said = lines.filter_map(|line| {
        let (state, run) = line.trim().split_once(' ')?;
        Some((run.parse().ok()?, RunState::from_word(state)?))
    });
    said.collect()
}

/// What is wrong with a store after the process was stopped, given what it had acknowledged.
pub(super) fn losses(store: &mut SqliteStore, acks: &[u8]) -> Vec<String> {
    let acknowledged = acknowledged(acks);
    let records = read(store, |t| t.runs(&RunFilter::default()));
    let states: BTreeMap<i64, RunState> =
        records.iter().map(|run| (number_of(run), run.state)).collect();
    let lost = |(run, said): (&i64, &RunState)| match (said, states.get(run)) {
        (RunState::Claimed, Some(RunState::Claimed | RunState::Succeeded)) => None,
        (RunState::Succeeded, Some(RunState::Succeeded)) => None,
        (_, found) => Some(format!("run {run} was said to be {said:?} and is {found:?}")),
    };
    acknowledged.iter().filter_map(lost).collect()
}

fn number_of(run: &RunRecord) -> i64 {
    run.key.occurrence.ms_since(minute(0)) / 60_000
}

#[test]
fn work() {
    let Some(path) = setting(STORE).map(PathBuf::from) else { return };
    let mut acks = File::create(setting(ACKS).unwrap()).unwrap();
    let runs = count(RUNS, 0).cast_signed();
    let durability =
        if setting(DURABILITY).is_some() { Durability::Process } else { Durability::Full };
    let options = Options { durability, ..Options::default() };
    match claim_and_finish(&path, &options, runs, |line| acks.write_all(line.as_bytes()).unwrap()) {
        Ok(()) => println!("\ndone"),
        Err(error) => println!("\nstopped: {error}"),
    }
}

/// Claims and finishes so many more runs, each finished once the next is claimed, or stops at the
/// first error.
pub(super) fn claim_and_finish(
    path: &Path,
    options: &Options,
    runs: i64,
    mut said: impl FnMut(&str),
) -> Result<(), StoreError> {
    let mut store = SqliteStore::open_with(path, options)?;
    let mut claimed: Option<RunRecord> = None;
    let first = first_number(&mut store)?;
    for number in first..first + runs {
        let run = claim(&mut store, number)?;
        said(&format!("claimed {number}\n"));
        if let Some(before) = claimed.replace(run) {
            let number = number_of(&before);
            finish(&mut store, before)?;
            said(&format!("succeeded {number}\n"));
        }
        if number % RUNS_PER_CHECKPOINT == 0 {
            // A busy or full disk leaves the log as it is.
            let connection = Connection::open(path).unwrap();
            let _ = connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()));
        }
    }
    Ok(())
}

/// Registers the workflow where it is not; the number of the next run.
fn first_number(store: &mut SqliteStore) -> Result<i64, StoreError> {
    write(store, |t| {
        if let Some(workflow) = t.workflow("alpha")? {
            return Ok(workflow.progress.last_token + 1);
        }
        t.set_info(&StoreInfo {
            clock: ClockKind::Test,
            tzdb: "2026f".to_owned(),
            definition_writes: 0,
            last_planned: None,
            set_ahead: None,
        })?;
        t.insert_workflows(&[new_workflow("alpha", None)])?;
        t.insert_revisions(&[revision(1, 1, None)])?;
        Ok(1)
    })
}

fn claim(store: &mut SqliteStore, number: i64) -> Result<RunRecord, StoreError> {
    write(store, |t| {
        let workflow: Workflow = t.workflow("alpha")?.unwrap();
        let run = with_id(pending("alpha", number, "", number), workflow.id);
        let run = run.hand_out("worker", number, minute(number), 300_000).unwrap().run;
        let progress = Progress {
            cursor: Some(minute(number)),
            cursor_local_ms: None,
            last_handed: Some(minute(number)),
            last_token: number,
            due: None,
        };
        t.insert_runs(std::slice::from_ref(&run))?;
        t.update_progress(&[(&workflow, progress)])?;
        Ok(run)
    })
}

fn finish(store: &mut SqliteStore, run: RunRecord) -> Result<(), StoreError> {
    let token = run.attempt.as_ref().unwrap().token;
    let output = Some(format!("{{\"log\":\"{}\"}}", "x".repeat(1_500)));
    let finish = Finish { verdict: Verdict::Succeeded, error: None, output };
    let finished = run.finish(token, minute(token + 1), finish, 3).unwrap();
    let (Finished::Recorded(run) | Finished::AlreadySo(run)) = finished;
    write(store, |t| t.update_runs(&[run]))
}
