//! Files that were cut short.

use windowpane::store::StoreError;
use windowpane::store::sqlite::SqliteStore;

use crate::store_suite::sample::{everything, with_history};

use super::examine;

/// A cut at any sector is found before anything is taken for the truth.
#[test]
fn a_cut_is_found_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    with_history(&mut SqliteStore::open(&path).unwrap());
    let whole = std::fs::read(&path).unwrap();
    let expected = everything(&mut SqliteStore::open(&path).unwrap()).unwrap();
    for length in (0..whole.len()).step_by(512).chain([1, 15, 16, 99, 100, 511, whole.len() - 1]) {
        std::fs::write(&path, &whole[..length]).unwrap();
        let (read, findings) = examine(&path);
        let same = read.as_ref().is_ok_and(|read| *read == expected);
        assert!(same || !findings.is_empty(), "cut to {length} bytes: {read:?}");
        assert!(!findings.is_empty(), "cut to {length} bytes, and nothing is found");
    }
}

/// Nothing is left of an empty file, not even that it was a store; only a command that makes
/// stores takes it for a new one.
#[test]
fn an_empty_file_is_no_store_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    std::fs::write(&path, "").unwrap();
    let error = SqliteStore::open_existing(&path).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
}
