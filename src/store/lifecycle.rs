//! What may happen to a run: pure transitions on its record.
//!
//! `pending` → `claimed` by [`RunRecord::hand_out`]; `claimed` → `pending` by
//! [`RunRecord::release`], by a failure to be retried or by [`RunRecord::expire`]; `claimed` →
//! `succeeded` or `failed` by [`RunRecord::finish`], → `abandoned` by [`RunRecord::expire`] when no
//! attempt is left. Nothing leaves a final state.

use crate::plan::Run;
use crate::time::Instant;

use super::record::{Attempt, Outcome, RunKey, RunRecord, RunState, Workflow};

/// How a worker ends its attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish<'a> {
    /// How it ended.
    pub status: FinishStatus,
    /// What to say of a failure.
    pub error: Option<&'a str>,
    /// JSON text to keep as the run's output.
    pub output: Option<&'a str>,
}

/// How a worker says that its attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishStatus {
    /// Well.
    Succeeded,
    /// Not well; final, unless `retry_in_ms` asks for another attempt.
    Failed {
        /// Make the run pending again, not before now + this many milliseconds (at least 0),
        /// as long as attempts are left.
        retry_in_ms: Option<i64>,
    },
}

/// Why a worker is refused. Nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LifecycleError {
    /// The token is not the current one, or the run is no longer the worker's.
    #[error("the lease is lost")]
    LostLease,
    /// The attempt was finished before, with another outcome.
    #[error("the run is already {}", state.as_str())]
    ConflictingFinish {
        /// Where the run stands.
        state: RunState,
    },
}

/// What a transition leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The run as it is now.
    Changed(RunRecord),
    /// The same was done before; there is nothing to write.
    Unchanged(RunRecord),
}

impl RunRecord {
    /// The record of an owed run of `workflow`, pending since it was due and not handed out yet.
    pub fn scheduled(workflow: &Workflow, plan: Run, tzdb: &str) -> RunRecord {
        RunRecord {
            key: RunKey {
                occurrence: plan.occurrence,
                workflow: workflow.id,
                request_id: String::new(),
            },
            reference: workflow.reference.clone(),
            tzdb: tzdb.to_owned(),
            state: RunState::Pending,
            available: Some(plan.due),
            attempts: 0,
            attempt: None,
            output: None,
            plan,
        }
    }

    /// Hands a pending run to a worker until `now + lease_ms`. The attempt before it, if there was
    /// one, comes back to be kept among the past ones.
    pub fn hand_out(
        self,
        worker: &str,
        token: i64,
        now: Instant,
        lease_ms: i64,
    ) -> (RunRecord, Option<Attempt>) {
        let attempts = self.attempts + 1;
        let attempt = Attempt {
            number: attempts,
            token,
            worker: worker.to_owned(),
            claimed: now,
            ended: None,
            outcome: None,
            error: None,
        };
        let run = RunRecord {
            state: RunState::Claimed,
            available: Some(later(now, lease_ms)),
            attempts,
            attempt: Some(attempt),
            ..self
        };
        (run, self.attempt)
    }

    /// What becomes of a claimed run whose lease expired: pending again since then, or abandoned
    /// when it was handed out `max_attempts` times. A run that is not claimed, or whose lease lasts
    /// past `now`, stays as it is.
    pub fn expire(self, now: Instant, max_attempts: u32) -> RunRecord {
        let Some(expiry) =
            self.available.filter(|&expiry| self.state == RunState::Claimed && expiry <= now)
        else {
            return self;
        };
        let (state, available) = if self.attempts < max_attempts {
            (RunState::Pending, Some(expiry))
        } else {
            (RunState::Abandoned, None)
        };
        let ended = self.ended(expiry, Outcome::Expired, None);
        RunRecord { state, available, ..ended }
    }

    /// Extends the lease to `now + lease_ms`, or revives it after expiry as long as nobody else
    /// was handed the run; it never shortens it. `output`, JSON text, replaces what was kept.
    ///
    /// # Errors
    /// [`LifecycleError::LostLease`].
    pub fn heartbeat(
        self,
        token: i64,
        now: Instant,
        lease_ms: i64,
        output: Option<&str>,
    ) -> Result<RunRecord, LifecycleError> {
        if self.state != RunState::Claimed || !self.is_current(token) {
            return Err(LifecycleError::LostLease);
        }
        let available = self.available.max(Some(later(now, lease_ms)));
        Ok(RunRecord { available, ..self.with_output(output) })
    }

    /// Ends the present attempt. It is accepted after the expiry of the lease too, as long as
    /// nobody else was handed the run. Doing it twice with the same outcome changes nothing.
    ///
    /// # Errors
    /// [`LifecycleError::LostLease`], [`LifecycleError::ConflictingFinish`].
    pub fn finish(
        self,
        token: i64,
        now: Instant,
        finish: &Finish<'_>,
        max_attempts: u32,
    ) -> Result<Step, LifecycleError> {
        if !self.is_current(token) {
            return Err(LifecycleError::LostLease);
        }
        let (outcome, retry_in_ms) = match finish.status {
            FinishStatus::Succeeded => (Outcome::Succeeded, None),
            FinishStatus::Failed { retry_in_ms } => (Outcome::Failed, retry_in_ms),
        };
        if self.state != RunState::Claimed {
            return self.finish_again(outcome);
        }
        let (state, available) = match (outcome, retry_in_ms) {
            (Outcome::Succeeded, _) => (RunState::Succeeded, None),
            (_, Some(retry_in_ms)) if self.attempts < max_attempts => {
                (RunState::Pending, Some(later(now, retry_in_ms)))
            }
            _ => (RunState::Failed, None),
        };
        let ended = self.ended(now, outcome, finish.error).with_output(finish.output);
        Ok(Step::Changed(RunRecord { state, available, ..ended }))
    }

    /// Gives a claimed run back: pending since `now`, and the attempt does not count. Doing it
    /// twice changes nothing.
    ///
    /// # Errors
    /// [`LifecycleError::LostLease`].
    pub fn release(self, token: i64, now: Instant) -> Result<Step, LifecycleError> {
        if !self.is_current(token) {
            return Err(LifecycleError::LostLease);
        }
        match (self.state, self.last_outcome()) {
            (RunState::Claimed, _) => {
                let attempts = self.attempts - 1;
                let ended = self.ended(now, Outcome::Released, None);
                Ok(Step::Changed(RunRecord {
                    state: RunState::Pending,
                    available: Some(now),
                    attempts,
                    ..ended
                }))
            }
            (RunState::Pending, Some(Outcome::Released)) => Ok(Step::Unchanged(self)),
            _ => Err(LifecycleError::LostLease),
        }
    }

    fn finish_again(self, outcome: Outcome) -> Result<Step, LifecycleError> {
        match self.last_outcome() {
            Some(before) if before == outcome => Ok(Step::Unchanged(self)),
            Some(Outcome::Succeeded | Outcome::Failed) => {
                Err(LifecycleError::ConflictingFinish { state: self.state })
            }
            _ => Err(LifecycleError::LostLease),
        }
    }

    fn is_current(&self, token: i64) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| attempt.token == token)
    }

    fn last_outcome(&self) -> Option<Outcome> {
        self.attempt.as_ref().and_then(|attempt| attempt.outcome)
    }

    fn ended(self, at: Instant, outcome: Outcome, error: Option<&str>) -> RunRecord {
        let attempt = self.attempt.map(|attempt| Attempt {
            ended: Some(at),
            outcome: Some(outcome),
            error: error.map(str::to_owned),
            ..attempt
        });
        RunRecord { attempt, ..self }
    }

    fn with_output(self, output: Option<&str>) -> RunRecord {
        let output = output.map(str::to_owned).or(self.output);
        RunRecord { output, ..self }
    }
}

/// `ms` milliseconds after `now`; past the range of instants, its end.
fn later(now: Instant, ms: i64) -> Instant {
    now.checked_add_ms(ms).unwrap_or(Instant::MAX)
}
