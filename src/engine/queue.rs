//! The order in which runs are handed out: expired leases first, then by turn, then by ref.
//!
//! The store's queue holds for each workflow a lower bound of its turn, right when it was last
//! planned. Since a turn only moves later, the queue is walked from its front and each workflow is
//! planned as it is reached; one whose turn has moved waits in the heap until nothing before it
//! can be left in the store. Within one hand-out of several runs the workflows whose turn is the
//! same instant take turns.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use crate::plan::{Plan, PlanError, Run};
use crate::schedule::Overlap;
use crate::store::Transaction;
use crate::store::record::{OpenState, RunKey, RunRecord, Trigger, Workflow, WorkflowId};
use crate::time::Instant;

use super::EngineError;
use super::incidents::is_ahead;
use super::overlap::LiveClaims;
use super::pages::{Pages, Taken};
use super::workflow::Planned;

/// How many workflows are planned at most while a transaction is open. More than that are due
/// only after a long outage; then the plans are kept and the rest is done in the next one.
pub(super) const PLANNED_AT_MOST: usize = 10_000;

/// Which runs to take.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) matches: &'a dyn Fn(&str) -> bool,
    pub(super) trigger: Option<Trigger>,
}

impl Wanted<'_> {
    fn takes(&self, reference: &str, trigger: Trigger) -> bool {
        self.trigger.is_none_or(|wanted| wanted == trigger) && (self.matches)(reference)
    }
}

/// What comes next.
pub(super) enum Next {
    /// An open run that is available: its lease expired, or it waits to be tried (again).
    Open(Box<RunRecord>),
    /// An owed run of the workflow at this index of [`Queue::visited`].
    Owed { index: usize, run: Run },
    /// Nothing more is due.
    Nothing,
    /// [`PLANNED_AT_MOST`] workflows are planned, and what comes next is not certain.
    Unknown,
}

/// A workflow that was reached, and what it owed.
pub(super) struct Visited {
    pub(super) planned: Planned,
    pub(super) plan: Plan,
    /// The last owed run that was given out by [`Queue::next`], or passed over.
    pub(super) given: Option<Run>,
    /// Until when it must wait for a run of its own, as far as that is known.
    pub(super) held_until: Option<Instant>,
}

/// A walk along the queue of a store at one instant.
pub(super) struct Queue<'a> {
    now: Instant,
    wanted: Wanted<'a>,
    /// Of the workflows that owe anything, none has a later turn in the store.
    latest_turn: Instant,
    /// Whether the clock was set back, by more than clocks differ: turns that were kept at a later
    /// instant are no lower bounds, so everything that is due must be planned first.
    is_set_back: bool,
    expired: Pages<RunRecord>,
    pending: Pages<RunRecord>,
    due: Pages<Workflow>,
    heap: BinaryHeap<Reverse<Waiting>>,
    planned_at_most: usize,
    /// The workflows that were handed an open run during this walk.
    handed: HashSet<WorkflowId>,
    /// Up to where workflows were settled during this walk, where the store does not say so.
    settled: HashMap<WorkflowId, Instant>,
    pub(super) live: LiveClaims,
    pub(super) visited: Vec<Visited>,
}

/// A planned workflow that waits for its turn. The derived order is the order of hand-outs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    turn: Instant,
    /// How many of its runs this walk has given out before.
    round: u64,
    reference: String,
    index: usize,
}

impl<'a> Queue<'a> {
    /// A walk at `now` in a store whose workflows were last planned at `last_planned`.
    pub(super) fn new(
        now: Instant,
        last_planned: Option<Instant>,
        wanted: Wanted<'a>,
        planned_at_most: usize,
    ) -> Queue<'a> {
        Queue {
            now,
            wanted,
            latest_turn: last_planned.map_or(now, |planned| planned.max(now)),
            is_set_back: last_planned.is_some_and(|planned| is_ahead(planned, now)),
            expired: Pages::new(),
            pending: Pages::new(),
            due: Pages::new(),
            heap: BinaryHeap::new(),
            planned_at_most,
            handed: HashSet::new(),
            settled: HashMap::new(),
            live: LiveClaims::at(now),
            visited: Vec::new(),
        }
    }

    /// The instant at which the walk is made.
    pub(super) fn now(&self) -> Instant {
        self.now
    }

    /// What comes next. Each run is given once; nothing is written.
    pub(super) fn next(&mut self, tx: &mut dyn Transaction) -> Result<Next, EngineError> {
        self.fill(tx, OpenState::Claimed)?;
        if let Some(run) = self.expired.pop() {
            return Ok(Next::Open(Box::new(run)));
        }
        loop {
            self.fill(tx, OpenState::Pending)?;
            self.fill_due(tx)?;
            match self.first() {
                None => return Ok(Next::Nothing),
                Some(Source::Pending) => {
                    return Ok(self
                        .pending
                        .pop()
                        .map_or(Next::Nothing, |run| Next::Open(Box::new(run))));
                }
                Some(Source::Planned) => {
                    if let Some(next) = self.give(tx)? {
                        return Ok(next);
                    }
                }
                Some(Source::Stored) if self.visited.len() >= self.planned_at_most => {
                    return Ok(Next::Unknown);
                }
                Some(Source::Stored) => self.visit(tx)?,
            }
        }
    }

    /// Notes that a workflow was handed one of its open runs, leased until then: its turn is now.
    pub(super) fn note_handed(&mut self, run: &RunKey, until: Instant) {
        self.handed.insert(run.workflow);
        self.live.add(run.workflow, run.occurrence, until);
    }

    /// Notes that a workflow would be settled up to an occurrence, which the store does not say.
    pub(super) fn note_settled(&mut self, workflow: WorkflowId, last: Instant) {
        self.settled.insert(workflow, last);
    }

    /// A workflow of the store as this walk left it.
    pub(super) fn as_settled(&self, mut workflow: Workflow) -> Workflow {
        let settled = self.settled.get(&workflow.id).copied();
        workflow.progress.cursor = workflow.progress.cursor.max(settled);
        workflow
    }

    /// Which of the three fronts comes first. A row of the store stands at the lower bound of its
    /// turn, so it must be planned before anything behind it is certain.
    fn first(&self) -> Option<Source> {
        let pending = self.pending.front().map(|run| {
            ((run.available.unwrap_or(self.now), 0, run.reference.as_str()), Source::Pending)
        });
        let stored = self.due.front().map(|workflow| {
            let kept = workflow.progress.due.map_or(self.now, |due| due.turn);
            let turn = if self.is_set_back { Instant::MIN } else { kept };
            ((turn, 0, workflow.reference.as_str()), Source::Stored)
        });
        let planned = self.heap.peek().map(|Reverse(waiting)| {
            ((waiting.turn, waiting.round, waiting.reference.as_str()), Source::Planned)
        });
        [stored, pending, planned].into_iter().flatten().min().map(|(_, source)| source)
    }

    /// Plans the workflow at the front of the store's queue.
    fn visit(&mut self, tx: &mut dyn Transaction) -> Result<(), EngineError> {
        let Some(workflow) = self.due.pop() else { return Ok(()) };
        let workflow = self.as_settled(workflow);
        for planned in Planned::load(tx, vec![workflow])? {
            let plan = planned.plan(self.now);
            let held_until = self.live.hold(tx, &planned.workflow)?;
            if let Some(owed) = plan.owed.filter(|_| held_until.is_none()) {
                let handed = planned.workflow.progress.last_handed;
                self.heap.push(Reverse(Waiting {
                    turn: handed.map_or(owed.due, |handed| handed.max(owed.due)),
                    round: 0,
                    reference: planned.workflow.reference.clone(),
                    index: self.visited.len(),
                }));
            }
            self.visited.push(Visited { planned, plan, given: None, held_until });
        }
        Ok(())
    }

    /// Gives the next owed run of the workflow whose turn it is.
    /// `None` when it was handed an open run meanwhile: that made its turn now, or it must wait; and
    /// when that one has its run already.
    fn give(&mut self, tx: &mut dyn Transaction) -> Result<Option<Next>, EngineError> {
        let Some(Reverse(waiting)) = self.heap.pop() else { return Ok(None) };
        let index = waiting.index;
        let visited = &mut self.visited[index];
        if waiting.round == 0 && self.handed.contains(&visited.planned.workflow.id) {
            self.heap.push(Reverse(Waiting { turn: self.now, round: 1, ..waiting }));
            return Ok(None);
        }
        visited.held_until = self.live.hold(tx, &visited.planned.workflow)?;
        if visited.held_until.is_some() {
            return Ok(None);
        }
        let reference = &visited.planned.workflow.reference;
        let run = visited
            .next_owed()
            .map_err(|source| EngineError::Plan { reference: reference.clone(), source })?;
        let owes_more = visited.plan.owed.is_some_and(|owed| run.occurrence < owed.last);
        if visited.planned.is_passed_over(tx, run.occurrence)? {
            visited.given = Some(run);
            if owes_more {
                self.heap.push(Reverse(waiting));
            }
            return Ok(None);
        }
        let workflow = &visited.planned.workflow;
        if self.live.is_taken(tx, workflow, run.occurrence)? {
            return Ok(None);
        }
        visited.given = Some(run);
        let is_alone = visited.planned.workflow.policies.overlap != Overlap::Allow;
        if !is_alone && owes_more {
            // It was handed one at `now`, and what is owed was due before.
            self.heap.push(Reverse(Waiting {
                turn: self.now,
                round: waiting.round + 1,
                ..waiting
            }));
        }
        Ok(Some(Next::Owed { index, run }))
    }

    fn fill(&mut self, tx: &mut dyn Transaction, state: OpenState) -> Result<(), EngineError> {
        let (now, wanted) = (self.now, self.wanted);
        let pages = match state {
            OpenState::Claimed => &mut self.expired,
            OpenState::Pending => &mut self.pending,
        };
        let taken = pages.fill(
            |last, page| tx.take_open_runs(state, now, last, page),
            |run| wanted.takes(&run.reference, run.trigger()),
        )?;
        self.note_taken(tx, taken);
        Ok(())
    }

    fn fill_due(&mut self, tx: &mut dyn Transaction) -> Result<(), EngineError> {
        if self.wanted.trigger == Some(Trigger::Request) {
            return Ok(());
        }
        let (now, latest_turn, wanted) = (self.now, self.latest_turn, self.wanted);
        let taken = self.due.fill(
            |last, page| {
                let after =
                    last.and_then(|last| Some((last.progress.due?.turn, last.reference.as_str())));
                tx.take_due_workflows(after, latest_turn, now, page)
            },
            |workflow| (wanted.matches)(&workflow.reference),
        )?;
        self.note_taken(tx, taken);
        Ok(())
    }

    /// What was known of live claims is not known of workflows that were taken since, where others
    /// write meanwhile.
    fn note_taken(&mut self, tx: &dyn Transaction, taken: Taken) {
        if taken == Taken::More && !tx.is_alone() {
            self.live.read_again();
        }
    }
}

/// Where the next run may come from. On equal turns and refs the earlier variant goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Stored,
    Pending,
    Planned,
}

impl Visited {
    fn next_owed(&self) -> Result<Run, PlanError> {
        let after = self.given.map(|run| run.occurrence);
        let from = after
            .and_then(|after| after.checked_add_ms(1))
            .or(self.plan.owed.map(|owed| owed.first));
        let from = from.unwrap_or(Instant::MAX);
        // The heap holds only workflows that owe another run.
        self.planned
            .timeline
            .runs_from(from)
            .next()
            .unwrap_or(Err(PlanError::Range { what: "next run", occurrence: from }))
    }
}
