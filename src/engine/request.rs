//! Runs that somebody asks for: a separate intent, which never moves a cursor.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::clock::Clock;
use crate::plan::{Revision, Run, Timeline};
use crate::store::record::{
    Marks, RequestRecord, RunFilter, RunKey, RunRecord, RunState, Workflow,
};
use crate::store::{RunId, Store, Transaction};
use crate::time::{Authored, Instant, Resolution, Window, tzdb_version};

use super::batch::Batch;
use super::pause::Note;
use super::store_info;
use super::workflow::{Planned, read_revisions};
use super::{EngineError, Mode};

/// A request makes at most this many runs.
pub const REQUESTED_AT_MOST: usize = 1_000_000;

/// The longest request id, in bytes.
pub const REQUEST_ID_AT_MOST: usize = 128;

/// What to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Every occurrence in `[from, to)`.
    Occurrences {
        /// The first instant inside.
        from: Instant,
        /// The first instant after.
        to: Instant,
    },
    /// Every occurrence whose window meets a span.
    Covering(Window),
    /// The newest due occurrence.
    Latest,
    /// One run over just this window, whatever the schedule.
    Window(Window),
}

/// Which of the selected occurrences to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Only {
    /// Those without a succeeded, claimed or pending run that the schedule does not owe.
    #[default]
    Missing,
    /// Those whose last run failed or was abandoned.
    Failed,
    /// All.
    All,
}

impl Only {
    /// The word that requests use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Only::Missing => "missing",
            Only::Failed => "failed",
            Only::All => "all",
        }
    }
}

/// Whose definition the windows follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Windows {
    /// That of each occurrence's own revision, or of the run that failed.
    #[default]
    Pinned,
    /// The present one.
    Present,
}

/// A request for runs.
#[derive(Debug, Clone, Copy)]
pub struct RunRequest<'a> {
    /// The workflow.
    pub reference: &'a str,
    /// Its id: 1 to 128 of `[A-Za-z0-9._:-]`, scoped to the workflow.
    pub id: &'a str,
    /// What to run.
    pub selection: Selection,
    /// Which of it; [`Selection::Latest`] and [`Selection::Window`] take all.
    pub only: Only,
    /// Whose definition the windows follow.
    pub windows: Windows,
    /// Who asks, and why.
    pub note: Note<'a>,
}

/// What a request led to.
#[derive(Debug, Clone)]
pub struct Requested {
    /// The instant at which it was made, or made first.
    pub made: Instant,
    /// Its runs as they are now, by occurrence.
    pub runs: Vec<RunRecord>,
    /// The occurrences of its runs that were pruned since.
    pub pruned: Vec<Instant>,
    /// How many occurrences were left out, by the reason.
    pub left_out: BTreeMap<String, u64>,
}

impl Requested {
    /// [`Requested::left_out`] as a JSON object.
    pub fn left_out_json(&self) -> String {
        json!(self.left_out).to_string()
    }
}

/// Makes one pending run for each selected occurrence that is already due. The same id again
/// changes nothing and gives the same runs.
///
/// # Errors
/// [`EngineError::BadRequest`] for an id that is not one, for other arguments under an id that was
/// used, for a window that has not ended or for too many runs;
/// [`EngineError::UnknownWorkflow`], [`EngineError::Plan`], [`EngineError::OtherClock`],
/// [`EngineError::Store`]. Nothing was changed.
pub fn request(
    store: &mut dyn Store,
    clock: &dyn Clock,
    request: &RunRequest<'_>,
    mode: Mode,
) -> Result<Requested, EngineError> {
    check_id(request.id)?;
    let mut tx = store.begin_write()?;
    let now = clock.now();
    store_info::for_write(&mut *tx, clock)?;
    let unknown = || EngineError::UnknownWorkflow { reference: request.reference.to_owned() };
    let workflow = tx.workflow(request.reference)?.ok_or_else(unknown)?;
    let arguments = arguments(request);
    if let Some(known) = tx.request(workflow.id, request.id)? {
        if known.arguments != arguments {
            let problem = format!("the request `{}` was made with other arguments", request.id);
            return Err(EngineError::BadRequest { problem });
        }
        return answer_again(&mut *tx, &workflow, known);
    }
    let selected = select(&mut *tx, &workflow, request, now)?;
    let runs: Vec<RunRecord> =
        selected.runs.into_iter().map(|plan| record(&workflow, request.id, plan, now)).collect();
    tx.insert_runs(&runs)?;
    let marks = Marks { requested: Some(now), ..workflow.marks };
    tx.update_marks(workflow.id, &marks)?;
    let span = runs.first().zip(runs.last());
    let answer = json!({
        "runs": runs.len(),
        "left_out": selected.left_out,
        "first_ms": span.map(|(first, _)| first.key.occurrence.as_ms()),
        "last_ms": span.map(|(_, last)| last.key.occurrence.as_ms()),
    });
    tx.put_request(&RequestRecord {
        workflow: workflow.id,
        id: request.id.to_owned(),
        arguments,
        made: now,
        by: request.note.by.map(str::to_owned),
        reason: request.note.reason.map(str::to_owned),
        answer: answer.to_string(),
        pruned: Vec::new(),
    })?;
    if mode == Mode::Write {
        tx.commit()?;
    }
    Ok(Requested { made: now, runs, pruned: Vec::new(), left_out: selected.left_out })
}

/// Withdraws one pending run, scheduled or requested. What is cancelled already stays so.
///
/// # Errors
/// [`EngineError::Refused`] when it is claimed or final; [`EngineError::UnknownRun`],
/// [`EngineError::UnknownWorkflow`], [`EngineError::OtherClock`], [`EngineError::Store`].
pub fn cancel(
    store: &mut dyn Store,
    clock: &dyn Clock,
    id: &RunId,
) -> Result<RunRecord, EngineError> {
    let mut tx = store.begin_write()?;
    store_info::for_write(&mut *tx, clock)?;
    let (_, run) = Batch::load(&mut *tx, std::iter::once(id))?.find(id)?;
    if run.state == RunState::Cancelled {
        return Ok(run);
    }
    let run = run.cancel().map_err(|source| EngineError::Refused { id: id.clone(), source })?;
    tx.update_runs(std::slice::from_ref(&run))?;
    tx.commit()?;
    Ok(run)
}

/// Withdraws the pending runs of a request; those that are claimed or final stay as they are.
///
/// # Errors
/// [`EngineError::BadRequest`] when there is no such request; [`EngineError::UnknownWorkflow`],
/// [`EngineError::OtherClock`], [`EngineError::Store`].
pub fn cancel_request(
    store: &mut dyn Store,
    clock: &dyn Clock,
    reference: &str,
    id: &str,
) -> Result<Vec<RunRecord>, EngineError> {
    let mut tx = store.begin_write()?;
    store_info::for_write(&mut *tx, clock)?;
    let unknown = || EngineError::UnknownWorkflow { reference: reference.to_owned() };
    let workflow = tx.workflow(reference)?.ok_or_else(unknown)?;
    let none = || EngineError::BadRequest {
        problem: format!("there is no request `{id}` of `{reference}`"),
    };
    let known = tx.request(workflow.id, id)?.ok_or_else(none)?;
    let runs = answer_again(&mut *tx, &workflow, known)?.runs;
    let cancelled: Vec<RunRecord> = runs.into_iter().filter_map(|run| run.cancel().ok()).collect();
    tx.update_runs(&cancelled)?;
    tx.commit()?;
    Ok(cancelled)
}

fn check_id(id: &str) -> Result<(), EngineError> {
    let is_known =
        |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | ':' | '-');
    if (1..=REQUEST_ID_AT_MOST).contains(&id.len()) && id.chars().all(is_known) {
        return Ok(());
    }
    let problem =
        format!("`{}` is not a request id: 1 to 128 of A-Z a-z 0-9 . _ : -", id.escape_debug());
    Err(EngineError::BadRequest { problem })
}

/// What was asked for, so that asking again can be told from asking otherwise.
fn arguments(request: &RunRequest<'_>) -> String {
    let selection = match request.selection {
        Selection::Occurrences { from, to } => json!({ "from": from.as_ms(), "to": to.as_ms() }),
        Selection::Covering(span) => json!({ "covering": [span.start.as_ms(), span.end.as_ms()] }),
        Selection::Latest => json!("latest"),
        Selection::Window(window) => {
            json!({ "window": [window.start.as_ms(), window.end.as_ms()] })
        }
    };
    let windows = if request.windows == Windows::Present { "present" } else { "pinned" };
    json!({ "select": selection, "only": request.only.as_str(), "windows": windows }).to_string()
}

/// How many runs a request made.
pub(super) fn answered_runs(request: &RequestRecord) -> Option<u64> {
    serde_json::from_str::<Value>(&request.answer).ok()?["runs"].as_u64()
}

/// The windows by themselves that requests asked for.
pub(super) fn requested_windows(requests: &[RequestRecord]) -> Vec<Window> {
    let window = |request: &RequestRecord| {
        let arguments: Value = serde_json::from_str(&request.arguments).ok()?;
        let bound = |index: usize| {
            Instant::from_ms(arguments["select"]["window"].get(index)?.as_i64()?).ok()
        };
        Some(Window { start: bound(0)?, end: bound(1)? })
    };
    requests.iter().filter_map(window).collect()
}

fn record(workflow: &Workflow, id: &str, plan: Run, now: Instant) -> RunRecord {
    let key =
        RunKey { occurrence: plan.occurrence, workflow: workflow.id, request_id: id.to_owned() };
    RunRecord::pending(key, workflow.reference.clone(), plan, tzdb_version().to_owned(), now)
}

/// The answer to a request that was made before.
fn answer_again(
    tx: &mut dyn Transaction,
    workflow: &Workflow,
    known: RequestRecord,
) -> Result<Requested, EngineError> {
    let answer: Value = serde_json::from_str(&known.answer).unwrap_or_default();
    let instant = |key: &str| answer[key].as_i64().and_then(|ms| Instant::from_ms(ms).ok());
    let mut runs = Vec::new();
    if let Some((first, last)) = instant("first_ms").zip(instant("last_ms")) {
        let (from, to) = (Some(first), last.checked_add_ms(1));
        runs =
            tx.runs(&RunFilter { workflow: Some(workflow.id), from, to, ..RunFilter::default() })?;
        runs.retain(|run| run.key.request_id == known.id);
    }
    let left_out = serde_json::from_value(answer["left_out"].clone()).unwrap_or_default();
    Ok(Requested { made: known.made, runs, pruned: known.pruned, left_out })
}

/// What a request selects, and what it leaves out.
#[derive(Default)]
struct Selected {
    runs: Vec<Run>,
    left_out: BTreeMap<String, u64>,
}

impl Selected {
    fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
    }
}

fn select(
    tx: &mut dyn Transaction,
    workflow: &Workflow,
    request: &RunRequest<'_>,
    now: Instant,
) -> Result<Selected, EngineError> {
    let rows = tx.revisions(&[(workflow.id, None)])?.concat();
    let revisions = read_revisions(&workflow.reference, &rows)?;
    let timeline = Timeline::new(&revisions);
    let present = revisions.last();
    let candidates = candidates(&timeline, present, request.selection, now, &workflow.reference)?;
    let mut selected = Selected::default();
    let before = before(tx, workflow, &candidates)?;
    let owed = Planned::load_one(tx, workflow.clone())?.plan(now).owed;
    for run in candidates {
        let occurrence = run.occurrence;
        let runs = before.get(&occurrence).map_or(&[][..], Vec::as_slice);
        let is_owed = owed.is_some_and(|owed| (owed.first..=owed.last).contains(&occurrence));
        let is_pruned = workflow.marks.pruned_before.is_some_and(|horizon| occurrence < horizon);
        match chosen(request, run, runs, is_owed, is_pruned, now) {
            Ok(plan) => {
                selected.runs.push(rewindowed(plan, present, request, &workflow.reference)?)
            }
            Err(reason) => selected.leave_out(reason),
        }
    }
    Ok(selected)
}

/// Every occurrence that the selection names, due or not.
fn candidates(
    timeline: &Timeline,
    present: Option<&Revision>,
    selection: Selection,
    now: Instant,
    reference: &str,
) -> Result<Vec<Run>, EngineError> {
    let refuse = |problem: String| Err(EngineError::BadRequest { problem });
    let runs: Box<dyn Iterator<Item = _>> = match selection {
        Selection::Occurrences { from, to } => Box::new(timeline.runs(from, to)),
        Selection::Covering(span) => Box::new(timeline.runs_covering(span.start, span.end)),
        Selection::Latest => Box::new(timeline.run_due(now).into_iter()),
        Selection::Window(window) if window.end > now => {
            return refuse(format!("the window ends at {}, which is not yet", window.end));
        }
        Selection::Window(window) => {
            Box::new(std::iter::once(Ok(over(window, present.map_or(1, Revision::number)))))
        }
    };
    let mut found = Vec::new();
    for run in runs {
        if found.len() == REQUESTED_AT_MOST {
            return refuse(format!("more than {REQUESTED_AT_MOST} occurrences are selected"));
        }
        found.push(
            run.map_err(|source| EngineError::Plan { reference: reference.to_owned(), source })?,
        );
    }
    Ok(found)
}

/// A run over just one window.
fn over(window: Window, revision: u32) -> Run {
    Run {
        occurrence: window.end,
        due: window.end,
        window,
        interval_ms: window.end.ms_since(window.start),
        phase_ms: 0,
        revision,
        authored: Authored { local_ms: window.end.as_ms(), resolution: Resolution::Exact },
    }
}

/// The runs on record of the candidates' occurrences.
fn before(
    tx: &mut dyn Transaction,
    workflow: &Workflow,
    candidates: &[Run],
) -> Result<BTreeMap<Instant, Vec<RunRecord>>, EngineError> {
    let mut runs: BTreeMap<Instant, Vec<RunRecord>> = BTreeMap::new();
    let occurrences = candidates.iter().map(|run| run.occurrence);
    if let Some((first, last)) = occurrences.clone().min().zip(occurrences.max()) {
        let (from, to) = (Some(first), last.checked_add_ms(1));
        let filter = RunFilter { workflow: Some(workflow.id), from, to, ..RunFilter::default() };
        for run in tx.runs(&filter)? {
            runs.entry(run.key.occurrence).or_default().push(run);
        }
    }
    Ok(runs)
}

/// The plan to run for one occurrence, or why it is left out.
fn chosen(
    request: &RunRequest<'_>,
    run: Run,
    before: &[RunRecord],
    is_owed: bool,
    is_pruned: bool,
    now: Instant,
) -> Result<Run, &'static str> {
    if run.due > now {
        return Err("not_yet_due");
    }
    let only = match request.selection {
        Selection::Latest | Selection::Window(_) => Only::All,
        _ => request.only,
    };
    let has = |state: RunState| before.iter().any(|run| run.state == state);
    match only {
        Only::All => Ok(run),
        Only::Missing => {
            for state in [RunState::Succeeded, RunState::Claimed, RunState::Pending] {
                if has(state) {
                    return Err(state.as_str());
                }
            }
            match (is_owed, is_pruned) {
                (true, _) => Err("owed"),
                (_, true) => Err("pruned"),
                _ => Ok(run),
            }
        }
        Only::Failed => {
            // Tokens tell the order where clocks do not; what is still open comes last.
            let place = |run: &&RunRecord| {
                (run.available.is_some(), run.attempt.as_ref().map(|attempt| attempt.token))
            };
            let last = before.iter().max_by_key(place).ok_or("no_run")?;
            match last.state {
                RunState::Failed | RunState::Abandoned => Ok(last.plan),
                state => Err(state.as_str()),
            }
        }
    }
}

/// The plan with the window of the present definition, where that was asked for and no window was
/// named.
fn rewindowed(
    plan: Run,
    present: Option<&Revision>,
    request: &RunRequest<'_>,
    reference: &str,
) -> Result<Run, EngineError> {
    let definition = present.and_then(Revision::definition);
    let (Windows::Present, Some(definition)) = (request.windows, definition) else {
        return Ok(plan);
    };
    if matches!(request.selection, Selection::Window(_)) {
        return Ok(plan);
    }
    let outside = || EngineError::Plan {
        reference: reference.to_owned(),
        source: crate::plan::PlanError::Range { what: "window", occurrence: plan.occurrence },
    };
    let interval_ms = definition.cadence().interval_ms(plan.occurrence).ok_or_else(outside)?;
    let window =
        Window::of(plan.occurrence, interval_ms, definition.delay_ms(), definition.window_ms());
    Ok(Run { window: window.map_err(|_| outside())?, ..plan })
}
