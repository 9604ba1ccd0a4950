//! The same operations, in any order, get the same answers from every store.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use windowpane::plan::Run;
use windowpane::schedule::{CatchUp, FirstRun, Overlap, Policies};
use windowpane::store::lifecycle::{Expiry, Finish, Finished, Verdict};
use windowpane::store::model::ModelStore;
use windowpane::store::record::{
    Attempt, ClockKind, DueKey, Marks, NewWorkflow, OpenState, Outcome, PauseRecord, Progress,
    RequestRecord, Resume, RevisionRow, RunFilter, RunKey, RunRecord, RunState, SkipFilter,
    SkipRecord, StoreInfo, Workflow, WorkflowId,
};
use windowpane::store::sqlite::{Durability, Options, SqliteStore};
use windowpane::store::{Store, StoreError, Transaction};
use windowpane::time::{Authored, Instant, Resolution, Window};

use crate::watched::{CALLS, Watched};

use super::sample::{REASONS, everything, minute};

/// One thing to do in a transaction. Runs and skips get their name as the step is done.
#[derive(Debug, Clone)]
enum Step {
    SetInfo(StoreInfo),
    InsertWorkflows(Vec<NewWorkflow>),
    RestoreWorkflow(Workflow),
    UpdatePolicies(WorkflowId, Policies),
    UpdateMarks(WorkflowId, Marks),
    UpdateProgress(&'static str, Progress),
    InsertRevision(RevisionRow),
    InsertRuns(Vec<RunRecord>),
    UpdateRuns(Vec<RunRecord>),
    InsertAttempt(RunKey, Attempt),
    InsertSkips(Vec<SkipRecord>),
    PutPause(PauseRecord),
    PutRequest(RequestRecord),
    DeleteRun(RunKey),
    /// The skips that match.
    DeleteSkips(SkipFilter),
    Revisions(WorkflowId, Option<Instant>),
    Workflows(Option<&'static str>, usize),
    DueWorkflows(Option<(Instant, &'static str)>, Instant, Instant, usize),
    NextAfter(Instant),
    OpenRuns(OpenState, Instant, Option<RunRecord>, usize),
    Runs(RunFilter),
    Run(RunKey),
    Skips(SkipFilter),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Commit,
    Drop,
}

/// The name of a workflow, or of one that is not there.
fn name_of(transaction: &mut dyn Transaction, id: WorkflowId) -> Result<String, StoreError> {
    let workflows = transaction.workflows(None, 100)?;
    let found = workflows.into_iter().find(|workflow| workflow.id == id);
    Ok(found.map_or("absent".to_owned(), |workflow| workflow.reference))
}

/// Runs under the names that their workflows have by now.
fn with_names(
    transaction: &mut dyn Transaction,
    runs: &[RunRecord],
) -> Result<Vec<RunRecord>, StoreError> {
    let named = |run: &RunRecord| {
        let reference = name_of(transaction, run.key.workflow)?;
        Ok(RunRecord { reference, ..run.clone() })
    };
    runs.iter().map(named).collect()
}

/// Does the step, and says in text what came of it.
fn apply(transaction: &mut dyn Transaction, step: &Step) -> Result<String, StoreError> {
    let t = transaction;
    Ok(match step {
        Step::SetInfo(info) => format!("{:?} {:?}", t.set_info(info)?, t.info()?),
        Step::InsertWorkflows(new) => format!("{:?}", t.insert_workflows(new)?),
        Step::RestoreWorkflow(workflow) => {
            format!("{:?}", t.restore_workflows(std::slice::from_ref(workflow))?)
        }
        Step::UpdatePolicies(id, policies) => format!("{:?}", t.update_policies(*id, policies)?),
        Step::UpdateMarks(id, marks) => format!("{:?}", t.update_marks(*id, marks)?),
        Step::PutPause(pause) => {
            let before = t.pauses(pause.workflow)?;
            format!("{before:?} {:?} {:?}", t.put_pause(pause)?, t.pauses(pause.workflow)?)
        }
        Step::PutRequest(request) => {
            let (id, of) = (&request.id, request.workflow);
            let before = format!("{:?} {:?}", t.request(of, id)?, t.requests(of)?);
            t.put_request(request)?;
            format!("{before} {:?} {:?}", t.request(of, id)?, t.requests(of)?)
        }
        Step::DeleteRun(key) => format!("{:?}", t.delete_runs(std::slice::from_ref(key))?),
        Step::DeleteSkips(filter) => {
            let skips = t.skips(filter)?;
            format!("{:?}", t.delete_skips(&skips)?)
        }
        Step::UpdateProgress(reference, progress) => match t.workflow(reference)? {
            Some(before) => format!("{:?}", t.update_progress(&[(&before, *progress)])?),
            None => "absent".to_owned(),
        },
        Step::InsertRevision(row) => {
            format!("{:?}", t.insert_revisions(std::slice::from_ref(row))?)
        }
        Step::InsertRuns(runs) => {
            let runs = with_names(t, runs)?;
            format!("{:?}", t.insert_runs(&runs)?)
        }
        Step::UpdateRuns(runs) => {
            let runs = with_names(t, runs)?;
            format!("{:?}", t.update_runs(&runs)?)
        }
        Step::InsertAttempt(key, attempt) => {
            t.insert_past_attempts(&[(key.clone(), attempt.clone())])?;
            format!("{:?}", t.past_attempts(key)?)
        }
        Step::InsertSkips(skips) => {
            let mut skips = skips.clone();
            for skip in &mut skips {
                skip.reference = name_of(t, skip.workflow)?;
            }
            format!("{:?}", t.insert_skips(&skips)?)
        }
        Step::Revisions(id, instant) => format!("{:?}", t.revisions(&[(*id, *instant)])?),
        Step::Workflows(after, limit) => format!("{:?}", t.workflows(*after, *limit)?),
        Step::DueWorkflows(after, turn, due, limit) => {
            format!("{:?}", t.due_workflows(*after, *turn, *due, *limit)?)
        }
        Step::NextAfter(now) => {
            let counts = t.counts()?;
            let (due, available) = (t.next_due_after(*now)?, t.next_available_after(*now)?);
            format!("{due:?} {available:?} {counts:?}")
        }
        Step::OpenRuns(state, now, after, limit) => {
            format!("{:?}", t.open_runs(*state, *now, after.as_ref(), *limit)?)
        }
        Step::Runs(filter) => format!("{:?}", t.runs(filter)?),
        Step::Run(key) => {
            let keys = std::slice::from_ref(key);
            let past = (t.past_attempts(key)?, t.past_attempts_of(keys)?);
            format!("{:?} {past:?}", t.runs_with_keys(keys)?)
        }
        Step::Skips(filter) => format!("{:?}", t.skips(filter)?),
    })
}

/// What came of each step of one transaction; the first error ends it.
fn answers(store: &mut dyn Store, steps: &[Step], end: End) -> Vec<String> {
    let mut transaction = store.begin_write().unwrap();
    let mut answers = Vec::new();
    for step in steps {
        match apply(&mut *transaction, step) {
            Ok(answer) => answers.push(answer),
            Err(error) => {
                answers.push(error.to_string());
                return answers;
            }
        }
    }
    if end == End::Commit {
        transaction.commit().unwrap();
    }
    answers
}

/// A store whose calls are noted.
fn noted(inner: Box<dyn Store>, called: &Rc<RefCell<BTreeSet<&'static str>>>) -> Watched {
    let called = Rc::clone(called);
    let note = move |step| {
        called.borrow_mut().insert(step);
        Ok(())
    };
    Watched { inner, watch: Rc::new(note) }
}

/// `WINDOWPANE_DIFFERENTIAL_CASES=20000 cargo test differential` tries more.
#[test]
fn every_store_agrees_with_the_model_on_every_call() {
    let cases = crate::setting("WINDOWPANE_DIFFERENTIAL_CASES");
    let cases = cases.map_or(48, |cases| cases.parse().unwrap());
    let config = ProptestConfig { cases, source_file: Some(file!()), ..ProptestConfig::default() };
    let called = Rc::default();
    // Most steps end their transaction where there is no workflow, so most cases begin with some.
    let opening = vec(new_workflow(), 0..3).prop_map(Step::InsertWorkflows);
    let transactions = (opening, vec((vec(step(), 1..12), end()), 1..12));
    let agree = TestRunner::new(config).run(&transactions, |(opening, mut transactions)| {
        transactions.insert(0, (vec![opening], End::Commit));
        let folder = tempfile::tempdir().unwrap();
        let options = Options { durability: Durability::Process, ..Options::default() };
        let path = folder.path().join("store.db");
        let mut sqlite = SqliteStore::open_with(&path, &options).unwrap();
        let mut model = noted(Box::new(ModelStore::new()), &called);
        #[cfg(feature = "postgres")]
        let scratch = crate::postgres::scratch();
        #[cfg(feature = "postgres")]
        let mut postgres = scratch.as_ref().map(crate::postgres::Scratch::open);
        for (steps, end) in transactions {
            let expected = answers(&mut model, &steps, end);
            let left = everything(&mut model).unwrap();
            prop_assert_eq!(answers(&mut sqlite, &steps, end), expected.clone());
            prop_assert_eq!(everything(&mut sqlite).unwrap(), left.clone());
            #[cfg(feature = "postgres")]
            if let Some(postgres) = &mut postgres {
                prop_assert_eq!(answers(postgres, &steps, end), expected);
                prop_assert_eq!(everything(postgres).unwrap(), left);
            }
        }
        Ok(())
    });
    agree.unwrap_or_else(|failure| panic!("{failure}"));
    println!("{cases} cases of up to 133 operations agree");
    let missing: Vec<_> = CALLS.iter().filter(|call| !called.borrow().contains(*call)).collect();
    assert!(missing.is_empty(), "no case calls {missing:?}");
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![4 => Just(End::Commit), 1 => Just(End::Drop)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => info().prop_map(Step::SetInfo),
        5 => vec(new_workflow(), 1..3).prop_map(Step::InsertWorkflows),
        1 => workflow().prop_map(Step::RestoreWorkflow),
        1 => (id(), policies()).prop_map(|(id, policies)| Step::UpdatePolicies(id, policies)),
        1 => (id(), marks()).prop_map(|(id, marks)| Step::UpdateMarks(id, marks)),
        1 => pause().prop_map(Step::PutPause),
        1 => request().prop_map(Step::PutRequest),
        1 => key().prop_map(Step::DeleteRun),
        1 => skip_filter().prop_map(Step::DeleteSkips),
        4 => (name(), progress()).prop_map(|(name, progress)| Step::UpdateProgress(name, progress)),
        2 => revision().prop_map(Step::InsertRevision),
        6 => vec(run(), 1..4).prop_map(Step::InsertRuns),
        4 => vec(run(), 1..2).prop_map(Step::UpdateRuns),
        2 => (key(), attempt()).prop_map(|(key, attempt)| Step::InsertAttempt(key, attempt)),
        2 => vec(skip(), 1..4).prop_map(Step::InsertSkips),
        1 => (id(), option::of(instant())).prop_map(|(id, from)| Step::Revisions(id, from)),
        1 => (option::of(name()), 0..4_usize).prop_map(|(after, n)| Step::Workflows(after, n)),
        2 => (option::of((instant(), name())), instant(), instant(), 0..4_usize)
            .prop_map(|(after, turn, due, n)| Step::DueWorkflows(after, turn, due, n)),
        2 => instant().prop_map(Step::NextAfter),
        2 => open_runs(),
        2 => run_filter().prop_map(Step::Runs),
        1 => key().prop_map(Step::Run),
        2 => skip_filter().prop_map(Step::Skips),
    ]
}

const NAMES: [&str; 5] = ["b", "a", "B", "é", "a/b"];

fn id() -> impl Strategy<Value = WorkflowId> + Clone {
    (1..=5_i64).prop_map(WorkflowId)
}

fn name() -> impl Strategy<Value = &'static str> + Clone {
    prop::sample::select(&NAMES[..])
}

fn instant() -> impl Strategy<Value = Instant> + Clone {
    prop_oneof![
        20 => (0..12_i64).prop_map(|steps| minute(steps * 5)),
        1 => Just(Instant::MIN),
        1 => Just(Instant::MAX),
    ]
}

/// Far enough from both ends of the range for a window or a lease.
fn inner_instant() -> impl Strategy<Value = Instant> + Clone {
    (-3..12_i64).prop_map(|steps| minute(steps * 5))
}

fn tzdb() -> impl Strategy<Value = String> {
    prop_oneof![Just("2025b".to_owned()), Just("2026f".to_owned())]
}

fn info() -> impl Strategy<Value = StoreInfo> {
    let clock = prop_oneof![Just(ClockKind::System), Just(ClockKind::Test)];
    let instants = || option::of(instant());
    (clock, tzdb(), 0..i64::MAX, instants(), instants()).prop_map(
        |(clock, tzdb, definition_writes, last_planned, set_ahead)| StoreInfo {
            clock,
            tzdb,
            definition_writes,
            last_planned,
            set_ahead,
        },
    )
}

fn policies() -> impl Strategy<Value = Policies> {
    let catch_up = prop_oneof![
        Just(CatchUp::Latest),
        (1..100_000_u32).prop_map(|limit| CatchUp::Backfill { limit })
    ];
    let first_run = prop_oneof![Just(FirstRun::Newest), Just(FirstRun::Next)];
    let overlap = prop_oneof![Just(Overlap::Allow), Just(Overlap::Wait), Just(Overlap::Skip)];
    (catch_up, option::of(0..i64::MAX), first_run, overlap, 1..=100_u32).prop_map(
        |(catch_up, max_age_ms, first_run, overlap, max_attempts)| Policies {
            catch_up,
            max_age_ms,
            first_run,
            overlap,
            max_attempts,
        },
    )
}

fn marks() -> impl Strategy<Value = Marks> {
    let mark = || option::of(instant());
    (mark(), mark(), mark(), mark(), mark(), mark()).prop_map(
        |(paused, retired, pruned_before, rewound_from, tz_passed, requested)| Marks {
            paused,
            retired,
            pruned_before,
            rewound_from,
            tz_passed,
            requested,
        },
    )
}

fn pause() -> impl Strategy<Value = PauseRecord> {
    let resumed = prop_oneof![Just(Resume::CatchUp), Just(Resume::Drop)];
    (id(), instant(), option::of((instant(), resumed)), option::of("[ -~]{0,9}")).prop_map(
        |(workflow, from, end, reason)| PauseRecord {
            workflow,
            from,
            to: end.map(|(to, _)| to),
            by: reason.clone(),
            reason,
            resumed: end.map(|(_, resumed)| resumed),
        },
    )
}

fn request() -> impl Strategy<Value = RequestRecord> {
    (id(), "r[12]", instant(), option::of("[ -~]{0,9}"), vec(instant(), 0..4)).prop_map(
        |(workflow, id, made, reason, pruned)| RequestRecord {
            workflow,
            id,
            arguments: "{}".to_owned(),
            made,
            by: None,
            reason,
            answer: "{}".to_owned(),
            pruned,
        },
    )
}

fn due_key() -> impl Strategy<Value = DueKey> {
    prop_oneof![
        instant().prop_map(|due| DueKey { turn: due, due }),
        (instant(), instant()).prop_map(|(turn, due)| DueKey { turn, due }),
    ]
}

fn new_workflow() -> impl Strategy<Value = NewWorkflow> {
    (name(), instant(), policies(), option::of(due_key())).prop_map(
        |(reference, registered, policies, due)| NewWorkflow {
            reference: reference.to_owned(),
            source: "default".to_owned(),
            registered,
            policies,
            due,
        },
    )
}

fn workflow() -> impl Strategy<Value = Workflow> {
    (id(), name(), instant(), policies(), marks(), progress()).prop_map(
        |(id, reference, registered, policies, marks, progress)| Workflow {
            id,
            reference: reference.to_owned(),
            source: "default".to_owned(),
            registered,
            policies,
            marks,
            progress,
        },
    )
}

fn progress() -> impl Strategy<Value = Progress> {
    let local_ms = option::of(prop_oneof![Just(i64::MIN), Just(-1), Just(1), Just(i64::MAX)]);
    (option::of(instant()), local_ms, option::of(instant()), 0..9_i64, option::of(due_key()))
        .prop_map(|(cursor, cursor_local_ms, last_handed, last_token, due)| Progress {
            cursor,
            cursor_local_ms,
            last_handed,
            last_token,
            due,
        })
}

fn revision() -> impl Strategy<Value = RevisionRow> {
    (id(), 1..4_u32, instant(), option::of("[ -~]{0,9}"), instant(), tzdb()).prop_map(
        |(workflow, number, after, schedule, made, tzdb)| RevisionRow {
            workflow,
            number,
            after: (number > 1).then_some(after),
            schedule,
            made,
            tzdb,
        },
    )
}

fn key() -> impl Strategy<Value = RunKey> {
    let request_id = prop_oneof![3 => Just(""), 1 => Just("r1"), 1 => Just("R.2")];
    (inner_instant(), id(), request_id).prop_map(|(occurrence, workflow, request_id)| RunKey {
        occurrence,
        workflow,
        request_id: request_id.to_owned(),
    })
}

fn plan(occurrence: Instant) -> impl Strategy<Value = Run> {
    let lengths = prop_oneof![Just(1_000_i64), Just(300_000), 1..9_000_000_000_i64];
    let phases = prop_oneof![Just(0), 0..900_000_i64];
    let early = prop_oneof![3 => Just(0), 1 => 1..100_000_i64];
    let resolution = prop::sample::select(vec![
        Resolution::Exact,
        Resolution::GapShifted,
        Resolution::GapNext,
        Resolution::FoldFirst,
        Resolution::FoldLast,
    ]);
    (lengths.clone(), option::of(lengths), 0..900_000_i64, phases, early, 1..9_u32, resolution)
        .prop_map(
            move |(interval_ms, window_ms, delay_ms, phase_ms, early, revision, resolution)| Run {
                occurrence,
                due: occurrence.checked_add_ms(phase_ms - early).unwrap(),
                window: Window::of(occurrence, interval_ms, delay_ms, window_ms).unwrap(),
                interval_ms,
                phase_ms,
                revision,
                authored: Authored { local_ms: occurrence.as_ms() + 7_200_000, resolution },
            },
        )
}

/// What was done with a run before it is stored.
#[derive(Debug, Clone, Copy)]
enum Past {
    Nothing,
    Cancelled,
    HandedOut,
    Succeeded,
    Failed,
    ToBeRetried,
    Released,
    ReleasedAndCancelled,
    Expired,
    Abandoned,
}

fn run() -> impl Strategy<Value = RunRecord> {
    let past = prop::sample::select(vec![
        Past::Nothing,
        Past::Cancelled,
        Past::HandedOut,
        Past::Succeeded,
        Past::Failed,
        Past::ToBeRetried,
        Past::Released,
        Past::ReleasedAndCancelled,
        Past::Expired,
        Past::Abandoned,
    ]);
    let texts = (option::of("[ -~]{0,9}"), option::of("[ -~é]{0,9}"), "w[12]", tzdb());
    (key(), past, inner_instant(), 1..9_i64, texts)
        .prop_flat_map(|(key, past, now, token, texts)| {
            (plan(key.occurrence), Just((key, past, now, token, texts)))
        })
        .prop_map(|(plan, (key, past, now, token, (error, output, worker, tzdb)))| {
            let run = RunRecord::pending(key, String::new(), plan, tzdb, now);
            let handed = run.clone().hand_out(&worker, token, now, 300_000).unwrap().run;
            let finish = |verdict| {
                let finish = Finish { verdict, error: error.clone(), output: output.clone() };
                match handed.clone().finish(token, now, finish, 3).unwrap() {
                    Finished::Recorded(run) | Finished::AlreadySo(run) => run,
                }
            };
            let expire = |max_attempts| match handed.clone().expire(minute(99), max_attempts) {
                Ok(Expiry::Ready(run) | Expiry::Abandoned(run)) => run,
                Err(error) => panic!("{error}"),
            };
            match past {
                Past::Nothing => run,
                Past::Cancelled => run.cancel().unwrap(),
                Past::HandedOut => handed,
                Past::Succeeded => finish(Verdict::Succeeded),
                Past::Failed => finish(Verdict::Failed { retry_in_ms: None }),
                Past::ToBeRetried => finish(Verdict::Failed { retry_in_ms: Some(60_000) }),
                Past::Released => handed.release(token, now).unwrap(),
                Past::ReleasedAndCancelled => handed.release(token, now).unwrap().cancel().unwrap(),
                Past::Expired => expire(3),
                Past::Abandoned => expire(1),
            }
        })
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let outcome = prop::sample::select(Outcome::ALL);
    (1..4_u32, 1..9_i64, "w[12]", instant(), instant(), outcome, option::of("[ -~]{0,9}")).prop_map(
        |(number, token, worker, claimed, ended, outcome, error)| Attempt {
            number,
            token,
            worker,
            claimed,
            ended: Some(ended),
            outcome: Some(outcome),
            error,
        },
    )
}

fn skip() -> impl Strategy<Value = SkipRecord> {
    let reason = prop::sample::select(&REASONS[..]);
    (id(), instant(), instant(), 1..9_u64, reason, instant(), 1..9_u32, tzdb()).prop_map(
        |(workflow, one, other, count, reason, skipped, revision, tzdb)| SkipRecord {
            workflow,
            reference: String::new(),
            first: one.min(other),
            last: one.max(other),
            count,
            reason,
            skipped,
            revision,
            tzdb,
        },
    )
}

fn open_runs() -> impl Strategy<Value = Step> {
    let state = prop_oneof![Just(OpenState::Pending), Just(OpenState::Claimed)];
    let open = run().prop_filter("open", |run| run.available.is_some());
    (state, instant(), option::of(open), 0..5_usize)
        .prop_map(|(state, now, after, limit)| Step::OpenRuns(state, now, after, limit))
}

fn run_filter() -> impl Strategy<Value = RunFilter> {
    let after = (inner_instant(), name(), prop_oneof![Just(String::new()), Just("r1".to_owned())])
        .prop_map(|(occurrence, name, request_id)| (occurrence, name.to_owned(), request_id));
    (
        option::of(id()),
        option::of(instant()),
        option::of(instant()),
        vec(prop::sample::select(RunState::ALL), 0..3),
        option::of(after),
        option::of(0..5_usize),
    )
        .prop_map(|(workflow, from, to, states, after, limit)| RunFilter {
            workflow,
            from,
            to,
            states,
            after,
            limit,
        })
}

fn skip_filter() -> impl Strategy<Value = SkipFilter> {
    let after = (inner_instant(), name(), inner_instant())
        .prop_map(|(first, name, last)| (first, name.to_owned(), last));
    (
        option::of(id()),
        option::of(instant()),
        option::of(instant()),
        option::of(after),
        option::of(0..5_usize),
    )
        .prop_map(|(workflow, from, to, after, limit)| SkipFilter {
            workflow,
            from,
            to,
            after,
            limit,
        })
}
