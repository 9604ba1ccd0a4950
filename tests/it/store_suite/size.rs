//! How much room a run takes.

use rusqlite::Connection;
use windowpane::store::lifecycle::{Finish, Finished, Verdict};
use windowpane::store::record::{RunKey, RunRecord, WorkflowId};
use windowpane::store::sqlite::{Durability, Options, SqliteStore};

use super::sample::{minute, new_workflow, plan, write};

const WORKFLOWS: i64 = 400;
const OCCURRENCES: i64 = 50;
const BATCH: usize = 20;

/// The most that a succeeded scheduled run may take, in bytes, all columns and indexes included.
const RUN_LIMIT_BYTES: i64 = 90;

/// Runs are claimed in the order in which they become due and finished a batch later, as in life.
#[test]
fn a_succeeded_run_is_small() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let options = Options { durability: Durability::Process, ..Options::default() };
    let mut store = SqliteStore::open_with(&path, &options).unwrap();
    let new: Vec<_> =
        (1..=WORKFLOWS).map(|id| new_workflow(&format!("team/workflow-{id:04}"), None)).collect();
    write(&mut store, |t| t.insert_workflows(&new)).unwrap();

    let mut runs: Vec<RunRecord> = (0..OCCURRENCES)
        .flat_map(|occurrence| (1..=WORKFLOWS).map(move |id| claimed(occurrence, id)))
        .collect();
    runs.sort_by_key(|run| run.plan.due);
    let mut open: &[RunRecord] = &[];
    for batch in runs.chunks(BATCH) {
        let finished: Vec<_> = open.iter().cloned().map(finish).collect();
        write(&mut store, |t| t.insert_runs(batch)).unwrap();
        write(&mut store, |t| t.update_runs(&finished)).unwrap();
        open = batch;
    }
    let finished: Vec<_> = open.iter().cloned().map(finish).collect();
    write(&mut store, |t| t.update_runs(&finished)).unwrap();
    drop(store);

    let connection = Connection::open(&path).unwrap();
    let sql = "SELECT sum(pgsize) FROM dbstat WHERE name IN ('run', 'open_run')";
    let bytes: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    let each = bytes / (WORKFLOWS * OCCURRENCES);
    println!("a succeeded run takes {each} bytes");
    assert!(each <= RUN_LIMIT_BYTES, "{each} bytes");
}

/// The run of an occurrence of a workflow, with a phase of its own.
fn claimed(occurrence: i64, id: i64) -> RunRecord {
    let occurrence = minute(5 * occurrence);
    let phase_ms = id * 7_919 % 300_000;
    let due = occurrence.checked_add_ms(phase_ms).unwrap();
    let plan = windowpane::plan::Run { due, phase_ms, ..plan(occurrence) };
    let key = RunKey { occurrence, workflow: WorkflowId(id), request_id: String::new() };
    let reference = format!("team/workflow-{id:04}");
    let run = RunRecord::pending(key, reference, plan, "2026f".to_owned(), due);
    let token = due.ms_since(minute(-100_000)) / 300_000;
    run.hand_out("worker-1", token, due.checked_add_ms(1_234).unwrap(), 300_000).unwrap().run
}

fn finish(run: RunRecord) -> RunRecord {
    let attempt = run.attempt.clone().unwrap();
    let now = attempt.claimed.checked_add_ms(42_544).unwrap();
    let finish = Finish { verdict: Verdict::Succeeded, error: None, output: None };
    match run.finish(attempt.token, now, finish, 3).unwrap() {
        Finished::Recorded(run) | Finished::AlreadySo(run) => run,
    }
}
