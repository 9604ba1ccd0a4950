//! The attempts that a runner is making: heartbeats, timeouts, and how each is settled.

use std::sync::mpsc::Sender;

use crate::clock::{Clock, Moment};
use crate::store::record::RunRecord;
use crate::store::{RunId, Store, StoreError};
use crate::time::duration;
use crate::wire::{ClaimRow, to_json};

use super::super::{EngineError, finish, heartbeat, release};
use super::process::{Event, Process};
use super::tail::Tail;
use super::verdict::{self, Verdict};
use super::{BUSY_MS, RunnerOptions};

/// How long a group may take to end after it was asked to.
const END_WITHIN_MS: i64 = 5 * 1_000;

/// All attempts that a runner is making.
pub(super) struct Attempts<'a> {
    options: &'a RunnerOptions<'a>,
    events: Sender<Event>,
    running: Vec<Attempt>,
    /// Those whose command has ended.
    ended: Vec<Ended>,
    /// What was refused to those that still run.
    refused: Vec<EngineError>,
    last_number: u64,
}

/// A claim that is held.
struct Held {
    id: RunId,
    token: i64,
}

/// An attempt whose command runs.
struct Attempt {
    number: u64,
    held: Held,
    process: Process,
    heartbeat_at: Moment,
    timeout_at: Option<Moment>,
    stage: Stage,
    has_exited: bool,
    /// What it said, once all is said.
    tail: Option<Tail>,
}

/// How far an attempt has come.
#[derive(Clone, Copy)]
enum Stage {
    Running,
    /// It was asked to end; at `kill_at`, if there still is one, it is ended.
    Ending {
        why: Why,
        kill_at: Option<Moment>,
    },
}

/// Why a command was ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It took too long.
    Timeout,
    /// Its run is another's.
    LostLease,
    /// The runner stops.
    Stop,
}

/// An attempt to be settled in the store.
struct Ended {
    held: Held,
    verdict: Verdict,
    settle_at: Moment,
}

/// What became of an attempt.
pub(super) enum Settled {
    Finished(Box<RunRecord>),
    Released,
    Refused(EngineError),
    Busy(StoreError),
}

impl<'a> Attempts<'a> {
    pub(super) fn new(options: &'a RunnerOptions<'a>, events: Sender<Event>) -> Attempts<'a> {
        Attempts {
            options,
            events,
            running: Vec::new(),
            ended: Vec::new(),
            refused: Vec::new(),
            last_number: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.running.len() + self.ended.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts the command for a run that was claimed.
    pub(super) fn start(&mut self, run: RunRecord, now: Moment) {
        let token = run.attempt.as_ref().map_or(0, |attempt| attempt.token);
        let held = Held { id: run.id(), token };
        let stdin = format!("{}\n", to_json(&ClaimRow(&run)));
        self.last_number += 1;
        let number = self.last_number;
        let variables = variables(&run, &held);
        match Process::start(self.options.command, &variables, &stdin, number, &self.events) {
            Ok(process) => self.running.push(Attempt {
                number,
                held,
                process,
                heartbeat_at: self.heartbeat_after(now),
                timeout_at: self.options.timeout_ms.map(|timeout_ms| now.after_ms(timeout_ms)),
                stage: Stage::Running,
                has_exited: false,
                tail: None,
            }),
            Err(error) => {
                let verdict = verdict::of_trouble(&error);
                self.ended.push(Ended { held, verdict, settle_at: now });
            }
        }
    }

    /// The leader of a group has ended. What it leaves behind ends with it, unless the group was
    /// asked to end and still has time.
    pub(super) fn exited(&mut self, number: u64) {
        if let Some(attempt) = self.running.iter_mut().find(|attempt| attempt.number == number) {
            attempt.has_exited = true;
            if matches!(attempt.stage, Stage::Running) {
                attempt.process.end();
            }
        }
    }

    /// A group has said all.
    pub(super) fn drained(&mut self, number: u64, tail: Tail) {
        if let Some(attempt) = self.running.iter_mut().find(|attempt| attempt.number == number) {
            attempt.tail = Some(tail);
        }
    }

    /// Asks every group to end, because the runner stops.
    pub(super) fn ask_all_to_end(&mut self, now: Moment) {
        for attempt in &mut self.running {
            attempt.ask_to_end(Why::Stop, now);
        }
    }

    /// Ends every group at once, because the runner stops.
    pub(super) fn end_all(&mut self, now: Moment) {
        for attempt in &mut self.running {
            attempt.ask_to_end(Why::Stop, now);
            attempt.end();
        }
    }

    /// Ends every group at once and forgets it.
    pub(super) fn abort(&mut self) {
        for attempt in self.running.drain(..) {
            attempt.process.abort();
        }
    }

    /// Heartbeats, timeouts and last resorts that are due by `now`, and the verdict on every
    /// command that has ended.
    pub(super) fn tend(
        &mut self,
        now: Moment,
        store: &mut dyn Store,
        clock: &dyn Clock,
    ) -> Result<(), EngineError> {
        let mut index = 0;
        while index < self.running.len() {
            if self.running[index].is_over() {
                let attempt = self.running.swap_remove(index);
                self.ended.extend(attempt.conclude(self.options, now));
                continue;
            }
            self.watch(index, now, store, clock)?;
            index += 1;
        }
        Ok(())
    }

    fn watch(
        &mut self,
        index: usize,
        now: Moment,
        store: &mut dyn Store,
        clock: &dyn Clock,
    ) -> Result<(), EngineError> {
        let next_heartbeat = self.heartbeat_after(now);
        let attempt = &mut self.running[index];
        if attempt.timeout_at.is_some_and(|timeout_at| timeout_at <= now) {
            attempt.timeout_at = None;
            attempt.ask_to_end(Why::Timeout, now);
        }
        match attempt.stage {
            Stage::Ending { kill_at: Some(kill_at), .. } if kill_at <= now => attempt.end(),
            _ => {}
        }
        if attempt.heartbeat_at <= now && !attempt.is_lost() {
            attempt.heartbeat_at = next_heartbeat;
            let Held { id, token } = &attempt.held;
            match heartbeat(store, clock, id, *token, self.options.lease_ms, None) {
                Ok(_) => {}
                Err(EngineError::Store(error)) if error.is_retryable() => {
                    attempt.heartbeat_at = now.after_ms(BUSY_MS);
                }
                Err(error) if error.is_refusal() => {
                    attempt.ask_to_end(Why::LostLease, now);
                    self.refused.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn heartbeat_after(&self, now: Moment) -> Moment {
        now.after_ms((self.options.lease_ms / 3).max(1))
    }

    /// Settles one attempt whose command has ended, if there is one that is due by `now`, or tells
    /// of one that was refused.
    pub(super) fn settle(
        &mut self,
        now: Moment,
        store: &mut dyn Store,
        clock: &dyn Clock,
    ) -> Result<Option<Settled>, EngineError> {
        if let Some(error) = self.refused.pop() {
            return Ok(Some(Settled::Refused(error)));
        }
        let Some(index) = self.ended.iter().position(|ended| ended.settle_at <= now) else {
            return Ok(None);
        };
        let ended = &mut self.ended[index];
        let settled = match ended.settle(store, clock) {
            Err(EngineError::Store(error)) if error.is_retryable() => {
                ended.settle_at = now.after_ms(BUSY_MS);
                return Ok(Some(Settled::Busy(error)));
            }
            Err(error) if error.is_refusal() => Settled::Refused(error),
            Err(error) => return Err(error),
            Ok(settled) => settled,
        };
        self.ended.swap_remove(index);
        Ok(Some(settled))
    }

    /// Leaves what is not settled yet to the expiry of its lease.
    pub(super) fn forget_ended(&mut self) {
        self.ended.clear();
    }

    /// When the next of these is due.
    pub(super) fn next_moment(&self) -> Option<Moment> {
        let running = self.running.iter().filter_map(Attempt::next_moment);
        running.chain(self.ended.iter().map(|ended| ended.settle_at)).min()
    }
}

/// What a command finds in its environment.
fn variables(run: &RunRecord, held: &Held) -> [(&'static str, String); 9] {
    [
        ("WINDOWPANE_RUN_ID", held.id.to_string()),
        ("WINDOWPANE_REF", run.reference.clone()),
        ("WINDOWPANE_OCCURRENCE", run.plan.occurrence.to_string()),
        ("WINDOWPANE_WINDOW_START", run.plan.window.start.to_string()),
        ("WINDOWPANE_WINDOW_END", run.plan.window.end.to_string()),
        ("WINDOWPANE_INTERVAL_MS", run.plan.interval_ms.to_string()),
        ("WINDOWPANE_PHASE_MS", run.plan.phase_ms.to_string()),
        ("WINDOWPANE_ATTEMPT", run.attempts.to_string()),
        ("WINDOWPANE_TOKEN", held.token.to_string()),
    ]
}

impl Attempt {
    /// Asks its group to end, unless it was asked before. A lost lease outranks other reasons:
    /// what such a command did counts no more.
    fn ask_to_end(&mut self, why: Why, now: Moment) {
        match &mut self.stage {
            Stage::Ending { why: known, .. } => {
                if why == Why::LostLease {
                    *known = why;
                }
            }
            Stage::Running if self.has_exited => {}
            stage @ Stage::Running => {
                *stage = Stage::Ending { why, kill_at: Some(now.after_ms(END_WITHIN_MS)) };
                self.process.ask_to_end();
            }
        }
    }

    /// Ends its group.
    fn end(&mut self) {
        if let Stage::Ending { kill_at, .. } = &mut self.stage {
            *kill_at = None;
        }
        self.process.end();
    }

    fn is_lost(&self) -> bool {
        matches!(self.stage, Stage::Ending { why: Why::LostLease, .. })
    }

    /// Whether its command has ended and said all.
    fn is_over(&self) -> bool {
        self.has_exited && self.tail.is_some()
    }

    fn next_moment(&self) -> Option<Moment> {
        let kill_at = match self.stage {
            Stage::Ending { kill_at, .. } => kill_at,
            Stage::Running => self.timeout_at,
        };
        let heartbeat_at = (!self.is_lost()).then_some(self.heartbeat_at);
        kill_at.into_iter().chain(heartbeat_at).min()
    }

    /// The verdict on a command that is over; `None` where nobody asks for one.
    fn conclude(mut self, options: &RunnerOptions<'_>, now: Moment) -> Option<Ended> {
        // Whoever is left of a group that was asked to end has had the time of its leader.
        self.process.end();
        let tail = self.tail.unwrap_or_default();
        let (status, output) = match self.process.reap() {
            Ok(end) => end,
            Err(error) => {
                let verdict = verdict::of_trouble(&error);
                return Some(Ended { held: self.held, verdict, settle_at: now });
            }
        };
        let verdict = match self.stage {
            Stage::Running => verdict::of_exit(status, output, &tail),
            Stage::Ending { why: Why::Timeout, .. } => {
                let timeout = duration::format_ms(options.timeout_ms.unwrap_or_default());
                verdict::of_timeout(&timeout, output, &tail)
            }
            Stage::Ending { why: Why::Stop, .. } => Verdict::Release,
            Stage::Ending { why: Why::LostLease, .. } => return None,
        };
        Some(Ended { held: self.held, verdict, settle_at: now })
    }
}

impl Ended {
    fn settle(&self, store: &mut dyn Store, clock: &dyn Clock) -> Result<Settled, EngineError> {
        let Held { id, token } = &self.held;
        match &self.verdict {
            Verdict::Finish(end) => {
                let run = finish(store, clock, id, *token, end)?;
                Ok(Settled::Finished(Box::new(run)))
            }
            Verdict::Release => {
                release(store, clock, id, *token)?;
                Ok(Settled::Released)
            }
        }
    }
}
