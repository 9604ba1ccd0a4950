//! The durable truth: run records, skips, cursors and revisions, behind one [`Store`] trait.
//!
//! A store keeps rows and the constraints between them; the rules about what may happen to a row
//! are values-in-values-out on [`record`]s, written once for every store. No store asks what
//! time it is.

pub mod backoff;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod between;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod checksum;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod codes;
mod error;
pub mod fate;
mod finding;
pub mod lifecycle;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod missing;
pub mod model;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod record;
mod run_id;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod wakeups;

pub use error::StoreError;
pub use finding::Finding;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use missing::Missing;
pub use run_id::{RunId, RunIdError};
pub use wakeups::{Wake, Wakeups};

use crate::schedule::Policies;
use crate::time::Instant;
use record::{
    Attempt, Counts, Marks, NewWorkflow, OpenState, PauseRecord, Progress, RequestRecord,
    RevisionRow, RunFilter, RunKey, RunRecord, SkipFilter, SkipRecord, StoreInfo, Workflow,
    WorkflowId,
};

/// A place that keeps the records.
pub trait Store {
    /// Starts a transaction that may write. It sees every commit made before it, and no other
    /// writer commits until it ends. Read the clock only after this returns.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when another writer holds the store past the timeout.
    fn begin_write(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError>;

    /// Starts a transaction that writes records of the workflows that it takes and of no others, by
    /// [`Transaction::take_due_workflows`], [`Transaction::take_open_runs`] or by their names. Where
    /// the store can, other such transactions go on beside it; else it is [`Store::begin_write`].
    /// Read the clock only after this returns.
    ///
    /// # Errors
    /// As [`Store::begin_write`].
    fn begin_beside(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        self.begin_write()
    }

    /// Starts a transaction that only reads, on one consistent snapshot.
    ///
    /// # Errors
    /// As the engine below reports.
    fn begin_read(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError>;

    /// Listens to other writers, on any machine, until what it returns is dropped: `wake` is called
    /// once they have made work due or available earlier. `None` where the store hears nothing of
    /// them.
    fn listen(&self, _wake: Wake) -> Option<Wakeups> {
        None
    }
}

/// One transaction. Dropping it without [`Transaction::commit`] undoes all of it.
///
/// Every method can fail as the engine below does; a row that does not match its checksum is
/// [`StoreError::Corrupt`]. A method that writes is [`StoreError::ReadOnly`] in a transaction that
/// only reads, and [`StoreError::Missing`] where the row to change, or the workflow of a row to
/// add, is not there. After an error, drop the transaction.
pub trait Transaction {
    /// Makes everything durable at once.
    fn commit(self: Box<Self>) -> Result<(), StoreError>;

    /// Whether no other writer commits until it ends. Where some may, what was read of workflows
    /// that it had not taken yet may have changed.
    fn is_alone(&self) -> bool {
        true
    }
    /// Whether it was to take something that another writer holds, and passed it over.
    fn has_passed_over(&self) -> bool {
        false
    }

    /// The row about the store itself; `None` in a store that was never written.
    fn info(&mut self) -> Result<Option<StoreInfo>, StoreError>;
    /// How many records there are.
    fn counts(&mut self) -> Result<Counts, StoreError>;
    /// Writes the row about the store itself.
    fn set_info(&mut self, info: &StoreInfo) -> Result<(), StoreError>;

    /// The workflows with these names, in their order; `None` for one that is not there.
    fn workflows_named(&mut self, references: &[&str])
    -> Result<Vec<Option<Workflow>>, StoreError>;
    /// The workflow named `reference`.
    fn workflow(&mut self, reference: &str) -> Result<Option<Workflow>, StoreError> {
        Ok(self.workflows_named(&[reference])?.pop().flatten())
    }
    /// Up to `limit` workflows with a ref greater than `after`, ordered by ref (bytewise).
    fn workflows(&mut self, after: Option<&str>, limit: usize)
    -> Result<Vec<Workflow>, StoreError>;
    /// Adds workflows; their ids come back in the same order. A ref that exists is
    /// [`StoreError::Conflict`].
    fn insert_workflows(
        &mut self,
        workflows: &[NewWorkflow],
    ) -> Result<Vec<WorkflowId>, StoreError>;
    /// Adds workflows as they stand, ids included. A ref or an id that exists is
    /// [`StoreError::Conflict`].
    fn restore_workflows(&mut self, workflows: &[Workflow]) -> Result<(), StoreError>;
    /// Replaces the policies of a workflow.
    fn update_policies(
        &mut self,
        workflow: WorkflowId,
        policies: &Policies,
    ) -> Result<(), StoreError>;
    /// Replaces the marks of a workflow.
    fn update_marks(&mut self, workflow: WorkflowId, marks: &Marks) -> Result<(), StoreError>;
    /// Replaces the progress of workflows, each given as it was read in this transaction.
    fn update_progress(&mut self, changes: &[(&Workflow, Progress)]) -> Result<(), StoreError>;

    /// For each workflow named, its revisions, oldest first; where an instant stands beside it,
    /// only those from the newest one whose `after` is at or before that instant: the ones that
    /// may hold a later instant.
    fn revisions(
        &mut self,
        of: &[(WorkflowId, Option<Instant>)],
    ) -> Result<Vec<Vec<RevisionRow>>, StoreError>;
    /// Adds revisions. A number that exists is [`StoreError::Conflict`].
    fn insert_revisions(&mut self, revisions: &[RevisionRow]) -> Result<(), StoreError>;

    /// Up to `limit` workflows in the order of their turn, then ref, strictly after `after`,
    /// whose turn is at or before `turn` and whose oldest unsettled occurrence was due at or
    /// before `due`.
    fn due_workflows(
        &mut self,
        after: Option<(Instant, &str)>,
        turn: Instant,
        due: Instant,
        limit: usize,
    ) -> Result<Vec<Workflow>, StoreError>;
    /// The same, and takes them; what another writer holds is passed over.
    fn take_due_workflows(
        &mut self,
        after: Option<(Instant, &str)>,
        turn: Instant,
        due: Instant,
        limit: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        self.due_workflows(after, turn, due, limit)
    }
    /// The earliest due instant of any workflow's oldest unsettled occurrence after `now`.
    fn next_due_after(&mut self, now: Instant) -> Result<Option<Instant>, StoreError>;

    /// Up to `limit` open runs in `state` that are available at `now`, ordered by the instant at
    /// which they became available, then ref, then occurrence, then request id; strictly after
    /// `after`.
    fn open_runs(
        &mut self,
        state: OpenState,
        now: Instant,
        after: Option<&RunRecord>,
        limit: usize,
    ) -> Result<Vec<RunRecord>, StoreError>;
    /// The same, and takes them with their workflows; what another writer holds is passed over.
    fn take_open_runs(
        &mut self,
        state: OpenState,
        now: Instant,
        after: Option<&RunRecord>,
        limit: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.open_runs(state, now, after, limit)
    }
    /// The earliest instant after `now` at which an open run becomes available.
    fn next_available_after(&mut self, now: Instant) -> Result<Option<Instant>, StoreError>;

    /// The runs with these keys, in their order; `None` for one that is not there.
    fn runs_with_keys(&mut self, keys: &[RunKey]) -> Result<Vec<Option<RunRecord>>, StoreError>;
    /// One run.
    fn run(&mut self, key: &RunKey) -> Result<Option<RunRecord>, StoreError> {
        Ok(self.runs_with_keys(std::slice::from_ref(key))?.pop().flatten())
    }
    /// The runs that match, ordered by occurrence, then ref, then request id.
    fn runs(&mut self, filter: &RunFilter) -> Result<Vec<RunRecord>, StoreError>;
    /// Adds runs. A key that exists is [`StoreError::Conflict`].
    fn insert_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError>;
    /// Replaces everything but the key of runs.
    fn update_runs(&mut self, runs: &[RunRecord]) -> Result<(), StoreError>;

    /// The attempts of a run before its present one, in the order of their tokens: oldest first.
    fn past_attempts(&mut self, key: &RunKey) -> Result<Vec<Attempt>, StoreError>;
    /// The same of several runs, each beside the run's key.
    fn past_attempts_of(&mut self, keys: &[RunKey]) -> Result<Vec<(RunKey, Attempt)>, StoreError> {
        let mut found = Vec::new();
        for key in keys {
            let past = self.past_attempts(key)?;
            found.extend(past.into_iter().map(|attempt| (key.clone(), attempt)));
        }
        Ok(found)
    }
    /// Adds attempts, each ended and of a run on record, that are followed by another. A token
    /// that the run has among them already is [`StoreError::Conflict`].
    fn insert_past_attempts(&mut self, attempts: &[(RunKey, Attempt)]) -> Result<(), StoreError>;

    /// The skip records that match, ordered by first occurrence, then ref, then last occurrence,
    /// then as they were added.
    fn skips(&mut self, filter: &SkipFilter) -> Result<Vec<SkipRecord>, StoreError>;
    /// Adds skip records.
    fn insert_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError>;

    /// The pauses of a workflow, oldest first.
    fn pauses(&mut self, workflow: WorkflowId) -> Result<Vec<PauseRecord>, StoreError>;
    /// Adds a pause. A second one of the workflow from the same instant replaces the first.
    fn put_pause(&mut self, pause: &PauseRecord) -> Result<(), StoreError>;

    /// One request of a workflow.
    fn request(
        &mut self,
        workflow: WorkflowId,
        id: &str,
    ) -> Result<Option<RequestRecord>, StoreError>;
    /// The requests of a workflow, ordered by id.
    fn requests(&mut self, workflow: WorkflowId) -> Result<Vec<RequestRecord>, StoreError>;
    /// Adds a request, or replaces the one with its id.
    fn put_request(&mut self, request: &RequestRecord) -> Result<(), StoreError>;

    /// Removes runs with their attempts. One that is missing is [`StoreError::Missing`].
    fn delete_runs(&mut self, keys: &[RunKey]) -> Result<(), StoreError>;
    /// Removes skip records, each as it was read in this transaction.
    fn delete_skips(&mut self, skips: &[SkipRecord]) -> Result<(), StoreError>;
}
