//! Several connections on one PostgreSQL store: who goes on beside whom, and who waits.

use windowpane::store::record::OpenState;
use windowpane::store::{Store, StoreError};
use windowpane::time::Instant;

use crate::postgres::scratch;

use super::sample::{due_key, minute, new_workflow, pending, read, with_workflows, write};
use super::sharing::check_sharing;

#[test]
fn connections_share_one_schema() {
    let Some(scratch) = scratch() else { return };
    check_sharing(&mut scratch.open_without_waiting(), &mut scratch.open_without_waiting());
}

fn with_turns(store: &mut dyn Store) {
    let new = ["a", "b", "c"].map(|name| new_workflow(name, Some(due_key(1, 1))));
    write(store, |t| t.insert_workflows(&new)).unwrap();
}

/// The names of at most so many due workflows that a transaction can take.
fn take(transaction: &mut dyn windowpane::store::Transaction, limit: usize) -> Vec<String> {
    let due = transaction.take_due_workflows(None, minute(9), minute(9), limit).unwrap();
    due.into_iter().map(|workflow| workflow.reference).collect()
}

#[test]
fn two_claims_take_different_workflows_and_neither_waits() {
    let Some(scratch) = scratch() else { return };
    let (mut one, mut other) = (scratch.open_without_waiting(), scratch.open_without_waiting());
    with_turns(&mut one);
    let mut first = one.begin_beside().unwrap();
    assert_eq!(take(&mut *first, 2), ["a", "b"]);
    assert!(!first.is_alone() && !first.has_passed_over());
    let mut second = other.begin_beside().unwrap();
    assert_eq!(take(&mut *second, 2), ["c"]);
    assert!(second.has_passed_over(), "it does not know what becomes of the others");
    drop(first);
    assert_eq!(take(&mut *second, 9), ["a", "b", "c"]);
}

#[test]
fn who_writes_alone_waits_for_claims_and_claims_for_them() {
    let Some(scratch) = scratch() else { return };
    let (mut one, mut other) = (scratch.open_without_waiting(), scratch.open_without_waiting());
    with_turns(&mut one);
    let claim = one.begin_beside().unwrap();
    assert!(matches!(other.begin_write().err(), Some(StoreError::Busy)));
    drop(claim);
    let sync = other.begin_write().unwrap();
    assert!(matches!(one.begin_beside().err(), Some(StoreError::Busy)));
    drop(sync);
    assert!(one.begin_beside().is_ok());
}

/// A row that was read before it was locked would be handed out a second time.
#[test]
fn what_another_has_changed_meanwhile_is_seen_as_it_is() {
    let Some(scratch) = scratch() else { return };
    let (mut one, mut other) = (scratch.open(), scratch.open());
    with_workflows(&mut one);
    write(&mut one, |t| t.insert_runs(&[pending("alpha", 5, "again", 6)])).unwrap();
    let mut second = other.begin_beside().unwrap();
    let mut first = one.begin_beside().unwrap();
    let mut open = first.take_open_runs(OpenState::Pending, Instant::MAX, None, 9).unwrap();
    let handed = open.remove(0).hand_out("w", 1, minute(7), 300_000).unwrap().run;
    first.update_runs(std::slice::from_ref(&handed)).unwrap();
    assert_eq!(second.take_open_runs(OpenState::Pending, Instant::MAX, None, 9).unwrap(), []);
    first.commit().unwrap();
    assert_eq!(second.take_open_runs(OpenState::Pending, Instant::MAX, None, 9).unwrap(), []);
    assert_eq!(second.run(&handed.key).unwrap(), Some(handed));
}

#[test]
fn claims_note_how_far_they_planned_without_waiting_for_each_other() {
    let Some(scratch) = scratch() else { return };
    let (mut one, mut other) = (scratch.open_without_waiting(), scratch.open_without_waiting());
    let info = windowpane::store::record::StoreInfo {
        clock: windowpane::store::record::ClockKind::Test,
        tzdb: "2026f".to_owned(),
        definition_writes: 1,
        last_planned: Some(minute(1)),
        set_ahead: None,
    };
    let at = |minutes| windowpane::store::record::StoreInfo {
        last_planned: Some(minute(minutes)),
        ..info.clone()
    };
    write(&mut one, |t| t.set_info(&info)).unwrap();
    let mut first = one.begin_beside().unwrap();
    let mut second = other.begin_beside().unwrap();
    first.set_info(&at(3)).unwrap();
    second.set_info(&at(2)).unwrap();
    first.commit().unwrap();
    second.commit().unwrap();
    assert_eq!(read(&mut one, |t| t.info()), Some(at(3)), "the latest counts");
    write(&mut one, |t| t.set_info(&info)).unwrap();
    assert_eq!(read(&mut other, |t| t.info()), Some(info), "who writes alone has the last word");
}

/// Every thread opens the store, which no one has made yet, and adds what the others add too.
#[test]
fn many_openers_make_one_store() {
    let Some(scratch) = scratch() else { return };
    let added = std::thread::scope(|scope| {
        let open = || {
            let mut store = scratch.open();
            let mut transaction = store.begin_write().unwrap();
            if transaction.workflow("a").unwrap().is_some() {
                return 0;
            }
            transaction.insert_workflows(&[new_workflow("a", None)]).unwrap();
            transaction.commit().unwrap();
            1
        };
        let threads: Vec<_> = (0..10).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>()
    });
    assert_eq!(added, 1);
}
