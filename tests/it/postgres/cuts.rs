//! The connection is cut between any two messages: what is answered is what is on record.

use windowpane::clock::{Clock, FixedClock, wait_for};
use windowpane::engine::{
    self, Absent, ClaimRequest, Claimed, EngineError, Mode, SyncOptions, finish,
};
use windowpane::schedule::Reference;
use windowpane::store::Store;
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::postgres::{Options, PostgresStore};
use windowpane::store::record::{RunFilter, RunRecord, RunState};
use windowpane::time::Instant;

use super::proxy::{Cut, Proxy};
use super::{Scratch, scratch};

const WORKFLOWS: usize = 3;

/// No command sends more messages than this.
const MESSAGES_AT_MOST: usize = 200;

/// So many hours after the workflows were registered.
fn hour(hours: usize) -> Instant {
    let begin: Instant = "2026-01-01T00:30:00Z".parse().unwrap();
    begin.checked_add_ms(hours as i64 * 3_600_000).unwrap()
}

/// A store with workflows that owe one run each in every hour.
pub(super) fn hourly(scratch: &Scratch) -> PostgresStore {
    let mut store = scratch.open();
    let schedule = r#"{"every": "1h", "phase": {"fixed": "0s"}, "first_run": "next"}"#;
    register(&mut store, &FixedClock(hour(0)), schedule, WORKFLOWS);
    store
}

/// Registers so many workflows with one schedule: w0, w1 and so on.
pub(super) fn register(store: &mut dyn Store, clock: &dyn Clock, schedule: &str, count: usize) {
    let documents: Vec<_> = (0..count)
        .map(|number| {
            (Reference::new(&format!("w{number}")).unwrap(), Some(crate::schedule(schedule)))
        })
        .collect();
    let options = SyncOptions { source: "default", mode: Mode::Write, absent: Absent::Keep };
    engine::sync(store, clock, &documents, &options).unwrap();
}

fn claim(store: &mut dyn Store, now: Instant) -> Result<Claimed, EngineError> {
    let request = ClaimRequest {
        worker: "w",
        limit: 9,
        lease_ms: 86_400_000,
        matches: &|_| true,
        trigger: None,
    };
    engine::claim(store, &FixedClock(now), &request)
}

/// The runs of an hour as they are on record.
fn on_record(store: &mut dyn Store, hours: usize) -> Vec<RunRecord> {
    let filter =
        RunFilter { from: Some(hour(hours - 1)), to: Some(hour(hours)), ..RunFilter::default() };
    store.begin_read().unwrap().runs(&filter).unwrap()
}

fn through(proxy: &Proxy, scratch: &Scratch) -> PostgresStore {
    let options = Options { wait: Some(wait_for), ..Options::default() };
    PostgresStore::open_with(&scratch.url_by(&proxy.address()), &options).unwrap()
}

/// Cuts `work` at each of its messages in turn, each time in another hour, and looks at what it
/// answers beside what is on record.
fn sweep<T>(
    prepare: impl Fn(&mut dyn Store, usize) -> T,
    work: impl Fn(&mut dyn Store, usize, &T) -> Result<(), EngineError>,
    check: impl Fn(&mut dyn Store, usize, bool, &T),
) {
    let Some(scratch) = scratch() else { return };
    let mut direct = hourly(&scratch);
    let proxy = Proxy::to(&scratch.address());
    let mut hours = 0;
    for kind in [Cut::Before, Cut::After] {
        for messages in 0.. {
            assert!(messages < MESSAGES_AT_MOST, "the cut never misses");
            hours += 1;
            let given = prepare(&mut direct, hours);
            let mut store = through(&proxy, &scratch);
            proxy.cut_after(messages, kind);
            let answer = work(&mut store, hours, &given);
            if let Err(error) = &answer {
                assert_eq!(error.code(), "store_unreachable", "{kind:?} {messages}: {error}");
            }
            check(&mut direct, hours, answer.is_ok(), &given);
            if proxy.disarm() {
                assert!(messages > 3, "it sends more than {messages} messages");
                break;
            }
        }
    }
    assert_eq!(direct.verify().unwrap(), []);
}

#[test]
fn a_claim_that_is_cut_was_carried_out_or_it_was_not_and_says_which() {
    sweep(
        |_, _| (),
        |store, hours, ()| {
            claim(store, hour(hours)).map(|claimed| {
                let ids: Vec<_> = claimed.runs.iter().map(|run| run.id().to_string()).collect();
                assert_eq!(ids.len(), WORKFLOWS, "in hour {hours}: {ids:?}");
            })
        },
        |store, hours, is_done, ()| {
            let before = on_record(store, hours).len();
            assert_eq!(
                before,
                if is_done { WORKFLOWS } else { 0 },
                "in hour {hours}, which was {}",
                if is_done { "done" } else { "not done" }
            );
            // What the server has not given up yet is passed over at first.
            while on_record(store, hours).len() < WORKFLOWS {
                claim(store, hour(hours)).unwrap();
            }
            for run in on_record(store, hours) {
                assert_eq!((run.state, run.attempts), (RunState::Claimed, 1), "{}", run.id());
                let done = Finish { verdict: Verdict::Succeeded, error: None, output: None };
                let token = run.attempt.as_ref().unwrap().token;
                finish(store, &FixedClock(hour(hours)), &run.id(), token, &done).unwrap();
            }
        },
    );
}

#[test]
fn a_finish_that_is_cut_was_carried_out_or_it_was_not_and_says_which() {
    let done = Finish { verdict: Verdict::Succeeded, error: None, output: Some("{}".to_owned()) };
    sweep(
        |store, hours| claim(store, hour(hours)).unwrap().runs.remove(0),
        |store, hours, run| {
            let token = run.attempt.as_ref().unwrap().token;
            finish(store, &FixedClock(hour(hours)), &run.id(), token, &done).map(drop)
        },
        |store, hours, is_done, run| {
            let state = if is_done { RunState::Succeeded } else { RunState::Claimed };
            let recorded = store.begin_read().unwrap().run(&run.key).unwrap().unwrap();
            assert_eq!(recorded.state, state, "in hour {hours}");
            let token = run.attempt.as_ref().unwrap().token;
            finish(store, &FixedClock(hour(hours)), &run.id(), token, &done).unwrap();
        },
    );
}

#[test]
fn a_connection_that_was_lost_while_it_lay_idle_is_not_missed() {
    let Some(scratch) = scratch() else { return };
    hourly(&scratch);
    let proxy = Proxy::to(&scratch.address());
    let mut store = through(&proxy, &scratch);
    assert_eq!(claim(&mut store, hour(1)).unwrap().runs.len(), WORKFLOWS);
    proxy.take_down();
    proxy.mend();
    assert_eq!(claim(&mut store, hour(2)).unwrap().runs.len(), WORKFLOWS);
}

#[test]
fn an_outcome_that_cannot_be_asked_for_is_told_as_unknown() {
    let Some(scratch) = scratch() else { return };
    let mut direct = hourly(&scratch);
    let proxy = Proxy::to(&scratch.address());
    // Without anything that waits, the server is asked once.
    let mut store = PostgresStore::open(&scratch.url_by(&proxy.address())).unwrap();
    let mut transaction = store.begin_write().unwrap();
    let info = transaction.info().unwrap().unwrap();
    transaction.set_info(&info).unwrap();
    proxy.cut_at("COMMIT", Cut::ForGood);
    let unknown = transaction.commit().unwrap_err();
    assert_eq!(unknown.code(), "unknown_outcome", "{unknown}");
    assert!(unknown.is_retryable() && unknown.hint().is_some());
    assert!(claim(&mut direct, hour(1)).is_ok());
}
