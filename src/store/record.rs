//! The records themselves, as values.

use crate::plan::{Run, SkipReason};
use crate::schedule::Policies;
use crate::time::Instant;

use super::RunId;

/// The number of a workflow inside one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkflowId(pub i64);

/// The row about the store itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreInfo {
    /// Whose clock the store was first written under.
    pub clock: ClockKind,
    /// The tz database version of the last write.
    pub tzdb: String,
    /// How many writes have registered, changed or retired workflows: as long as it stands still,
    /// what was read of them stands.
    pub definition_writes: i64,
    /// The latest instant at which any workflow was given its place in the queue. Of the workflows
    /// that owe anything no turn is later; before it, turns are no lower bounds.
    pub last_planned: Option<Instant>,
    /// The latest occurrence that a cursor was set to by hand ahead of its time.
    pub set_ahead: Option<Instant>,
}

/// Whose clock a store lives by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockKind {
    /// The clock of the machine.
    System,
    /// Instants given by hand, for tests.
    Test,
}

/// How many records there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Workflows, retired ones too.
    pub workflows: u64,
    /// Runs.
    pub runs: u64,
}

/// A registered workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Its number in this store.
    pub id: WorkflowId,
    /// Its name.
    pub reference: String,
    /// Which set of documents registered it.
    pub source: String,
    /// When it was first registered.
    pub registered: Instant,
    /// The present policies (for a schedule now `false`, the last ones).
    pub policies: Policies,
    /// What people decided about it.
    pub marks: Marks,
    /// How far it has come.
    pub progress: Progress,
}

/// What people decided about a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// Since when its scheduled runs are held back.
    pub paused: Option<Instant>,
    /// Since when its source no longer has it.
    pub retired: Option<Instant>,
    /// The horizon: records of occurrences before it may have been removed.
    pub pruned_before: Option<Instant>,
    /// Where the cursor stood before it was set back: up to there an occurrence may have a run.
    pub rewound_from: Option<Instant>,
    /// The last occurrence that a new tz database moved behind the cursor.
    pub tz_passed: Option<Instant>,
    /// When runs of it were last requested.
    pub requested: Option<Instant>,
}

/// A time during which the scheduled runs of a workflow were held back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseRecord {
    /// The workflow.
    pub workflow: WorkflowId,
    /// Since when.
    pub from: Instant,
    /// Until when; `None` while it lasts.
    pub to: Option<Instant>,
    /// Who asked for it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What became of what was missed; `None` while it lasts.
    pub resumed: Option<Resume>,
}

/// What becomes of what a pause held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// The catch-up rule decides.
    CatchUp,
    /// It is skipped.
    Drop,
}

/// A request for runs, kept for ever so that asking again changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRecord {
    /// The workflow.
    pub workflow: WorkflowId,
    /// Its id, scoped to the workflow.
    pub id: String,
    /// What was asked for, as canonical JSON.
    pub arguments: String,
    /// When.
    pub made: Instant,
    /// Who asked.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The answer, as JSON: where its runs lie, and what was left out.
    pub answer: String,
    /// The occurrences of its runs that were pruned since, ascending.
    pub pruned: Vec<Instant>,
}

/// A workflow about to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWorkflow {
    /// Its name.
    pub reference: String,
    /// Which set of documents registers it.
    pub source: String,
    /// Now.
    pub registered: Instant,
    /// Its policies.
    pub policies: Policies,
    /// Its place in the queue, if it will ever be due.
    pub due: Option<DueKey>,
}

/// How far a workflow has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The last settled occurrence.
    pub cursor: Option<Instant>,
    /// The authored local time of the cursor as it was when it was settled, in milliseconds, read
    /// as UTC; `None` where the schedule has no time zone.
    pub cursor_local_ms: Option<i64>,
    /// When one of its scheduled runs was last handed out.
    pub last_handed: Option<Instant>,
    /// The token of the last hand-out of any of its runs; 0 before the first.
    pub last_token: i64,
    /// Its place in the queue; `None` when nothing of its timeline is left.
    pub due: Option<DueKey>,
}

/// The place of a workflow in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueKey {
    /// Its turn when it was last planned: a lower bound of its turn now.
    pub turn: Instant,
    /// The due instant of its oldest unsettled occurrence.
    pub due: Instant,
}

impl DueKey {
    /// The same place, but not before an instant.
    pub(crate) fn held_until(self, until: Option<Instant>) -> DueKey {
        match until {
            None => self,
            Some(until) => DueKey { turn: self.turn.max(until), due: self.due.max(until) },
        }
    }
}

/// One revision of a workflow's schedule. It holds the occurrences after `after`, up to and
/// including the `after` of the next revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionRow {
    /// The workflow.
    pub workflow: WorkflowId,
    /// Counted from 1.
    pub number: u32,
    /// The edit's instant E; `None` for the first revision, which reaches back without end.
    pub after: Option<Instant>,
    /// The definition as canonical schedule JSON; `None` while the schedule is `false`.
    pub schedule: Option<String>,
    /// When it was registered.
    pub made: Instant,
    /// The tz database version that it was registered under.
    pub tzdb: String,
}

/// The identity of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey {
    /// The occurrence.
    pub occurrence: Instant,
    /// The workflow.
    pub workflow: WorkflowId,
    /// Empty for scheduled runs.
    pub request_id: String,
}

/// One run and its present attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Identity.
    pub key: RunKey,
    /// The name of the workflow.
    pub reference: String,
    /// The plan that the run was made from.
    pub plan: Run,
    /// The tz database version that the plan was made under.
    pub tzdb: String,
    /// Where it stands.
    pub state: RunState,
    /// While claimed, the expiry of the lease; while pending, the instant from which it may be
    /// handed out; `None` once it is final.
    pub available: Option<Instant>,
    /// How many attempts have been handed out and count.
    pub attempts: u32,
    /// The present or last attempt.
    pub attempt: Option<Attempt>,
    /// JSON text from the worker.
    pub output: Option<String>,
}

impl RunRecord {
    /// The run id in its text form.
    pub fn id(&self) -> RunId {
        RunId {
            reference: self.reference.clone(),
            occurrence: self.key.occurrence,
            request_id: self.key.request_id.clone(),
        }
    }

    /// What caused the run.
    pub fn trigger(&self) -> Trigger {
        if self.key.request_id.is_empty() { Trigger::Schedule } else { Trigger::Request }
    }
}

/// One hand-out of a run to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// 1 for the first that counts; a released one gives its number back.
    pub number: u32,
    /// Grows with each hand-out of any run of the workflow, so it can fence the worker's writes.
    pub token: i64,
    /// Who took it.
    pub worker: String,
    /// When.
    pub claimed: Instant,
    /// When it ended, once it has.
    pub ended: Option<Instant>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
    /// What the worker said of a failure.
    pub error: Option<String>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The worker finished it well.
    Succeeded,
    /// The worker said that it failed.
    Failed,
    /// The worker gave it back; it does not count.
    Released,
    /// The lease expired.
    Expired,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// Requested, released, or to be tried again.
    Pending,
    /// Handed to a worker.
    Claimed,
    /// Final: done.
    Succeeded,
    /// Final: the worker said so, and no attempt is left or asked for.
    Failed,
    /// Final: the lease of the last attempt expired.
    Abandoned,
    /// Final: withdrawn before it was handed out.
    Cancelled,
}

/// The states of a run that can still be handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenState {
    /// As [`RunState::Pending`].
    Pending,
    /// As [`RunState::Claimed`].
    Claimed,
}

/// What caused a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// Its schedule.
    Schedule,
    /// A request.
    Request,
}

/// Occurrences that were settled without a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkipRecord {
    /// The workflow.
    pub workflow: WorkflowId,
    /// Its name.
    pub reference: String,
    /// The oldest of them.
    pub first: Instant,
    /// The newest of them.
    pub last: Instant,
    /// How many.
    pub count: u64,
    /// Why.
    pub reason: SkipReason,
    /// When they were settled.
    pub skipped: Instant,
    /// The revision of `last`.
    pub revision: u32,
    /// The tz database version that they were counted under.
    pub tzdb: String,
}

/// Which runs to list. Every field narrows; the default takes all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Of this workflow.
    pub workflow: Option<WorkflowId>,
    /// Occurrences at or after this instant.
    pub from: Option<Instant>,
    /// Occurrences before this instant.
    pub to: Option<Instant>,
    /// In one of these states; empty for any.
    pub states: Vec<RunState>,
    /// Strictly after this one in the order of the list, to page on.
    pub after: Option<(Instant, String, String)>,
    /// At most this many.
    pub limit: Option<usize>,
}

impl RunFilter {
    /// The same list after one of its runs, or from its beginning: up to `limit` runs.
    #[must_use]
    pub fn page_after(&self, last: Option<&RunRecord>, limit: usize) -> RunFilter {
        let place = |run: &RunRecord| {
            (run.key.occurrence, run.reference.clone(), run.key.request_id.clone())
        };
        RunFilter { after: last.map(place), limit: Some(limit), ..self.clone() }
    }
}

/// Which skip records to list. Every field narrows; the default takes all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkipFilter {
    /// Of this workflow.
    pub workflow: Option<WorkflowId>,
    /// Ranges that reach to or past this instant.
    pub from: Option<Instant>,
    /// Ranges that begin before this instant.
    pub to: Option<Instant>,
    /// Strictly after this one in the order of the list (its first, ref and last), to page on.
    pub after: Option<(Instant, String, Instant)>,
    /// At most this many.
    pub limit: Option<usize>,
}

impl SkipFilter {
    /// The same list after one of its ranges, or from its beginning: up to `limit` ranges.
    #[must_use]
    pub fn page_after(&self, last: Option<&SkipRecord>, limit: usize) -> SkipFilter {
        let place = |skip: &SkipRecord| (skip.first, skip.reference.clone(), skip.last);
        SkipFilter { after: last.map(place), limit: Some(limit), ..self.clone() }
    }
}

/// Words that records use, and back.
macro_rules! words {
    ($type:ty { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// The word that records use.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Every value, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The value that `word` names.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }
    };
}

words!(RunState {
    Pending = "pending", Claimed = "claimed", Succeeded = "succeeded", Failed = "failed",
    Abandoned = "abandoned", Cancelled = "cancelled",
});
words!(Outcome { Succeeded = "succeeded", Failed = "failed", Released = "released", Expired = "expired" });
words!(Trigger { Schedule = "schedule", Request = "request" });
words!(Resume { CatchUp = "catch-up", Drop = "drop" });
words!(ClockKind { System = "system", Test = "test" });

impl From<OpenState> for RunState {
    fn from(state: OpenState) -> RunState {
        match state {
            OpenState::Pending => RunState::Pending,
            OpenState::Claimed => RunState::Claimed,
        }
    }
}
