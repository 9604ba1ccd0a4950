//! Records to test with.

use windowpane::plan::{Run, SkipReason};
use windowpane::schedule::Policies;
use windowpane::store::record::{
    Attempt, ClockKind, DueKey, Marks, NewWorkflow, OpenState, Outcome, PauseRecord, Progress,
    RequestRecord, RevisionRow, RunFilter, RunKey, RunRecord, RunState, SkipFilter, SkipRecord,
    StoreInfo, Workflow, WorkflowId,
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
        marks: Marks::default(),
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

/// The same run of the workflow with another number.
pub(crate) fn with_id(run: RunRecord, workflow: WorkflowId) -> RunRecord {
    RunRecord { key: RunKey { workflow, ..run.key }, ..run }
}

/// A run claimed at `claimed` for five minutes.
pub(crate) fn claimed(reference: &str, occurrence: i64, claimed: i64, token: i64) -> RunRecord {
    let run = pending(reference, occurrence, "", claimed);
    run.hand_out("worker-1", token, minute(claimed), 300_000).unwrap().run
}

pub(crate) fn succeeded(reference: &str, occurrence: i64, token: i64) -> RunRecord {
    let run = claimed(reference, occurrence, occurrence + 3, token);
    ended(run, Outcome::Succeeded, RunState::Succeeded)
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

/// Every reason of a skip.
pub(crate) const REASONS: [SkipReason; 10] = [
    SkipReason::FirstRun,
    SkipReason::Superseded,
    SkipReason::BeyondLimit,
    SkipReason::TooOld,
    SkipReason::Overlap,
    SkipReason::Paused,
    SkipReason::Retired,
    SkipReason::TzChange,
    SkipReason::TzPassed,
    SkipReason::CursorSet,
];

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

/// Registers the sample workflows with everything that a sound store has of them: revisions, turns,
/// runs in every state, past attempts and skips.
pub(crate) fn with_history(store: &mut dyn Store) {
    with_workflows(store);
    write(store, |t| {
        t.set_info(&StoreInfo {
            clock: ClockKind::System,
            tzdb: "2026f".to_owned(),
            definition_writes: 3,
            last_planned: Some(minute(60)),
            set_ahead: None,
        })?;
        let revisions = [
            revision(1, 1, None),
            revision(2, 1, None),
            revision(2, 2, Some(7)),
            revision(3, 1, None),
            revision(4, 1, None),
        ];
        t.insert_revisions(&revisions)?;
        for (turn, (reference, _)) in (50..).zip(REFERENCES) {
            let before = t.workflow(reference)?.unwrap();
            let progress = Progress {
                cursor: Some(minute(40)),
                cursor_local_ms: None,
                last_handed: Some(minute(44)),
                last_token: 20,
                due: (reference != "Zeta").then_some(due_key(turn, 45)),
            };
            t.update_progress(&[(&before, progress)])?;
        }
        t.insert_runs(&runs_in_every_state())?;
        let past = [
            (key("delta", 10, ""), ended_attempt(1, 6, Outcome::Failed)),
            (key("alpha", 20, ""), ended_attempt(1, 3, Outcome::Released)),
        ];
        t.insert_past_attempts(&past)?;
        t.put_pause(&pause())?;
        t.put_request(&request(2, "again"))?;
        t.insert_skips(&[skip("alpha", 0, 0), skip("alpha", 30, 35), skip("Zeta", -50, 5)])
    })
    .unwrap();
}

/// Succeeded runs of every workflow, and one in each other state.
fn runs_in_every_state() -> Vec<RunRecord> {
    let occurrences = (0..40).step_by(5);
    let mut runs: Vec<RunRecord> = occurrences
        .flat_map(|occurrence| REFERENCES.map(|(name, _)| (name, occurrence)))
        .filter(|place| !matches!(place, ("delta", 10) | ("Zeta", 15) | ("alpha", 20)))
        .map(|(name, occurrence)| succeeded(name, occurrence, 1 + occurrence / 5))
        .collect();
    let mut failed = ended(claimed("delta", 10, 13, 9), Outcome::Failed, RunState::Failed);
    failed.attempt.as_mut().unwrap().error = Some("exit status 1".to_owned());
    failed.output = Some(r#"{"rev":"abc"}"#.to_owned());
    runs.extend([
        failed,
        ended(claimed("Zeta", 15, 18, 7), Outcome::Expired, RunState::Abandoned),
        claimed("alpha", 20, 23, 12),
        pending("alpha", 5, "again", 30),
        pending("delta", 5, "again", 30).cancel().unwrap(),
    ]);
    runs
}

fn ended(mut run: RunRecord, outcome: Outcome, state: RunState) -> RunRecord {
    let attempt = run.attempt.as_mut().unwrap();
    attempt.ended = run.available;
    attempt.outcome = Some(outcome);
    RunRecord { state, available: None, ..run }
}

pub(crate) fn pause() -> PauseRecord {
    PauseRecord {
        workflow: WorkflowId(2),
        from: minute(5),
        to: None,
        by: Some("ops".to_owned()),
        reason: Some("disk full".to_owned()),
        resumed: None,
    }
}

pub(crate) fn request(workflow: i64, id: &str) -> RequestRecord {
    RequestRecord {
        workflow: WorkflowId(workflow),
        id: id.to_owned(),
        arguments: "{}".to_owned(),
        made: minute(9),
        by: None,
        reason: None,
        answer: "{}".to_owned(),
        pruned: vec![minute(1), minute(2)],
    }
}

/// Everything that is in a store, in text.
pub(crate) fn everything(store: &mut dyn Store) -> Result<String, StoreError> {
    let mut t = store.begin_read()?;
    let workflows = t.workflows(None, usize::MAX)?;
    let of: Vec<_> = workflows.iter().map(|workflow| (workflow.id, None)).collect();
    let due = t.due_workflows(None, Instant::MAX, Instant::MAX, usize::MAX)?;
    let revisions = t.revisions(&of)?;
    let runs = t.runs(&RunFilter::default())?;
    let mut open = Vec::new();
    for state in [OpenState::Pending, OpenState::Claimed] {
        open.push(t.open_runs(state, Instant::MAX, None, usize::MAX)?);
    }
    let mut attempts = Vec::new();
    for run in &runs {
        attempts.push(t.past_attempts(&run.key)?);
    }
    let mut decisions = Vec::new();
    for workflow in &workflows {
        decisions.push((t.pauses(workflow.id)?, t.requests(workflow.id)?));
    }
    let (info, skips) = (t.info()?, t.skips(&SkipFilter::default())?);
    Ok(format!(
        "{info:?} {workflows:?} {due:?} {revisions:?} {runs:?} {open:?} {attempts:?} \
        {decisions:?} {skips:?}"
    ))
}
