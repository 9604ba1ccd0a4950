//! The reference store: ordered maps in memory, as plain as can be.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::schedule::Policies;
use crate::time::Instant;

use super::record::{
    Attempt, Counts, DueKey, Marks, NewWorkflow, OpenState, PauseRecord, Progress, RequestRecord,
    RevisionRow, RunFilter, RunKey, RunRecord, RunState, SkipFilter, SkipRecord, StoreInfo,
    Workflow, WorkflowId,
};
use super::{Store, StoreError, Transaction};

/// A handle on a store in memory. Clones are handles on the same store, so several engines in one
/// process can share it.
///
/// A second writer is [`StoreError::Busy`] at once: there is nobody to wait for on one thread.
///
/// ```
/// use windowpane::store::Store;
/// use windowpane::store::model::ModelStore;
///
/// let mut store = ModelStore::new();
/// assert_eq!(store.clone().begin_read()?.info()?, None);
/// let _writer = store.begin_write()?;
/// # Ok::<(), windowpane::store::StoreError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ModelStore {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    committed: Arc<State>,
    writer: Writer,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Writer {
    #[default]
    Absent,
    Present,
}

/// Everything that is stored.
#[derive(Debug, Clone, Default)]
struct State {
    info: Option<StoreInfo>,
    /// Ordered by ref, bytewise.
    workflows: BTreeMap<String, Workflow>,
    revisions: BTreeMap<(WorkflowId, u32), RevisionRow>,
    runs: BTreeMap<RunKey, RunRecord>,
    past_attempts: BTreeMap<(RunKey, i64), Attempt>,
    /// In the order in which they were added.
    skips: Vec<SkipRecord>,
    pauses: BTreeMap<(WorkflowId, Instant), PauseRecord>,
    requests: BTreeMap<(WorkflowId, String), RequestRecord>,
}

impl ModelStore {
    /// A new store without rows.
    pub fn new() -> ModelStore {
        ModelStore::default()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }
}

/// A panic elsewhere cannot leave the state half-changed: a commit is one assignment.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for ModelStore {
    fn begin_write(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        let mut shared = self.shared();
        if shared.writer == Writer::Present {
            return Err(StoreError::Busy);
        }
        shared.writer = Writer::Present;
        let state = Arc::clone(&shared.committed);
        Ok(Box::new(ModelTransaction { store: Arc::clone(&self.shared), state, mode: Mode::Write }))
    }

    fn begin_read(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        let state = Arc::clone(&self.shared().committed);
        Ok(Box::new(ModelTransaction { store: Arc::clone(&self.shared), state, mode: Mode::Read }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
}

/// A transaction works on a copy of the state, made at its first change.
struct ModelTransaction {
    store: Arc<Mutex<Shared>>,
    state: Arc<State>,
    mode: Mode,
}

impl Drop for ModelTransaction {
    fn drop(&mut self) {
        if self.mode == Mode::Write {
            lock(&self.store).writer = Writer::Absent;
        }
    }
}

impl ModelTransaction {
    fn change(&mut self, table: &'static str) -> Result<&mut State, StoreError> {
        match self.mode {
            Mode::Read => Err(StoreError::ReadOnly { table }),
            Mode::Write => Ok(Arc::make_mut(&mut self.state)),
        }
    }

    /// The workflows that `key` gives a place to, in the order of the places.
    fn in_order<K: Ord>(&self, key: impl Fn(&Workflow, DueKey) -> Option<K>) -> Vec<&Workflow> {
        let placed = |workflow| Some((key(workflow, workflow.progress.due?)?, workflow));
        let mut placed: Vec<_> = self.state.workflows.values().filter_map(placed).collect();
        placed.sort_by(|(left, _), (right, _)| left.cmp(right));
        placed.into_iter().map(|(_, workflow)| workflow).collect()
    }
}

impl State {
    fn workflow_of(
        &mut self,
        table: &'static str,
        id: WorkflowId,
    ) -> Result<&mut Workflow, StoreError> {
        let found = self.workflows.values_mut().find(|workflow| workflow.id == id);
        found.ok_or(StoreError::Missing { table })
    }
}

impl Transaction for ModelTransaction {
    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        if self.mode == Mode::Write {
            lock(&self.store).committed = Arc::clone(&self.state);
        }
        Ok(())
    }

    fn info(&mut self) -> Result<Option<StoreInfo>, StoreError> {
        Ok(self.state.info.clone())
    }

    fn counts(&mut self) -> Result<Counts, StoreError> {
        let (workflows, runs) = (self.state.workflows.len(), self.state.runs.len());
        Ok(Counts { workflows: workflows as u64, runs: runs as u64 })
    }

    fn set_info(&mut self, info: &StoreInfo) -> Result<(), StoreError> {
        self.change("store_info")?.info = Some(info.clone());
        Ok(())
    }

    fn workflows_named(
        &mut self,
        references: &[&str],
    ) -> Result<Vec<Option<Workflow>>, StoreError> {
        Ok(references.iter().map(|name| self.state.workflows.get(*name).cloned()).collect())
    }

    fn workflows(
        &mut self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        let workflows = self.state.workflows.values();
        let later =
            workflows.filter(|workflow| after.is_none_or(|ref_| *workflow.reference > *ref_));
        Ok(later.take(limit).cloned().collect())
    }

    fn restore_workflows(&mut self, workflows: &[Workflow]) -> Result<(), StoreError> {
        let state = self.change("workflow")?;
        for workflow in workflows {
            let is_taken = state.workflows.contains_key(&workflow.reference)
                || state.workflows.values().any(|other| other.id == workflow.id);
            if is_taken {
                return Err(StoreError::Conflict { table: "workflow" });
            }
            state.workflows.insert(workflow.reference.clone(), workflow.clone());
        }
        Ok(())
    }

    fn insert_workflows(
        &mut self,
        workflows: &[NewWorkflow],
    ) -> Result<Vec<WorkflowId>, StoreError> {
        let state = self.change("workflow")?;
        let mut ids = Vec::with_capacity(workflows.len());
        for new in workflows {
            if state.workflows.contains_key(&new.reference) {
                return Err(StoreError::Conflict { table: "workflow" });
            }
            let last = state.workflows.values().map(|workflow| workflow.id.0).max();
            let id = WorkflowId(last.unwrap_or(0) + 1);
            let workflow = Workflow {
                id,
                reference: new.reference.clone(),
                source: new.source.clone(),
                registered: new.registered,
                policies: new.policies,
                marks: Marks::default(),
                progress: Progress { due: new.due, ..Progress::default() },
            };
            state.workflows.insert(new.reference.clone(), workflow);
            ids.push(id);
        }
        Ok(ids)
    }

    fn update_policies(
        &mut self,
        workflow: WorkflowId,
        policies: &Policies,
    ) -> Result<(), StoreError> {
        self.change("workflow")?.workflow_of("workflow", workflow)?.policies = *policies;
        Ok(())
    }

    fn update_marks(&mut self, workflow: WorkflowId, marks: &Marks) -> Result<(), StoreError> {
        self.change("workflow")?.workflow_of("workflow", workflow)?.marks = *marks;
        Ok(())
    }

    fn update_progress(&mut self, changes: &[(&Workflow, Progress)]) -> Result<(), StoreError> {
        let state = self.change("progress")?;
        for (workflow, progress) in changes {
            state.workflow_of("progress", workflow.id)?.progress = *progress;
        }
        Ok(())
    }

    fn revisions(
        &mut self,
        of: &[(WorkflowId, Option<Instant>)],
    ) -> Result<Vec<Vec<RevisionRow>>, StoreError> {
        let revisions = |&(workflow, instant): &(WorkflowId, Option<Instant>)| {
            let all = self.state.revisions.range((workflow, 0)..=(workflow, u32::MAX));
            let all: Vec<RevisionRow> = all.map(|(_, row)| row.clone()).collect();
            let covers = |row: &RevisionRow| instant.is_some() && row.after <= instant;
            let from = all.iter().rposition(covers).unwrap_or(0);
            all[from..].to_vec()
        };
        Ok(of.iter().map(revisions).collect())
    }

    fn insert_revisions(&mut self, revisions: &[RevisionRow]) -> Result<(), StoreError> {
        let state = self.change("revision")?;
        for row in revisions {
            state.workflow_of("workflow", row.workflow)?;
            if state.revisions.insert((row.workflow, row.number), row.clone()).is_some() {
                return Err(StoreError::Conflict { table: "revision" });
            }
        }
        Ok(())
    }

    fn due_workflows(
        &mut self,
        after: Option<(Instant, &str)>,
        turn: Instant,
        due: Instant,
        limit: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        let found = self.in_order(|workflow, key| {
            let place = (key.turn, workflow.reference.clone());
            let later = after.is_none_or(|after| (place.0, place.1.as_str()) > after);
            (later && key.turn <= turn && key.due <= due).then_some(place)
        });
        Ok(found.into_iter().take(limit).cloned().collect())
    }

    fn next_due_after(&mut self, now: Instant) -> Result<Option<Instant>, StoreError> {
        let dues = self.state.workflows.values().filter_map(|workflow| workflow.progress.due);
        Ok(dues.map(|key| key.due).filter(|&due| due > now).min())
    }

    fn open_runs(
        &mut self,
        state: OpenState,
        now: Instant,
        after: Option<&RunRecord>,
        limit: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let state = RunState::from(state);
        let mut found: Vec<&RunRecord> = self
            .state
            .runs
            .values()
            .filter(|run| run.state == state && run.available <= Some(now))
            .filter(|run| after.is_none_or(|after| open_place(run) > open_place(after)))
            .collect();
        found.sort_by_key(|run| open_place(run));
        Ok(found.into_iter().take(limit).cloned().collect())
    }

    fn next_available_after(&mut self, now: Instant) -> Result<Option<Instant>, StoreError> {
        let instants = self.state.runs.values().filter_map(|run| run.available);
        Ok(instants.filter(|&instant| instant > now).min())
    }

    fn runs_with_keys(&mut self, keys: &[RunKey]) -> Result<Vec<Option<RunRecord>>, StoreError> {
        Ok(keys.iter().map(|key| self.state.runs.get(key).cloned()).collect())
    }

    fn runs(&mut self, filter: &RunFilter) -> Result<Vec<RunRecord>, StoreError> {
        let mut found: Vec<&RunRecord> =
            self.state.runs.values().filter(|run| matches_run(filter, run)).collect();
        found.sort_by_key(|run| list_place(run));
        Ok(found.into_iter().take(filter.limit.unwrap_or(usize::MAX)).cloned().collect())
    }

    fn insert_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        let state = self.change("run")?;
        for run in runs {
            state.workflow_of("workflow", run.key.workflow)?;
            if state.runs.insert(run.key.clone(), run.clone()).is_some() {
                return Err(StoreError::Conflict { table: "run" });
            }
        }
        Ok(())
    }

    fn update_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError> {
        let state = self.change("run")?;
        for run in runs {
            let stored = state.runs.get_mut(&run.key);
            *stored.ok_or(StoreError::Missing { table: "run" })? = run.clone();
        }
        Ok(())
    }

    fn past_attempts(&mut self, key: &RunKey) -> Result<Vec<Attempt>, StoreError> {
        let attempts = self.state.past_attempts.range((key.clone(), i64::MIN)..);
        let of_key = attempts.take_while(|((of, _), _)| of == key);
        Ok(of_key.map(|(_, attempt)| attempt.clone()).collect())
    }

    fn insert_past_attempts(&mut self, attempts: &[(RunKey, Attempt)]) -> Result<(), StoreError> {
        let state = self.change("attempt")?;
        for (key, attempt) in attempts {
            if !state.runs.contains_key(key) {
                return Err(StoreError::Missing { table: "run" });
            }
            let place = (key.clone(), attempt.token);
            if state.past_attempts.insert(place, attempt.clone()).is_some() {
                return Err(StoreError::Conflict { table: "attempt" });
            }
        }
        Ok(())
    }

    fn skips(&mut self, filter: &SkipFilter) -> Result<Vec<SkipRecord>, StoreError> {
        let mut found: Vec<&SkipRecord> =
            self.state.skips.iter().filter(|skip| matches_skip(filter, skip)).collect();
        found.sort_by(|left, right| {
            (left.first, &left.reference, left.last).cmp(&(
                right.first,
                &right.reference,
                right.last,
            ))
        });
        Ok(found.into_iter().take(filter.limit.unwrap_or(usize::MAX)).cloned().collect())
    }

    fn insert_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError> {
        let state = self.change("skip")?;
        for skip in skips {
            state.workflow_of("workflow", skip.workflow)?;
            state.skips.push(skip.clone());
        }
        Ok(())
    }

    fn pauses(&mut self, workflow: WorkflowId) -> Result<Vec<PauseRecord>, StoreError> {
        let all = self.state.pauses.range((workflow, Instant::MIN)..=(workflow, Instant::MAX));
        Ok(all.map(|(_, pause)| pause.clone()).collect())
    }

    fn put_pause(&mut self, pause: &PauseRecord) -> Result<(), StoreError> {
        let state = self.change("pause")?;
        state.workflow_of("workflow", pause.workflow)?;
        state.pauses.insert((pause.workflow, pause.from), pause.clone());
        Ok(())
    }

    fn request(
        &mut self,
        workflow: WorkflowId,
        id: &str,
    ) -> Result<Option<RequestRecord>, StoreError> {
        Ok(self.state.requests.get(&(workflow, id.to_owned())).cloned())
    }

    fn requests(&mut self, workflow: WorkflowId) -> Result<Vec<RequestRecord>, StoreError> {
        let all = self.state.requests.values();
        Ok(all.filter(|request| request.workflow == workflow).cloned().collect())
    }

    fn put_request(&mut self, request: &RequestRecord) -> Result<(), StoreError> {
        let state = self.change("request")?;
        state.workflow_of("workflow", request.workflow)?;
        state.requests.insert((request.workflow, request.id.clone()), request.clone());
        Ok(())
    }

    fn delete_runs(&mut self, keys: &[RunKey]) -> Result<(), StoreError> {
        let state = self.change("run")?;
        for key in keys {
            state.runs.remove(key).ok_or(StoreError::Missing { table: "run" })?;
            state.past_attempts.retain(|(of, _), _| of != key);
        }
        Ok(())
    }

    fn delete_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError> {
        let state = self.change("skip")?;
        for skip in skips {
            let found = state.skips.iter().position(|stored| stored == skip);
            state.skips.remove(found.ok_or(StoreError::Missing { table: "skip" })?);
        }
        Ok(())
    }
}

/// The order in which open runs are handed out.
fn open_place(run: &RunRecord) -> (Option<Instant>, String, Instant, String) {
    let key = run.key.clone();
    (run.available, run.reference.clone(), key.occurrence, key.request_id)
}

/// The order in which runs are listed.
fn list_place(run: &RunRecord) -> (Instant, String, String) {
    (run.key.occurrence, run.reference.clone(), run.key.request_id.clone())
}

fn matches_run(filter: &RunFilter, run: &RunRecord) -> bool {
    filter.workflow.is_none_or(|workflow| run.key.workflow == workflow)
        && filter.from.is_none_or(|from| run.key.occurrence >= from)
        && filter.to.is_none_or(|to| run.key.occurrence < to)
        && (filter.states.is_empty() || filter.states.contains(&run.state))
        && filter.after.as_ref().is_none_or(|after| list_place(run) > *after)
}

fn matches_skip(filter: &SkipFilter, skip: &SkipRecord) -> bool {
    filter.workflow.is_none_or(|workflow| skip.workflow == workflow)
        && filter.from.is_none_or(|from| skip.last >= from)
        && filter.to.is_none_or(|to| skip.first < to)
        && filter.after.as_ref().is_none_or(|(first, reference, last)| {
            (skip.first, &skip.reference, skip.last) > (*first, reference, *last)
        })
}
