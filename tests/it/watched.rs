//! A store that tells of every step before it is made, and of every commit once it is done.

use std::rc::Rc;

use windowpane::schedule::Policies;
use windowpane::store::record::{
    Attempt, Counts, Marks, NewWorkflow, OpenState, PauseRecord, Progress, RequestRecord,
    RevisionRow, RunFilter, RunKey, RunRecord, SkipFilter, SkipRecord, StoreInfo, Workflow,
    WorkflowId,
};
use windowpane::store::{Store, StoreError, Transaction};
use windowpane::time::Instant;

/// Is told the name of each step; its error takes the place of the step and of its answer.
pub(crate) type Watch = Rc<dyn Fn(&'static str) -> Result<(), StoreError>>;

/// The step after a commit and before its answer.
pub(crate) const COMMITTED: &str = "committed and not answered";

/// A store under watch.
pub(crate) struct Watched {
    pub(crate) inner: Box<dyn Store>,
    pub(crate) watch: Watch,
}

struct WatchedTransaction<'a> {
    inner: Box<dyn Transaction + 'a>,
    watch: Watch,
}

impl Store for Watched {
    fn begin_write(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        (self.watch)("begin_write")?;
        let (inner, watch) = (self.inner.begin_write()?, Rc::clone(&self.watch));
        Ok(Box::new(WatchedTransaction { inner, watch }))
    }

    fn begin_read(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        (self.watch)("begin_read")?;
        let (inner, watch) = (self.inner.begin_read()?, Rc::clone(&self.watch));
        Ok(Box::new(WatchedTransaction { inner, watch }))
    }
}

/// Passes each call on once the watch lets it.
macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        /// Every step of a transaction but its end.
        pub(crate) const CALLS: &[&str] = &[$(stringify!($name)),*];

        impl Transaction for WatchedTransaction<'_> {
            fn commit(self: Box<Self>) -> Result<(), StoreError> {
                (self.watch)("commit")?;
                self.inner.commit()?;
                (self.watch)(COMMITTED)
            }

            $(fn $name(&mut self, $($argument: $type),*) -> Result<$answer, StoreError> {
                (self.watch)(stringify!($name))?;
                self.inner.$name($($argument),*)
            })*
        }
    };
}

pass_on! {
    info() -> Option<StoreInfo>;
    counts() -> Counts;
    set_info(info: &StoreInfo) -> ();
    workflows_named(references: &[&str]) -> Vec<Option<Workflow>>;
    workflows(after: Option<&str>, limit: usize) -> Vec<Workflow>;
    insert_workflows(workflows: &[NewWorkflow]) -> Vec<WorkflowId>;
    restore_workflows(workflows: &[Workflow]) -> ();
    update_policies(workflow: WorkflowId, policies: &Policies) -> ();
    update_marks(workflow: WorkflowId, marks: &Marks) -> ();
    update_progress(changes: &[(&Workflow, Progress)]) -> ();
    revisions(of: &[(WorkflowId, Option<Instant>)]) -> Vec<Vec<RevisionRow>>;
    insert_revisions(revisions: &[RevisionRow]) -> ();
    due_workflows(after: Option<(Instant, &str)>, turn: Instant, due: Instant, limit: usize) -> Vec<Workflow>;
    next_due_after(now: Instant) -> Option<Instant>;
    open_runs(state: OpenState, now: Instant, after: Option<&RunRecord>, limit: usize) -> Vec<RunRecord>;
    next_available_after(now: Instant) -> Option<Instant>;
    runs_with_keys(keys: &[RunKey]) -> Vec<Option<RunRecord>>;
    runs(filter: &RunFilter) -> Vec<RunRecord>;
    insert_runs(runs: &[RunRecord]) -> ();
    update_runs(runs: &[RunRecord]) -> ();
    past_attempts(key: &RunKey) -> Vec<Attempt>;
    past_attempts_of(keys: &[RunKey]) -> Vec<(RunKey, Attempt)>;
    insert_past_attempts(attempts: &[(RunKey, Attempt)]) -> ();
    skips(filter: &SkipFilter) -> Vec<SkipRecord>;
    insert_skips(skips: &[SkipRecord]) -> ();
    pauses(workflow: WorkflowId) -> Vec<PauseRecord>;
    put_pause(pause: &PauseRecord) -> ();
    request(workflow: WorkflowId, id: &str) -> Option<RequestRecord>;
    requests(workflow: WorkflowId) -> Vec<RequestRecord>;
    put_request(request: &RequestRecord) -> ();
    delete_runs(keys: &[RunKey]) -> ();
    delete_skips(skips: &[SkipRecord]) -> ();
}
