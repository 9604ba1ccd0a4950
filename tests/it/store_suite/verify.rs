//! The check of a whole store finds what is wrong and names it; a backup is a whole store.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use windowpane::store::sqlite::{Missing, Options, SqliteStore};
use windowpane::store::{Store, StoreError};

use super::sample::{everything, minute, new_workflow, read, with_history, write};

fn sound_store() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    with_history(&mut SqliteStore::open(&path).unwrap());
    (folder, path)
}

fn findings(path: &Path) -> Vec<String> {
    let found = SqliteStore::open(path).unwrap().verify().unwrap();
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_sound_store_has_no_findings() {
    let (_folder, path) = sound_store();
    assert_eq!(findings(&path), [""; 0]);
    let (_folder, path) = (tempfile::tempdir().unwrap(), _folder.path().join("new.db"));
    assert_eq!(findings(&path), [""; 0], "a new store");
}

/// Each statement breaks one thing; the findings must hold the text beside it.
#[test]
fn every_break_is_named() {
    let breaks = [
        (
            "UPDATE run SET phase_ms = 7 WHERE state = 4",
            "run: `Zeta@2026-01-01T12:15:00Z` does not match its checksum",
        ),
        (
            "UPDATE run SET output = NULL WHERE output IS NOT NULL",
            "run: `delta@2026-01-01T12:10:00Z` does not match",
        ),
        (
            "UPDATE skip SET count = 8 WHERE first_ms = last_ms",
            "skip: `2026-01-01T12:00:00Z to 2026-01-01T12:00:00Z of alpha` does not match",
        ),
        (
            "UPDATE progress SET cursor_ms = cursor_ms + 1 WHERE workflow_id = 3",
            "workflow: `Zeta` does not match",
        ),
        (
            "UPDATE revision SET schedule = '{}' WHERE number = 2",
            "revision: `revision 2 of workflow 2` does not match",
        ),
        ("UPDATE workflow SET max_attempts = 9 WHERE id = 1", "workflow: `delta` does not match"),
        (
            "UPDATE attempt SET error = 'x' WHERE token = 6",
            "attempt: `2026-01-01T12:10:00Z of workflow 1, token 6` does not match",
        ),
        ("UPDATE store_info SET last_planned_ms = 0", "store_info: `store_info` does not match"),
        (
            "UPDATE worker SET name = 'other' WHERE name = 'worker-1'",
            "run: `alpha@2026-01-01T12:00:00Z` does not match",
        ),
        (
            "UPDATE tzdb SET version = '2025b'",
            "revision: `revision 1 of workflow 1` does not match",
        ),
        ("DELETE FROM store_info", "store_info: `store` is missing"),
        ("DELETE FROM progress WHERE workflow_id = 3", "workflow: `Zeta` has no progress"),
        ("DELETE FROM revision WHERE workflow_id = 3", "workflow: `Zeta` has no revision"),
        (
            "DELETE FROM revision WHERE workflow_id = 2 AND number = 1",
            "revision: `alpha` has revisions that do not count from 1",
        ),
        (
            "DELETE FROM revision WHERE workflow_id = 3",
            "run: `Zeta@2026-01-01T12:00:00Z` has a revision that is not there",
        ),
        (
            "DELETE FROM revision WHERE workflow_id = 3",
            "skip: `Zeta@2026-01-01T11:10:00Z` is skipped under a revision that is not there",
        ),
        (
            "UPDATE revision SET after_ms = after_ms - 1; INSERT INTO revision SELECT 2, 3, 0, schedule, made_ms, tzdb_id, checksum FROM revision WHERE number = 2",
            "revision: `alpha revision 3` begins before",
        ),
        ("DELETE FROM queue WHERE ref = 'alpha'", "queue: `alpha` has a turn and no place"),
        (
            "UPDATE queue SET due_ms = due_ms - 1 WHERE ref = 'alpha'",
            "queue: `alpha` has a place in the queue that is not its turn",
        ),
        (
            "INSERT INTO queue VALUES (0, 'Zeta', 0, 3)",
            "queue: `Zeta` has a place in the queue that is not its turn",
        ),
        (
            "DELETE FROM open_run WHERE state = 1",
            "open_run: `alpha@2026-01-01T12:20:00Z` is open and has no place",
        ),
        (
            "UPDATE open_run SET available_ms = 0 WHERE state = 0",
            "open_run: `alpha@2026-01-01T12:05:00Z` has a place among the open runs that is not its own",
        ),
        (
            "UPDATE progress SET last_token = 11 WHERE workflow_id = 2",
            "run: `alpha@2026-01-01T12:20:00Z` has a token that was not handed out",
        ),
        (
            "UPDATE attempt SET token = 12 WHERE token = 3",
            "attempt: `alpha@2026-01-01T12:20:00Z` has an attempt that is not before its last one",
        ),
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM workflow WHERE id = 3",
            "file: a row of `run` belongs to a row of `workflow` that is gone",
        ),
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM worker",
            "run: only a part of its attempt is there, in the row that begins with",
        ),
        ("DROP INDEX queue_by_due", "file: its tables, indexes or views are not as they were made"),
        (
            "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM skip; END",
            "file: its tables, indexes or views are not as they were made",
        ),
        (
            "PRAGMA ignore_check_constraints = ON; UPDATE workflow SET max_attempts = 0",
            "file: CHECK constraint failed in workflow",
        ),
    ];
    for (sql, expected) in breaks {
        let (_folder, path) = sound_store();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
        drop(connection);
        let found = findings(&path);
        assert!(found.iter().any(|finding| finding.contains(expected)), "{sql}: {found:#?}");
    }
}

#[test]
fn an_analyzed_store_is_sound() {
    let (_folder, path) = sound_store();
    Connection::open(&path).unwrap().execute_batch("ANALYZE").unwrap();
    assert_eq!(findings(&path), [""; 0]);
}

#[test]
fn findings_are_bounded() {
    let (_folder, path) = sound_store();
    let many: Vec<_> = (0..1_500).map(|n| new_workflow(&format!("w{n}"), None)).collect();
    write(&mut SqliteStore::open(&path).unwrap(), |t| t.insert_workflows(&many)).unwrap();
    assert_eq!(findings(&path).len(), 1_000);
}

#[test]
fn a_backup_is_a_whole_store() {
    let (folder, path) = sound_store();
    let target = folder.path().join("backup.db");
    let mut store = SqliteStore::open(&path).unwrap();
    let mut other = SqliteStore::open(&path).unwrap();
    let mut writer = other.begin_write().unwrap();
    writer.insert_workflows(&[new_workflow("not committed", None)]).unwrap();
    store.backup(&target).unwrap();
    writer.commit().unwrap();

    let mut copy = SqliteStore::open_existing(&target).unwrap();
    assert!(copy.verify().unwrap().is_empty());
    assert_eq!(read(&mut copy, |t| t.workflow("not committed")), None);
    write(&mut copy, |t| t.insert_workflows(&[new_workflow("not committed", None)])).unwrap();
    assert_eq!(everything(&mut copy).unwrap(), everything(&mut store).unwrap());
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("partial"))
        .collect();
    assert_eq!(names, [""; 0]);
}

#[test]
fn a_backup_replaces_nothing() {
    let (folder, path) = sound_store();
    let mut store = SqliteStore::open(&path).unwrap();
    let mut check = |target: &Path, expected: &str| {
        let before = std::fs::read(target).ok();
        let error = store.backup(target).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(std::fs::read(target).ok(), before);
    };
    let target = folder.path().join("backup.db");
    std::fs::write(&target, "precious").unwrap();
    check(&target, "it exists already");
    check(&path, "it exists already");
    check(folder.path(), "it exists already");
    check(&folder.path().join("no/backup.db"), "No such file");
    std::fs::write(folder.path().join("cut.db.partial"), "").unwrap();
    check(&folder.path().join("cut.db"), "cut.db.partial");
    assert_eq!(read(&mut store, |t| t.info()).unwrap().last_planned, Some(minute(60)));
}

#[test]
fn a_copy_of_a_damaged_store_is_refused() {
    let (folder, path) = sound_store();
    let mut bytes = std::fs::read(&path).unwrap();
    // The second page is the root of the first table.
    bytes[4096..8192].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let options = Options { missing: Missing::Refuse, ..Options::default() };
    let mut store = SqliteStore::open_with(&path, &options).unwrap();
    let target = folder.path().join("backup.db");
    let error = store.backup(&target).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(!target.exists());
    assert!(!store.verify().unwrap().is_empty());
}
