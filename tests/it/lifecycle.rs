//! What may happen to a run: every transition from every state, as a table.

use windowpane::store::lifecycle::{Expiry, Finish, Finished, LifecycleError, Verdict};
use windowpane::store::record::{Attempt, Outcome, RunRecord, RunState};
use windowpane::time::Instant;

use crate::store_suite::sample::{minute, pending};

const MINUTE_MS: i64 = 60_000;
const LEASE_MS: i64 = 5 * MINUTE_MS;

/// What happens to a run; numbers are minutes and tokens.
#[derive(Debug, Clone, Copy)]
enum Event {
    HandOut { token: i64, now: i64 },
    Heartbeat { token: i64, now: i64 },
    Succeed { token: i64, now: i64 },
    Fail { token: i64, now: i64 },
    FailRetryIn { token: i64, now: i64, minutes: i64 },
    Release { token: i64, now: i64 },
    Expire { now: i64 },
    Cancel,
}
use Event::*;

const MAX_ATTEMPTS: u32 = 2;

/// The run after the event, and the attempt that moved to the past.
fn apply(run: RunRecord, event: Event) -> Result<(RunRecord, Option<Attempt>), LifecycleError> {
    let finish = |run: RunRecord, token, now, verdict| {
        let finish = Finish { verdict, error: None, output: None };
        match run.finish(token, minute(now), finish, MAX_ATTEMPTS)? {
            Finished::Recorded(run) | Finished::AlreadySo(run) => Ok((run, None)),
        }
    };
    match event {
        HandOut { token, now } => {
            let handed = run.hand_out("worker", token, minute(now), LEASE_MS)?;
            Ok((handed.run, handed.past))
        }
        Heartbeat { token, now } => Ok((run.heartbeat(token, minute(now), LEASE_MS, None)?, None)),
        Succeed { token, now } => finish(run, token, now, Verdict::Succeeded),
        Fail { token, now } => finish(run, token, now, Verdict::Failed { retry_in_ms: None }),
        FailRetryIn { token, now, minutes } => {
            let retry_in_ms = Some(minutes * MINUTE_MS);
            finish(run, token, now, Verdict::Failed { retry_in_ms })
        }
        Release { token, now } => Ok((run.release(token, minute(now))?, None)),
        Expire { now } => match run.expire(minute(now), MAX_ATTEMPTS)? {
            Expiry::Ready(run) | Expiry::Abandoned(run) => Ok((run, None)),
        },
        Cancel => Ok((run.cancel()?, None)),
    }
}

/// The run in a line: state, since or until when, attempts that count, and the last attempt as
/// `number/token outcome@end`.
fn line(run: &RunRecord) -> String {
    let minutes = |instant: Instant| instant.ms_since(minute(0)) / MINUTE_MS;
    let available = run.available.map_or(String::new(), |at| format!(" @{}", minutes(at)));
    let attempt = run.attempt.as_ref().map_or("none".to_owned(), |attempt| {
        let outcome = attempt.outcome.map_or("running", Outcome::as_str);
        let ended = attempt.ended.map_or(String::new(), |at| format!("@{}", minutes(at)));
        format!("{}/{} {outcome}{ended}", attempt.number, attempt.token)
    });
    format!("{}{available}, {} counted, {attempt}", run.state.as_str(), run.attempts)
}

fn after(events: &[Event]) -> RunRecord {
    let new = pending("alpha", 5, "", 6);
    events.iter().fold(new, |run, &event| apply(run, event).unwrap().0)
}

#[track_caller]
fn check(events: &[Event], expected: &str) {
    assert_eq!(line(&after(events)), expected);
}

/// The last event must be refused; the text of the error is given.
#[track_caller]
fn check_refused(events: &[Event], expected: &str) {
    let (last, before) = events.split_last().unwrap();
    assert_eq!(apply(after(before), *last).unwrap_err().to_string(), expected);
}

#[test]
fn a_run_is_handed_out_and_finished() {
    check(&[], "pending @6, 0 counted, none");
    check(&[HandOut { token: 3, now: 7 }], "claimed @12, 1 counted, 1/3 running");
    let claimed = HandOut { token: 3, now: 7 };
    check(&[claimed, Succeed { token: 3, now: 8 }], "succeeded, 1 counted, 1/3 succeeded@8");
    check(&[claimed, Fail { token: 3, now: 8 }], "failed, 1 counted, 1/3 failed@8");
    check(&[Cancel], "cancelled, 0 counted, none");
}

#[test]
fn a_failure_is_tried_again_until_attempts_run_out() {
    let retry = |token, now| FailRetryIn { token, now, minutes: 10 };
    let first = [HandOut { token: 3, now: 7 }, retry(3, 8)];
    check(&first, "pending @18, 1 counted, 1/3 failed@8");
    let second = [first[0], first[1], HandOut { token: 4, now: 18 }];
    check(&second, "claimed @23, 2 counted, 2/4 running");
    let last = [first[0], first[1], second[2], retry(4, 19)];
    check(&last, "failed, 2 counted, 2/4 failed@19");
    check(
        &[HandOut { token: 3, now: 7 }, FailRetryIn { token: 3, now: 8, minutes: 0 }],
        "pending @8, 1 counted, 1/3 failed@8",
    );
}

#[test]
fn a_heartbeat_extends_and_revives() {
    let claimed = HandOut { token: 3, now: 7 };
    let extended = "claimed @16, 1 counted, 1/3 running";
    check(&[claimed, Heartbeat { token: 3, now: 11 }], extended);
    let revived = "claimed @35, 1 counted, 1/3 running";
    check(&[claimed, Heartbeat { token: 3, now: 30 }], revived);
    let never_shortened = "claimed @12, 1 counted, 1/3 running";
    check(&[claimed, Heartbeat { token: 3, now: -90 }], never_shortened);
}

#[test]
fn a_released_attempt_does_not_count() {
    let released = [HandOut { token: 3, now: 7 }, Release { token: 3, now: 8 }];
    check(&released, "pending @8, 0 counted, 1/3 released@8");
    let late = [HandOut { token: 3, now: 7 }, Release { token: 3, now: 30 }];
    check(&late, "pending @30, 0 counted, 1/3 released@30");
    let twice = [released[0], released[1], Release { token: 3, now: 9 }];
    check(&twice, "pending @8, 0 counted, 1/3 released@8");
    let again = [released[0], released[1], HandOut { token: 4, now: 9 }];
    check(&again, "claimed @14, 1 counted, 1/4 running");
    check(&[released[0], released[1], Cancel], "cancelled, 0 counted, 1/3 released@8");
}

#[test]
fn an_expired_lease_is_ready_or_abandoned() {
    let expired = [HandOut { token: 3, now: 7 }, Expire { now: 12 }];
    check(&expired, "pending @12, 1 counted, 1/3 expired@12");
    let late = [HandOut { token: 3, now: 7 }, Expire { now: 99 }];
    check(&late, "pending @12, 1 counted, 1/3 expired@12");
    let twice = [expired[0], expired[1], HandOut { token: 4, now: 12 }, Expire { now: 17 }];
    check(&twice, "abandoned, 2 counted, 2/4 expired@17");
}

#[test]
fn a_late_finish_counts_while_nobody_else_has_the_run() {
    let claimed = HandOut { token: 3, now: 7 };
    check(&[claimed, Succeed { token: 3, now: 99 }], "succeeded, 1 counted, 1/3 succeeded@99");
    let lost = "the lease with token `3` is lost";
    let taken = [claimed, Expire { now: 12 }, HandOut { token: 4, now: 12 }];
    for late in [
        Succeed { token: 3, now: 13 },
        Fail { token: 3, now: 13 },
        Heartbeat { token: 3, now: 13 },
        Release { token: 3, now: 13 },
    ] {
        check_refused(&[taken[0], taken[1], taken[2], late], lost);
        check_refused(&[taken[0], taken[1], late], lost);
        check_refused(&[late], lost);
        check_refused(&[claimed, Release { token: 3, now: 8 }, Cancel, late], lost);
    }
}

#[test]
fn an_abandoned_run_is_final() {
    let events = [
        HandOut { token: 3, now: 7 },
        Expire { now: 12 },
        HandOut { token: 4, now: 12 },
        Expire { now: 17 },
    ];
    let lost = "the lease with token `4` is lost";
    for event in [
        Succeed { token: 4, now: 18 },
        Heartbeat { token: 4, now: 18 },
        Release { token: 4, now: 18 },
    ] {
        check_refused(&[events.as_slice(), &[event]].concat(), lost);
    }
}

#[test]
fn the_same_outcome_twice_is_fine_and_another_is_not() {
    let claimed = HandOut { token: 3, now: 7 };
    let (succeed, fail) = (Succeed { token: 3, now: 8 }, Fail { token: 3, now: 8 });
    let retry = FailRetryIn { token: 3, now: 8, minutes: 10 };
    let later = |event| match event {
        Succeed { token, now } => Succeed { token, now: now + 1 },
        Fail { token, now } => Fail { token, now: now + 1 },
        other => other,
    };
    for once in [succeed, fail, retry] {
        assert_eq!(line(&after(&[claimed, once, later(once)])), line(&after(&[claimed, once])));
    }
    let text = "the run has failed already, and cannot become `failed for good`";
    check_refused(&[claimed, retry, fail], text);
    let text = "the run has failed already, and cannot become `failed and to be tried again`";
    check_refused(&[claimed, fail, retry], text);
    let text = "the run has succeeded already, and cannot become `failed`";
    check_refused(&[claimed, succeed, fail], text);
    let text = "the run has failed already, and cannot become `succeeded`";
    check_refused(&[claimed, fail, succeed], text);
    check_refused(&[claimed, retry, succeed], text);
    check_refused(&[claimed, retry, Cancel, succeed], text);
    check_refused(
        &[claimed, succeed, Release { token: 3, now: 9 }],
        "the lease with token `3` is lost",
    );
    check_refused(
        &[claimed, fail, Heartbeat { token: 3, now: 9 }],
        "the lease with token `3` is lost",
    );
}

#[test]
fn each_transition_has_its_state() {
    let claimed = HandOut { token: 3, now: 7 };
    let succeeded = [claimed, Succeed { token: 3, now: 8 }];
    check_refused(&[claimed, HandOut { token: 4, now: 8 }], "the run is claimed, not pending");
    check_refused(&[claimed, Cancel], "the run is claimed, not pending");
    check_refused(&[Expire { now: 99 }], "the run is pending, not claimed");
    check_refused(&[succeeded[0], succeeded[1], Cancel], "the run is succeeded, not pending");
    check_refused(&[Cancel, HandOut { token: 3, now: 7 }], "the run is cancelled, not pending");
    check_refused(&[claimed, Expire { now: 11 }], "the lease lasts until 2026-01-01T12:12:00Z");
}

/// An attempt stays with its run until the next one begins.
#[test]
fn the_attempt_before_moves_to_the_past_at_the_next_hand_out() {
    let (claimed, next) = (HandOut { token: 3, now: 7 }, HandOut { token: 4, now: 40 });
    assert_eq!(apply(after(&[]), claimed).unwrap().1, None);
    for (end, outcome) in [
        (FailRetryIn { token: 3, now: 8, minutes: 1 }, Outcome::Failed),
        (Release { token: 3, now: 8 }, Outcome::Released),
        (Expire { now: 30 }, Outcome::Expired),
    ] {
        let (run, past) = apply(after(&[claimed, end]), next).unwrap();
        let past = past.unwrap();
        assert_eq!((past.number, past.token, past.outcome), (1, 3, Some(outcome)));
        assert!(past.ended.is_some() && past.claimed == minute(7) && past.worker == "worker");
        assert_eq!(run.attempt.unwrap().token, 4);
    }
}

#[test]
fn errors_and_output_are_those_of_the_last_attempt() {
    let claimed = after(&[HandOut { token: 3, now: 7 }]);
    let output = |text: &str| Some(text.to_owned());
    let run = claimed.heartbeat(3, minute(8), LEASE_MS, output("1")).unwrap();
    let run = run.heartbeat(3, minute(9), LEASE_MS, None).unwrap();
    assert_eq!(run.output, output("1"), "no output leaves what was there");
    let failed = Verdict::Failed { retry_in_ms: Some(0) };
    let finish = |verdict, output| Finish { verdict, error: Some("why".to_owned()), output };
    let Ok(Finished::Recorded(retried)) =
        run.clone().finish(3, minute(10), finish(failed, None), MAX_ATTEMPTS)
    else {
        panic!()
    };
    assert_eq!(retried.output, output("1"));
    assert_eq!(retried.attempt.as_ref().unwrap().error, output("why"));
    let next = retried.hand_out("worker", 4, minute(11), LEASE_MS).unwrap();
    assert_eq!((next.run.output, next.run.attempt.unwrap().error), (None, None));
    assert_eq!(next.past.unwrap().error, output("why"));
    let Ok(Finished::Recorded(succeeded)) =
        run.finish(3, minute(10), finish(Verdict::Succeeded, output("2")), MAX_ATTEMPTS)
    else {
        panic!()
    };
    assert_eq!((succeeded.state, succeeded.output), (RunState::Succeeded, output("2")));
}

#[test]
fn the_range_of_instants_ends_a_lease_and_a_delay() {
    let new = pending("alpha", 5, "", 6);
    let error = new.clone().hand_out("w", 1, Instant::MAX, 1).unwrap_err();
    assert_eq!(error.to_string(), "a lease of `1` ms ends outside the range of instants");
    let run = new.hand_out("w", 1, Instant::MAX, 0).unwrap().run;
    let error = run.clone().heartbeat(1, minute(0), i64::MAX, None).unwrap_err();
    assert!(matches!(error, LifecycleError::Range { length_ms: i64::MAX, .. }), "{error}");
    let verdict = Verdict::Failed { retry_in_ms: Some(1) };
    let finish = Finish { verdict, error: None, output: None };
    let error = run.finish(1, Instant::MAX, finish, 3).unwrap_err();
    assert_eq!(error.to_string(), "a retry delay of `1` ms ends outside the range of instants");
}
