//! Records to test with.

use windowpane::plan::{Run, SkipReason};
use windowpane::schedule::Policies;
use windowpane::store::record::{
    Attempt, DueKey, NewWorkflow, Outcome, Progress, RevisionRow, RunKey, RunRecord, RunState,
    SkipRecord, Workflow, WorkflowId,
};
use windowpane::store::{Store, StoreError, Transaction};
use windowpane::time::{Authored, Instant, Resolution, Window};

/// So many minutes after 2026-01-01T12:00:00Z.
pub(crate) fn minute(minutes: i64) -> Instant {
    let noon: Instant = "2026-01-01T12:00:00Z".parse().unwrap();
    noon.checked_add_ms(minutes * 60_000).unwrap()
}

pub(crate) fn due_key(turn: i64, due: i64) -> DueKey {
    DueKey { turn: minute(turn), due: minute(due) }
}

pub(crate) fn new_workflow(reference: &str, due: Option<DueKey>) -> NewWorkflow {
    NewWorkflow {
        reference: reference.to_owned(),
        source: "default".to_owned(),
        registered: minute(0),
        policies: Policies::default(),
        due,
    }
}

/// What [`new_workflow`] becomes in a store.
pub(crate) fn workflow(id: i64, reference: &str, due: Option<DueKey>) -> Workflow {
    Workflow {
        id: WorkflowId(id),
        reference: reference.to_owned(),
        source: "default".to_owned(),
        registered: minute(0),
        policies: Policies::default(),
        progress: Progress { due, ..Progress::default() },
    }
}

pub(crate) fn revision(workflow: i64, number: u32, after: Option<i64>) -> RevisionRow {
    RevisionRow {
        workflow: WorkflowId(workflow),
        number,
        after: after.map(minute),
        schedule: Some(r#"{"every":"5m"}"#.to_owned()),
        made: minute(0),
        tzdb: "2026f".to_owned(),
    }
}

/// The plan of a five-minute schedule with a delay of 30 s and a phase of 130 s.
pub(crate) fn plan(occurrence: Instant) -> Run {
    let after = |ms| occurrence.checked_add_ms(ms).unwrap();
    Run {
        occurrence,
        due: after(130_000),
        window: Window { start: after(-330_000), end: after(-30_000) },
        interval_ms: 300_000,
        phase_ms: 130_000,
        revision: 1,
        authored: Authored { local_ms: occurrence.as_ms(), resolution: Resolution::Exact },
    }
}

pub(crate) fn key(workflow: &str, occurrence: i64, request_id: &str) -> RunKey {
    RunKey {
        occurrence: minute(occurrence),
        workflow: id_of(workflow),
        request_id: request_id.to_owned(),
    }
}

/// A pending run of the workflow `reference`, available since `available`.
pub(crate) fn pending(
    reference: &str,
    occurrence: i64,
    request_id: &str,
    available: i64,
) -> RunRecord {
    RunRecord::pending(
        key(reference, occurrence, request_id),
        reference.to_owned(),
        plan(minute(occurrence)),
        "2026f".to_owned(),
        minute(available),
    )
}

/// A run claimed at `claimed` for five minutes.
pub(crate) fn claimed(reference: &str, occurrence: i64, claimed: i64, token: i64) -> RunRecord {
    let run = pending(reference, occurrence, "", claimed);
    run.hand_out("worker-1", token, minute(claimed), 300_000).unwrap().run
}

pub(crate) fn succeeded(reference: &str, occurrence: i64, token: i64) -> RunRecord {
    let mut run = claimed(reference, occurrence, occurrence + 3, token);
    let attempt = run.attempt.as_mut().unwrap();
    (attempt.ended, attempt.outcome) = (Some(minute(occurrence + 4)), Some(Outcome::Succeeded));
    RunRecord { state: RunState::Succeeded, available: None, ..run }
}

pub(crate) fn ended_attempt(number: u32, token: i64, outcome: Outcome) -> Attempt {
    Attempt {
        number,
        token,
        worker: "worker-2".to_owned(),
        claimed: minute(token),
        ended: Some(minute(token + 1)),
        outcome: Some(outcome),
        error: (outcome == Outcome::Failed).then(|| "exit status 1\nno such table".to_owned()),
    }
}

pub(crate) fn skip(reference: &str, first: i64, last: i64) -> SkipRecord {
    SkipRecord {
        workflow: id_of(reference),
        reference: reference.to_owned(),
        first: minute(first),
        last: minute(last),
        count: 7,
        reason: SkipReason::Superseded,
        skipped: minute(60),
        revision: 1,
        tzdb: "2026f".to_owned(),
    }
}

/// The refs that [`with_workflows`] registers, with the ids that they get: not in their order.
const REFERENCES: [(&str, i64); 4] = [("delta", 1), ("alpha", 2), ("Zeta", 3), ("älpha", 4)];

fn id_of(reference: &str) -> WorkflowId {
    let (_, id) = REFERENCES.iter().find(|(name, _)| *name == reference).unwrap();
    WorkflowId(*id)
}

/// Registers the sample workflows; none has a turn.
pub(crate) fn with_workflows(store: &mut dyn Store) {
    let workflows = REFERENCES.map(|(reference, _)| new_workflow(reference, None));
    write(store, |transaction| transaction.insert_workflows(&workflows)).unwrap();
}

/// Does something in one transaction, and commits it unless it failed.
pub(crate) fn write<T>(
    store: &mut dyn Store,
    change: impl FnOnce(&mut dyn Transaction) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut transaction = store.begin_write()?;
    let answer = change(&mut *transaction)?;
    transaction.commit()?;
    Ok(answer)
}

/// Reads something in a transaction of its own.
pub(crate) fn read<T>(
    store: &mut dyn Store,
    question: impl FnOnce(&mut dyn Transaction) -> Result<T, StoreError>,
) -> T {
    let mut transaction = store.begin_read().unwrap();
    question(&mut *transaction).unwrap()
}
