//! All attempts that a runner is making: heartbeats, and how each is settled.

use std::sync::mpsc::Sender;

use crate::clock::{Clock, Moment};
use crate::store::Store;
use crate::store::record::RunRecord;

use super::super::{EngineError, Held, heartbeat};
use super::attempt::{Attempt, Ended, Settled, heartbeat_ms};
use super::process::Event;
use super::tail::Tail;
use super::{BUSY_MS, RunnerOptions};

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
    pub(super) fn start(&mut self, run: &RunRecord, now: Moment) {
        self.last_number += 1;
        match Attempt::start(run, self.last_number, self.options, &self.events, now) {
            Ok(attempt) => self.running.push(attempt),
            Err(ended) => self.ended.push(*ended),
        }
    }

    /// The leader of a group has ended.
    pub(super) fn exited(&mut self, number: u64) {
        if let Some(attempt) = self.running.iter_mut().find(|attempt| attempt.number() == number) {
            attempt.exited();
        }
    }

    /// A group has said all.
    pub(super) fn drained(&mut self, number: u64, tail: Tail) {
        if let Some(attempt) = self.running.iter_mut().find(|attempt| attempt.number() == number) {
            attempt.drained(tail);
        }
    }

    /// Asks every group to end, because the runner stops.
    pub(super) fn ask_all_to_end(&mut self, now: Moment) {
        for attempt in &mut self.running {
            attempt.ask_to_stop(now);
        }
    }

    /// Ends every group at once, because the runner stops.
    pub(super) fn end_all(&mut self, now: Moment) {
        for attempt in &mut self.running {
            attempt.ask_to_stop(now);
            attempt.end();
        }
    }

    /// Ends every group at once and forgets it.
    pub(super) fn abort(&mut self) {
        for attempt in self.running.drain(..) {
            attempt.abort();
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
        let attempt = &mut self.running[index];
        attempt.watch(now);
        let Some(Held { id, token }) = attempt.wants_heartbeat(now) else { return Ok(()) };
        match heartbeat(store, clock, id, *token, self.options.lease_ms, None) {
            Ok(_) => attempt.beat_after(now, heartbeat_ms(self.options)),
            Err(EngineError::Store(error)) if error.is_retryable() => {
                attempt.beat_after(now, BUSY_MS);
            }
            Err(error) if error.is_refusal() => {
                attempt.lose(now);
                self.refused.push(error);
            }
            Err(error) => return Err(error),
        }
        Ok(())
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
        let Some(index) = self.ended.iter().position(|ended| ended.is_due(now)) else {
            return Ok(None);
        };
        let ended = &mut self.ended[index];
        let settled = match ended.settle(store, clock) {
            Err(EngineError::Store(error)) if error.is_retryable() => {
                ended.settle_after(now, BUSY_MS);
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
        running.chain(self.ended.iter().map(Ended::settle_at)).min()
    }
}
