//! One attempt that a runner is making, from its start to the verdict.

use std::sync::mpsc::Sender;

use crate::clock::{Clock, Moment};
use crate::store::record::RunRecord;
use crate::store::{Store, StoreError};
use crate::time::duration;
use crate::wire::{ClaimRow, to_json};

use super::super::{EngineError, Held, finish, release};
use super::RunnerOptions;
use super::process::{Event, Process};
use super::tail::Tail;
use super::verdict::{self, Verdict};

/// How long a group may take to end after it was asked to.
const END_WITHIN_MS: i64 = 5 * 1_000;

/// An attempt whose command runs.
pub(super) struct Attempt {
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
pub(super) struct Ended {
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

/// Leases are extended so often.
pub(super) fn heartbeat_ms(options: &RunnerOptions<'_>) -> i64 {
    (options.lease_ms / 3).max(1)
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
    /// Starts the command for a run that was claimed. Where that fails, the attempt has ended.
    pub(super) fn start(
        run: &RunRecord,
        number: u64,
        options: &RunnerOptions<'_>,
        events: &Sender<Event>,
        now: Moment,
    ) -> Result<Attempt, Box<Ended>> {
        let token = run.attempt.as_ref().map_or(0, |attempt| attempt.token);
        let held = Held { id: run.id(), token };
        let stdin = format!("{}\n", to_json(&ClaimRow(run)));
        match Process::start(options.command, &variables(run, &held), &stdin, number, events) {
            Ok(process) => Ok(Attempt {
                number,
                held,
                process,
                heartbeat_at: now.after_ms(heartbeat_ms(options)),
                timeout_at: options.timeout_ms.map(|timeout_ms| now.after_ms(timeout_ms)),
                stage: Stage::Running,
                has_exited: false,
                tail: None,
            }),
            Err(error) => {
                Err(Box::new(Ended { held, verdict: verdict::of_trouble(&error), settle_at: now }))
            }
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Its leader has ended. What that leaves behind ends with it, unless the group was asked to
    /// end and still has time.
    pub(super) fn exited(&mut self) {
        self.has_exited = true;
        if matches!(self.stage, Stage::Running) {
            self.process.end();
        }
    }

    /// It has said all.
    pub(super) fn drained(&mut self, tail: Tail) {
        self.tail = Some(tail);
    }

    /// Asks its group to end because the runner stops.
    pub(super) fn ask_to_stop(&mut self, now: Moment) {
        self.ask_to_end(Why::Stop, now);
    }

    /// Asks its group to end because its run is another's.
    pub(super) fn lose(&mut self, now: Moment) {
        self.ask_to_end(Why::LostLease, now);
    }

    /// The timeout or the last resort, where it is due by `now`.
    pub(super) fn watch(&mut self, now: Moment) {
        if self.timeout_at.is_some_and(|timeout_at| timeout_at <= now) {
            self.timeout_at = None;
            self.ask_to_end(Why::Timeout, now);
        }
        match self.stage {
            Stage::Ending { kill_at: Some(kill_at), .. } if kill_at <= now => self.end(),
            _ => {}
        }
    }

    /// Its claim, if the lease is to be extended by `now`.
    pub(super) fn wants_heartbeat(&self, now: Moment) -> Option<&Held> {
        (self.heartbeat_at <= now && !self.is_lost()).then_some(&self.held)
    }

    /// Puts the next heartbeat off.
    pub(super) fn beat_after(&mut self, now: Moment, ms: i64) {
        self.heartbeat_at = now.after_ms(ms);
    }

    /// Ends its group at once and forgets it.
    pub(super) fn abort(self) {
        self.process.abort();
    }

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
    pub(super) fn end(&mut self) {
        if let Stage::Ending { kill_at, .. } = &mut self.stage {
            *kill_at = None;
        }
        self.process.end();
    }

    fn is_lost(&self) -> bool {
        matches!(self.stage, Stage::Ending { why: Why::LostLease, .. })
    }

    /// Whether its command has ended and said all.
    pub(super) fn is_over(&self) -> bool {
        self.has_exited && self.tail.is_some()
    }

    pub(super) fn next_moment(&self) -> Option<Moment> {
        let kill_at = match self.stage {
            Stage::Ending { kill_at, .. } => kill_at,
            Stage::Running => self.timeout_at,
        };
        let heartbeat_at = (!self.is_lost()).then_some(self.heartbeat_at);
        kill_at.into_iter().chain(heartbeat_at).min()
    }

    /// The verdict on a command that is over; `None` where nobody asks for one.
    pub(super) fn conclude(mut self, options: &RunnerOptions<'_>, now: Moment) -> Option<Ended> {
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
    pub(super) fn settle_at(&self) -> Moment {
        self.settle_at
    }

    pub(super) fn is_due(&self, now: Moment) -> bool {
        self.settle_at <= now
    }

    /// Puts the settlement off.
    pub(super) fn settle_after(&mut self, now: Moment, ms: i64) {
        self.settle_at = now.after_ms(ms);
    }

    /// Writes down how it ended.
    pub(super) fn settle(
        &self,
        store: &mut dyn Store,
        clock: &dyn Clock,
    ) -> Result<Settled, EngineError> {
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
