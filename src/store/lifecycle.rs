//! What may happen to a run: every transition of its state, values in, value or error out.
//!
//! ```text
//! pending ── hand_out ──▶ claimed ── finish ──▶ succeeded | failed | pending (to be retried)
//!    │ ▲                     ├─────── release ─▶ pending (the attempt does not count)
//!    │ └─────────────────────┴─────── expire ──▶ pending (for the next attempt) | abandoned
//!    └── cancel ──▶ cancelled
//! ```
//!
//! A run keeps its last attempt, however it ended, until the next hand-out. Only then does it move
//! to the past attempts: [`RunRecord::hand_out`] returns it for the caller to store.

use crate::plan::Run;
use crate::time::Instant;

use super::record::{Attempt, Outcome, RunKey, RunRecord, RunState};

/// Why a transition is refused. The run stays as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LifecycleError {
    /// The token is not that of the run's present lease: another worker was handed the run, or it
    /// was released, abandoned or cancelled, or never handed out.
    #[error("the lease with token `{token}` is lost")]
    LostLease {
        /// The token as presented.
        token: i64,
    },
    /// The attempt is finished already, with another outcome.
    #[error("the run has {} already, and cannot become `{asked}`", .recorded.as_str())]
    ConflictingFinish {
        /// The outcome on record.
        recorded: Outcome,
        /// The outcome as presented.
        asked: &'static str,
    },
    /// Only a run in another state allows this.
    #[error("the run is {}, not {}", .state.as_str(), .expected.as_str())]
    State {
        /// Where the run stands.
        state: RunState,
        /// Where it would have to stand.
        expected: RunState,
    },
    /// The lease of the run lasts on.
    #[error("the lease lasts until {expires}")]
    Leased {
        /// Its expiry.
        expires: Instant,
    },
    /// The lease or the delay ends outside the range of instants.
    #[error("{what} of `{length_ms}` ms ends outside the range of instants")]
    Range {
        /// `a lease` or `a retry delay`.
        what: &'static str,
        /// Its length in milliseconds.
        length_ms: i64,
    },
}

impl LifecycleError {
    /// The stable word for this error.
    pub fn code(&self) -> &'static str {
        match self {
            LifecycleError::LostLease { .. } => "lost_lease",
            LifecycleError::ConflictingFinish { .. } => "conflicting_finish",
            LifecycleError::State { .. } => "wrong_state",
            LifecycleError::Leased { .. } => "leased",
            LifecycleError::Range { .. } => "out_of_range",
        }
    }

    /// True when the caller no longer holds the run.
    pub fn is_lost_lease(&self) -> bool {
        matches!(self, LifecycleError::LostLease { .. })
    }
}

/// A run that was just handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOut {
    /// The run, claimed.
    pub run: RunRecord,
    /// The attempt before, which now belongs to the past attempts.
    pub past: Option<Attempt>,
}

/// What a worker reports at the end of its attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// How it went.
    pub verdict: Verdict,
    /// What there is to say of a failure.
    pub error: Option<String>,
    /// JSON text; `None` keeps what a heartbeat brought.
    pub output: Option<String>,
}

/// How an attempt went, as its worker sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Well.
    Succeeded,
    /// Not well.
    Failed {
        /// Try again, not before so many milliseconds (at least 0) have passed; `None` is final.
        retry_in_ms: Option<i64>,
    },
}

impl Verdict {
    /// The outcome that goes on record.
    pub const fn outcome(self) -> Outcome {
        match self {
            Verdict::Succeeded => Outcome::Succeeded,
            Verdict::Failed { .. } => Outcome::Failed,
        }
    }
}

/// The answer to [`RunRecord::finish`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finished {
    /// The run as it is now, to be stored.
    Recorded(RunRecord),
    /// The run as it was: the same outcome was on record already.
    AlreadySo(RunRecord),
}

/// The answer to [`RunRecord::expire`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expiry {
    /// The run is pending, available since its lease expired; hand it out.
    Ready(RunRecord),
    /// No attempt was left: the run is final.
    Abandoned(RunRecord),
}

impl RunRecord {
    /// A run that waits for its first hand-out, from `available` on.
    pub fn pending(
        key: RunKey,
        reference: String,
        plan: Run,
        tzdb: String,
        available: Instant,
    ) -> RunRecord {
        RunRecord {
            key,
            reference,
            plan,
            tzdb,
            state: RunState::Pending,
            available: Some(available),
            attempts: 0,
            attempt: None,
            output: None,
        }
    }

    /// Hands a pending run to `worker` under `token`, which must be greater than any token of the
    /// workflow before, until `now + lease_ms`. The attempt counts. Output of an attempt before is
    /// dropped: what the record says is the work of its last attempt.
    ///
    /// # Errors
    /// [`LifecycleError::State`] unless pending; [`LifecycleError::Range`].
    pub fn hand_out(
        self,
        worker: &str,
        token: i64,
        now: Instant,
        lease_ms: i64,
    ) -> Result<HandOut, LifecycleError> {
        self.expect(RunState::Pending)?;
        let expires = after("a lease", now, lease_ms)?;
        let number = self.attempts + 1;
        let attempt = Attempt {
            number,
            token,
            worker: worker.to_owned(),
            claimed: now,
            ended: None,
            outcome: None,
            error: None,
        };
        let run = RunRecord {
            state: RunState::Claimed,
            available: Some(expires),
            attempts: number,
            attempt: Some(attempt),
            output: None,
            ..self
        };
        Ok(HandOut { run, past: self.attempt })
    }

    /// Extends the lease held under `token` to `now + lease_ms`, or revives it where it has
    /// expired and nobody else was handed the run. It never ends the lease earlier. `output`, where
    /// given, replaces what was there.
    ///
    /// # Errors
    /// [`LifecycleError::LostLease`], [`LifecycleError::Range`].
    pub fn heartbeat(
        self,
        token: i64,
        now: Instant,
        lease_ms: i64,
        output: Option<String>,
    ) -> Result<RunRecord, LifecycleError> {
        match self.held(token)?.outcome {
            None => Ok(RunRecord {
                available: self.available.max(Some(after("a lease", now, lease_ms)?)),
                output: output.or(self.output),
                ..self
            }),
            Some(_) => Err(LifecycleError::LostLease { token }),
        }
    }

    /// Records how the attempt under `token` ended. It is accepted after the lease expired too, as
    /// long as nobody else was handed the run and it was not abandoned. The same outcome a second
    /// time changes nothing.
    ///
    /// A failure with a retry delay makes the run pending again, from `now` plus the delay on,
    /// until `max_attempts` have been handed out; then, and without a delay, it is final.
    ///
    /// # Errors
    /// [`LifecycleError::LostLease`]; [`LifecycleError::ConflictingFinish`] when another outcome is
    /// on record; [`LifecycleError::Range`].
    pub fn finish(
        self,
        token: i64,
        now: Instant,
        finish: Finish,
        max_attempts: u32,
    ) -> Result<Finished, LifecycleError> {
        let asked = finish.verdict.outcome();
        match self.held(token)?.outcome {
            None => {}
            Some(recorded) if recorded == asked && !self.is_otherwise(&finish, max_attempts) => {
                return Ok(Finished::AlreadySo(self));
            }
            Some(recorded @ (Outcome::Succeeded | Outcome::Failed)) => {
                let asked = match finish.verdict {
                    _ if recorded != asked => asked.as_str(),
                    Verdict::Failed { retry_in_ms: Some(_) } => "failed and to be tried again",
                    _ => "failed for good",
                };
                return Err(LifecycleError::ConflictingFinish { recorded, asked });
            }
            Some(Outcome::Released | Outcome::Expired) => {
                return Err(LifecycleError::LostLease { token });
            }
        }
        let (state, available) = match finish.verdict {
            Verdict::Succeeded => (RunState::Succeeded, None),
            Verdict::Failed { retry_in_ms: Some(delay_ms) } if self.attempts < max_attempts => {
                (RunState::Pending, Some(after("a retry delay", now, delay_ms)?))
            }
            Verdict::Failed { .. } => (RunState::Failed, None),
        };
        let output = finish.output.or_else(|| self.output.clone());
        let run = self.ended(now, asked, finish.error);
        Ok(Finished::Recorded(RunRecord { state, available, output, ..run }))
    }

    /// Whether a failure on record is to be tried again and the one presented is not, or the
    /// other way round.
    fn is_otherwise(&self, finish: &Finish, max_attempts: u32) -> bool {
        match finish.verdict {
            Verdict::Succeeded => false,
            Verdict::Failed { retry_in_ms: None } => self.state == RunState::Pending,
            Verdict::Failed { retry_in_ms: Some(_) } => {
                self.state == RunState::Failed && self.attempts < max_attempts
            }
        }
    }

    /// Gives the run held under `token` back: pending again from `now` on, and the attempt does
    /// not count. A second release changes nothing.
    ///
    /// # Errors
    /// [`LifecycleError::LostLease`], also once the attempt was finished.
    pub fn release(self, token: i64, now: Instant) -> Result<RunRecord, LifecycleError> {
        match self.held(token)?.outcome {
            None => {
                let attempts = self.attempts.saturating_sub(1);
                let run = self.ended(now, Outcome::Released, None);
                Ok(RunRecord { state: RunState::Pending, available: Some(now), attempts, ..run })
            }
            Some(Outcome::Released) if self.state == RunState::Pending => Ok(self),
            Some(_) => Err(LifecycleError::LostLease { token }),
        }
    }

    /// Ends a lease that has expired at `now`: pending for the next attempt, or abandoned once
    /// `max_attempts` were handed out (0 abandons whatever is left). The attempt ends, and the run
    /// is available since, when the lease expired.
    ///
    /// # Errors
    /// [`LifecycleError::State`] unless claimed; [`LifecycleError::Leased`] while the lease lasts.
    pub fn expire(self, now: Instant, max_attempts: u32) -> Result<Expiry, LifecycleError> {
        self.expect(RunState::Claimed)?;
        let expires = self.available.unwrap_or(now);
        if expires > now {
            return Err(LifecycleError::Leased { expires });
        }
        let run = self.ended(expires, Outcome::Expired, None);
        Ok(if run.attempts < max_attempts {
            Expiry::Ready(RunRecord { state: RunState::Pending, available: Some(expires), ..run })
        } else {
            Expiry::Abandoned(RunRecord { state: RunState::Abandoned, available: None, ..run })
        })
    }

    /// Withdraws a pending run.
    ///
    /// # Errors
    /// [`LifecycleError::State`] unless pending.
    pub fn cancel(self) -> Result<RunRecord, LifecycleError> {
        self.expect(RunState::Pending)?;
        Ok(RunRecord { state: RunState::Cancelled, available: None, ..self })
    }

    /// The last attempt, if `token` is its token.
    fn held(&self, token: i64) -> Result<&Attempt, LifecycleError> {
        let held = self.attempt.as_ref().filter(|attempt| attempt.token == token);
        held.ok_or(LifecycleError::LostLease { token })
    }

    fn expect(&self, expected: RunState) -> Result<(), LifecycleError> {
        let state = self.state;
        if state == expected { Ok(()) } else { Err(LifecycleError::State { state, expected }) }
    }

    /// The same run with its last attempt ended.
    fn ended(mut self, at: Instant, outcome: Outcome, error: Option<String>) -> RunRecord {
        if let Some(attempt) = &mut self.attempt {
            attempt.ended = Some(at);
            attempt.outcome = Some(outcome);
            attempt.error = error;
        }
        self
    }
}

fn after(what: &'static str, now: Instant, length_ms: i64) -> Result<Instant, LifecycleError> {
    now.checked_add_ms(length_ms).ok_or(LifecycleError::Range { what, length_ms })
}
