//! Several connections on one store: who sees what, and who waits.

use std::path::Path;

use windowpane::store::model::ModelStore;
use windowpane::store::sqlite::{Options, SqliteStore};
use windowpane::store::{Store, StoreError};

use super::sample::{minute, new_workflow, read, succeeded, with_workflows, write};

fn open_without_waiting(path: &Path) -> SqliteStore {
    SqliteStore::open_with(path, &Options { busy_timeout_ms: 0, ..Options::default() }).unwrap()
}

/// A reader keeps the snapshot of its beginning; a second writer is refused while one is at work.
fn check_sharing(one: &mut dyn Store, other: &mut dyn Store) {
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
