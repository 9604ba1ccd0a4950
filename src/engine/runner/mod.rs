//! A small runner: claims owed runs and carries out a command for each.

mod attempt;
mod attempts;
mod output;
mod process;
mod tail;
mod verdict;

use std::sync::mpsc::{self, Receiver, Sender};

use crate::clock::{Clock, Moment, wait_until};
use crate::store::record::{RunRecord, Trigger};
use crate::store::{Store, StoreError};

use super::{ClaimRequest, EngineError, claim};
use attempt::Settled;
use attempts::Attempts;
use process::Event;

/// How long to leave a store alone that another process holds, or that cannot be reached.
const BUSY_MS: i64 = 1_000;

/// What a runner is to do.
pub struct RunnerOptions<'a> {
    /// The command, carried out by `sh -c` once for each run.
    pub command: &'a str,
    /// The worker's name.
    pub worker: &'a str,
    /// At most this many commands at a time, at least 1.
    pub concurrency: usize,
    /// How long each lease lasts, in milliseconds, at least 1; it is extended every third of it.
    pub lease_ms: i64,
    /// A command that takes longer is ended.
    pub timeout_ms: Option<i64>,
    /// How long commands may go on after the runner was told to stop.
    pub grace_ms: i64,
    /// When to stop without being told.
    pub until: Until,
    /// Only workflows whose ref passes.
    pub matches: &'a dyn Fn(&str) -> bool,
    /// Only runs with this trigger.
    pub trigger: Option<Trigger>,
    /// The longest time between two looks at the store, in milliseconds, at least 1. A machine that
    /// slept does one pass on waking.
    pub poll_ms: i64,
}

impl RunnerOptions<'_> {
    /// The default of [`RunnerOptions::poll_ms`]: a minute.
    pub const POLL_MS: i64 = 60 * 1_000;
}

/// When a runner stops without being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// When nothing is owed and nothing runs.
    NothingOwed,
    /// Never.
    Told,
}

/// What a runner reports as it happens.
#[derive(Debug)]
pub enum Report<'a> {
    /// An attempt has ended and is recorded.
    Finished(&'a RunRecord),
    /// What a command did counts no more: its run is another's.
    Refused(EngineError),
    /// Another process holds the store; it is tried again.
    Busy(StoreError),
    /// The workflows whose cursor lies ahead of now are these; told where they change.
    CursorsAhead(&'a [String]),
    /// It was told to stop, and waits for so many commands.
    Stopping(usize),
}

/// A runner that is not running yet.
#[derive(Debug)]
pub struct Runner {
    events: Receiver<Event>,
    sender: Sender<Event>,
}

/// Tells a runner to stop: once to claim no more and to let commands end within the grace period,
/// again to end them at once. What is ended so is given back.
#[derive(Debug, Clone)]
pub struct Stopper(Sender<Event>);

impl Stopper {
    /// Tells it.
    pub fn stop(&self) {
        // A runner that has stopped needs no telling.
        let _ = self.0.send(Event::Stop);
    }
}

impl Default for Runner {
    fn default() -> Runner {
        let (sender, events) = mpsc::channel();
        Runner { events, sender }
    }
}

impl Runner {
    /// What stops this runner.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.sender.clone())
    }

    /// Runs until it is told to stop or, if so wanted, until nothing is owed.
    ///
    /// # Errors
    /// The store fails other than by being busy. The commands are ended; their leases expire.
    pub fn run(
        self,
        store: &mut dyn Store,
        clock: &dyn Clock,
        options: &RunnerOptions<'_>,
        report: &mut dyn FnMut(&mut dyn Store, Report<'_>),
    ) -> Result<(), EngineError> {
        let _wakeups = match options.until {
            // It looks until nothing is left, and waits for nothing.
            Until::NothingOwed => None,
            Until::Told => {
                let sender = self.sender.clone();
                // A runner that has stopped needs no waking.
                store.listen(Box::new(move || drop(sender.send(Event::Woken))))
            }
        };
        let attempts = Attempts::new(options, self.sender);
        let claim_at = Moment::now();
        let mut work = Work {
            store,
            clock,
            options,
            report,
            attempts,
            mode: Mode::Working,
            claim_at,
            cursors_ahead: Vec::new(),
        };
        let result = work.go_on(&self.events);
        work.attempts.abort();
        result
    }
}

/// How far a runner has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// It claims.
    Working,
    /// It claims no more, and waits for commands until this moment.
    Waiting(Moment),
    /// It has ended what was left.
    Ending,
}

/// A runner at work.
struct Work<'a> {
    store: &'a mut dyn Store,
    clock: &'a dyn Clock,
    options: &'a RunnerOptions<'a>,
    report: &'a mut dyn FnMut(&mut dyn Store, Report<'_>),
    attempts: Attempts<'a>,
    mode: Mode,
    /// When to look for owed runs again.
    claim_at: Moment,
    /// The workflows whose cursor lay ahead of now at the last claim.
    cursors_ahead: Vec<String>,
}

impl Work<'_> {
    fn go_on(&mut self, events: &Receiver<Event>) -> Result<(), EngineError> {
        loop {
            self.tend(Moment::now())?;
            let is_idle = self.attempts.is_empty();
            if self.fill()? == Owed::Nothing && is_idle {
                return Ok(());
            }
            let mut event = wait_until(events, self.next_moment());
            // Everything that has happened comes before the next claim.
            while let Some(happened) = event {
                self.handle(happened);
                event = events.try_recv().ok();
            }
        }
    }

    fn handle(&mut self, event: Event) {
        let now = Moment::now();
        match (event, self.mode) {
            (Event::Stop, Mode::Working) => {
                self.mode = Mode::Waiting(now.after_ms(self.options.grace_ms));
                (self.report)(self.store, Report::Stopping(self.attempts.len()));
            }
            (Event::Stop, _) => {
                self.mode = Mode::Ending;
                self.attempts.end_all(now);
            }
            (Event::Woken, _) => self.claim_at = now,
            (Event::Exited(number), _) => self.attempts.exited(number),
            (Event::Drained(number, tail), _) => self.attempts.drained(number, tail),
        }
    }

    /// Does what is due by `now`.
    fn tend(&mut self, now: Moment) -> Result<(), EngineError> {
        if matches!(self.mode, Mode::Waiting(until) if until <= now) {
            self.mode = Mode::Ending;
            self.attempts.ask_all_to_end(now);
        }
        let before = self.attempts.len();
        self.attempts.tend(now, self.store, self.clock)?;
        while let Some(settled) = self.attempts.settle(now, self.store, self.clock)? {
            match settled {
                Settled::Finished(run) => (self.report)(self.store, Report::Finished(&run)),
                Settled::Released => {}
                Settled::Refused(error) => (self.report)(self.store, Report::Refused(error)),
                Settled::Busy(error) => {
                    (self.report)(self.store, Report::Busy(error));
                    if self.mode == Mode::Ending {
                        self.attempts.forget_ended();
                    }
                    break;
                }
            }
        }
        if self.attempts.len() < before {
            self.claim_at = now;
        }
        Ok(())
    }

    /// Claims as many runs as there is room for, and starts a command for each.
    fn fill(&mut self) -> Result<Owed, EngineError> {
        let now = Moment::now();
        let free = self.options.concurrency.saturating_sub(self.attempts.len());
        if self.mode != Mode::Working {
            return Ok(Owed::Nothing);
        }
        if free == 0 || now < self.claim_at {
            return Ok(Owed::Perhaps);
        }
        let request = ClaimRequest {
            worker: self.options.worker,
            limit: free,
            lease_ms: self.options.lease_ms,
            matches: self.options.matches,
            trigger: self.options.trigger,
        };
        let claimed = match claim(self.store, self.clock, &request) {
            Ok(claimed) => claimed,
            Err(EngineError::Store(error)) if error.is_retryable() => {
                self.claim_at = now.after_ms(BUSY_MS);
                (self.report)(self.store, Report::Busy(error));
                return Ok(Owed::Perhaps);
            }
            Err(error) => return Err(error),
        };
        let next = claimed.next_due.into_iter().chain(claimed.next_available).min();
        let poll_ms = self.options.poll_ms;
        let until_next = next.map_or(poll_ms, |next| next.ms_since(self.clock.now()));
        self.claim_at = now.after_ms(until_next.min(poll_ms));
        if claimed.cursors_ahead != self.cursors_ahead {
            (self.report)(self.store, Report::CursorsAhead(&claimed.cursors_ahead));
            self.cursors_ahead = claimed.cursors_ahead;
        }
        let is_empty = claimed.runs.is_empty();
        for run in &claimed.runs {
            self.attempts.start(run, now);
        }
        Ok(match self.options.until {
            Until::NothingOwed if is_empty => Owed::Nothing,
            _ => Owed::Perhaps,
        })
    }

    /// When there is something to do, whatever happens.
    fn next_moment(&self) -> Moment {
        let recheck = Moment::now().after_ms(self.options.poll_ms);
        let has_room = self.attempts.len() < self.options.concurrency;
        let mode = match self.mode {
            Mode::Working => has_room.then_some(self.claim_at),
            Mode::Waiting(until) => Some(until),
            Mode::Ending => None,
        };
        mode.into_iter().chain(self.attempts.next_moment()).fold(recheck, Moment::min)
    }
}

/// What a look at the store says about going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owed {
    /// Nothing will be claimed any more.
    Nothing,
    /// There may be something to claim, now or later.
    Perhaps,
}
