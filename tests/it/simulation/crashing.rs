//! A store that crashes: after so many calls every transaction fails, and what was not committed
//! is gone.

use std::cell::Cell;
use std::rc::Rc;

use windowpane::schedule::Policies;
use windowpane::store::record::{
    Attempt, Marks, NewWorkflow, OpenState, PauseRecord, Progress, RequestRecord, RevisionRow,
    RunFilter, RunKey, RunRecord, SkipFilter, SkipRecord, StoreInfo, Workflow, WorkflowId,
};
use windowpane::store::{Store, StoreError, Transaction};
use windowpane::time::Instant;

/// How many calls are left before the crash. After it every call fails until it is set anew.
pub(super) type Fuse = Rc<Cell<u32>>;

/// A store behind a fuse.
pub(super) struct Crashing {
    pub(super) inner: Box<dyn Store>,
    pub(super) fuse: Fuse,
}

struct CrashingTransaction<'a> {
    inner: Box<dyn Transaction + 'a>,
    fuse: Fuse,
}

fn burn(fuse: &Fuse) -> Result<(), StoreError> {
    match fuse.get().checked_sub(1) {
        None => Err(StoreError::Unavailable {
            path: "simulation".to_owned(),
            problem: "crash".to_owned(),
        }),
        Some(left) => {
            fuse.set(left);
            Ok(())
        }
    }
}

impl Store for Crashing {
    fn begin_write(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        burn(&self.fuse)?;
        Ok(Box::new(CrashingTransaction {
            inner: self.inner.begin_write()?,
            fuse: Rc::clone(&self.fuse),
        }))
    }

    fn begin_read(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        burn(&self.fuse)?;
        Ok(Box::new(CrashingTransaction {
            inner: self.inner.begin_read()?,
            fuse: Rc::clone(&self.fuse),
        }))
    }
}

/// Passes each call on unless the fuse is burnt.
macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(fn $name(&mut self, $($argument: $type),*) -> Result<$answer, StoreError> {
            burn(&self.fuse)?;
            self.inner.$name($($argument),*)
        })*
    };
}

impl Transaction for CrashingTransaction<'_> {
    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        burn(&self.fuse)?;
        self.inner.commit()?;
        // A crash here loses the answer, not the commit.
        burn(&self.fuse)
    }

    pass_on! {
        info() -> Option<StoreInfo>;
        set_info(info: &StoreInfo) -> ();
        workflows_named(references: &[&str]) -> Vec<Option<Workflow>>;
        workflows(after: Option<&str>, limit: usize) -> Vec<Workflow>;
        insert_workflows(workflows: &[NewWorkflow]) -> Vec<WorkflowId>;
        update_policies(workflow: WorkflowId, policies: &Policies) -> ();
        update_marks(workflow: WorkflowId, marks: &Marks) -> ();
        update_progress(changes: &[(&Workflow, Progress)]) -> ();
        revisions(of: &[(WorkflowId, Option<Instant>)]) -> Vec<Vec<RevisionRow>>;
        insert_revisions(revisions: &[RevisionRow]) -> ();
        due_workflows(after: Option<(Instant, &str)>, turn: Instant, due: Instant, limit: usize) -> Vec<Workflow>;
        next_due_after(now: Instant) -> Option<Instant>;
        open_runs(state: OpenState, now: Instant, after: Option<&RunRecord>, limit: usize) -> Vec<RunRecord>;
        next_available_after(now: Instant) -> Option<Instant>;
        run(key: &RunKey) -> Option<RunRecord>;
        runs(filter: &RunFilter) -> Vec<RunRecord>;
        insert_runs(runs: &[RunRecord]) -> ();
        update_runs(runs: &[RunRecord]) -> ();
        past_attempts(key: &RunKey) -> Vec<Attempt>;
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
}
