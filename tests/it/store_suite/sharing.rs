//! Several connections on one store: who sees what, and who waits.

use std::path::Path;
use std::time::Duration;

use windowpane::store::model::ModelStore;
use windowpane::store::sqlite::{Options, SqliteStore};
use windowpane::store::{Store, StoreError};

use super::sample::{minute, new_workflow, read, succeeded, with_workflows, write};

fn open_without_waiting(path: &Path) -> SqliteStore {
    SqliteStore::open_with(path, &Options { busy_timeout_ms: 0, ..Options::default() }).unwrap()
}

/// A reader keeps the snapshot of its beginning; a second writer is refused while one is at work.
pub(super) fn check_sharing(one: &mut dyn Store, other: &mut dyn Store) {
    with_workflows(one);
    let mut snapshot = other.begin_read().unwrap();
    write(one, |t| t.insert_workflows(&[new_workflow("new", None)])).unwrap();
    assert_eq!(snapshot.workflow("new").unwrap(), None, "a snapshot does not move");
    drop(snapshot);
    assert!(read(other, |t| t.workflow("new")).is_some());

    let mut writer = one.begin_write().unwrap();
    writer.insert_runs(&[succeeded("alpha", 5, 1)]).unwrap();
    let error = other.begin_write().err().unwrap();
    assert!(matches!(error, StoreError::Busy) && error.is_retryable(), "{error}");
    let key = &succeeded("alpha", 5, 1).key;
    assert_eq!(read(other, |t| t.run(key)), None, "readers do not wait");
    writer.commit().unwrap();
    assert!(read(other, |t| t.run(key)).is_some());
    drop(other.begin_write().unwrap());
}

#[test]
fn models_share_one_state() {
    let mut one = ModelStore::new();
    check_sharing(&mut one.clone(), &mut one);
}

#[test]
fn connections_share_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    check_sharing(&mut open_without_waiting(&path), &mut open_without_waiting(&path));
}

#[test]
fn a_second_writer_waits_for_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut first = SqliteStore::open(&path).unwrap();
    let mut writer = first.begin_write().unwrap();
    writer.insert_workflows(&[new_workflow("a", None)]).unwrap();
    let second = std::thread::spawn(move || {
        let mut second = SqliteStore::open(&path).unwrap();
        let mut writer = second.begin_write().unwrap();
        assert!(writer.workflow("a").unwrap().is_some(), "it sees the commit that it waited for");
    });
    writer.commit().unwrap();
    second.join().unwrap();
}

/// A wait that lets others go on without the passing of time.
fn yielding(_: Duration) {
    std::thread::yield_now();
}

#[test]
fn writers_that_take_turns_all_get_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let options =
        Options { wait: Some(yielding), busy_timeout_ms: 3_600_000, ..Options::default() };
    drop(SqliteStore::open(&path).unwrap());
    std::thread::scope(|scope| {
        for name in ["a", "b", "c"] {
            let (path, options) = (&path, &options);
            scope.spawn(move || {
                let mut store = SqliteStore::open_with(path, options).unwrap();
                for turn in 0..20 {
                    let new = new_workflow(&format!("{name}{turn}"), None);
                    write(&mut store, |t| t.insert_workflows(&[new])).unwrap();
                }
            });
        }
    });
    let mut store = SqliteStore::open_existing(&path).unwrap();
    assert_eq!(read(&mut store, |t| t.workflows(None, 100)).len(), 60);
}

#[test]
fn a_writer_that_takes_turns_gives_up_after_its_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut first = SqliteStore::open(&path).unwrap();
    let writer = first.begin_write().unwrap();
    let options = Options { wait: Some(yielding), busy_timeout_ms: 5, ..Options::default() };
    let mut second = SqliteStore::open_with(&path, &options).unwrap();
    assert!(matches!(second.begin_write().err(), Some(StoreError::Busy)));
    drop(writer);
    assert!(second.begin_write().is_ok());
}

/// Every thread opens the file, which no one has made yet, and adds what the others add too.
#[test]
fn many_openers_make_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let added = std::thread::scope(|scope| {
        let open = || {
            let mut store = SqliteStore::open(&path).unwrap();
            let mut transaction = store.begin_write().unwrap();
            if transaction.workflow("a").unwrap().is_some() {
                return 0;
            }
            transaction.insert_workflows(&[new_workflow("a", None)]).unwrap();
            transaction.commit().unwrap();
            1
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>()
    });
    assert_eq!(added, 1);
    let mut store = SqliteStore::open_existing(&path).unwrap();
    assert_eq!(read(&mut store, |t| t.workflow("a")).unwrap().registered, minute(0));
}
