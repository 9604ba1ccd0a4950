//! Files that are no store, and stores that cannot be used: a clear error, and nothing changed.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;
use windowpane::store::record::OpenState;
use windowpane::store::sqlite::{Durability, Missing, Options, SqliteStore};
use windowpane::store::{Store, StoreError};

use super::sample::{minute, read, succeeded, with_history, with_workflows, write};

struct Folder {
    folder: TempDir,
}

impl Folder {
    fn new() -> Folder {
        Folder { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file with these bytes.
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A database of SQLite, made by these statements.
    fn database(&self, name: &str, sql: &str) -> PathBuf {
        let path = self.path(name);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    }

    /// A store with a workflow and a run, closed again.
    fn store(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let mut store = SqliteStore::open(&path).unwrap();
        with_workflows(&mut store);
        write(&mut store, |t| t.insert_runs(&[succeeded("alpha", 5, 1)])).unwrap();
        path
    }
}

/// Both ways of opening must fail with a text that holds `expected`, and leave the file as it was.
#[track_caller]
fn check_refused(path: &Path, expected: &str) {
    let before = std::fs::read(path).ok();
    for missing in [Missing::Create, Missing::Refuse] {
        let options = Options { missing, busy_timeout_ms: 0, ..Options::default() };
        let error = SqliteStore::open_with(path, &options).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.to_string().contains(&*path.to_string_lossy()), "it names the file: {error}");
    }
    assert!(std::fs::read(path).ok() == before, "the file was changed");
}

#[test]
fn files_of_another_kind_are_refused() {
    let folder = Folder::new();
    check_refused(&folder.file("text", &b"not a database, but text. ".repeat(100)), "no SQLite");
    check_refused(&folder.file("short", b"short text"), "no SQLite");
    check_refused(&folder.file("garbage", &[0xA5; 8192]), "no SQLite");
    let foreign = folder.database("foreign", "CREATE TABLE t (x); PRAGMA user_version = 1;");
    check_refused(&foreign, "another program's database");
    let foreign = folder.database("versioned", "PRAGMA user_version = 7;");
    check_refused(&foreign, "another program's database");
    let foreign = folder.database("marked", "PRAGMA application_id = 7; CREATE TABLE t (x);");
    check_refused(&foreign, "its application id is `0x7`");
    let emptied = folder.database("emptied", "PRAGMA application_id = 0x50616e65;");
    check_refused(&emptied, "its tables are missing");
}

#[test]
fn a_newer_store_is_refused() {
    let folder = Folder::new();
    let path = folder.store("store.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 1000).unwrap();
    check_refused(&path, "has store format 1000");
}

#[test]
fn paths_that_cannot_hold_a_store_are_refused() {
    let folder = Folder::new();
    check_refused(folder.folder.path(), "it is a folder");
    let options = Options { missing: Missing::Create, ..Options::default() };
    let check = |path: &Path, expected: &str| {
        let error = SqliteStore::open_with(path, &options).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(&folder.path("no/such/store.db"), "its folder does not exist");
    let file = folder.file("file", b"");
    check(&file.join("store.db"), "its folder does not exist");
    check(Path::new(""), "a store needs a file name");
    check(Path::new("/proc/store.db"), "cannot be opened");
}

#[test]
fn a_missing_store_is_made_only_to_be_written() {
    let folder = Folder::new();
    let path = folder.path("store.db");
    let error = SqliteStore::open_existing(&path).unwrap_err();
    assert!(matches!(error, StoreError::NoStore { .. }), "{error}");
    assert!(!path.exists());
    drop(SqliteStore::open(&path).unwrap());
    drop(SqliteStore::open_existing(&path).unwrap());
}

#[test]
fn an_empty_file_becomes_a_store_only_to_be_written() {
    let folder = Folder::new();
    let path = folder.file("store.db", b"");
    let error = SqliteStore::open_existing(&path).unwrap_err();
    assert!(error.to_string().contains("it is empty"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"");
    drop(SqliteStore::open(&path).unwrap());
}

#[test]
fn names_that_mean_more_to_sqlite_are_files() {
    let folder = Folder::new();
    let path = folder.path("file:a?mode=memory");
    drop(SqliteStore::open(&path).unwrap());
    assert!(path.is_file());
}

#[test]
fn a_store_is_opened_again() {
    let folder = Folder::new();
    let path = folder.store("store.db");
    for durability in [Durability::Full, Durability::Process] {
        let options = Options { durability, ..Options::default() };
        let mut store = SqliteStore::open_with(&path, &options).unwrap();
        let run = succeeded("alpha", 5, 1);
        assert_eq!(read(&mut store, |t| t.run(&run.key)), Some(run));
    }
}

#[test]
fn a_file_locked_by_another_program_is_busy() {
    let folder = Folder::new();
    let path = folder.store("store.db");
    let other = Connection::open(&path).unwrap();
    other.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    other.execute_batch("BEGIN IMMEDIATE; UPDATE worker SET name = name; COMMIT;").unwrap();
    let options = Options { busy_timeout_ms: 0, ..Options::default() };
    let error = SqliteStore::open_with(&path, &options).unwrap_err();
    assert!(matches!(error, StoreError::Busy), "{error}");
    drop(other);
    drop(SqliteStore::open_with(&path, &options).unwrap());
}

#[test]
fn a_damaged_row_is_reported_with_its_name() {
    let folder = Folder::new();
    let path = folder.store("store.db");
    let run = succeeded("alpha", 5, 1);
    let check = |damage: &str, expected: &str| {
        Connection::open(&path).unwrap().execute_batch(damage).unwrap();
        let mut store = SqliteStore::open(&path).unwrap();
        let error = store.begin_read().unwrap().run(&run.key).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { table: "run", .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(
        "UPDATE run SET phase_ms = phase_ms + 1;",
        "`alpha@2026-01-01T12:05:00Z` does not match its checksum",
    );
    check("UPDATE run SET phase_ms = 9223372036854775807;", "outside");
    check("UPDATE run SET phase_ms = 130000; UPDATE worker SET name = 'other';", "checksum");
    check("DELETE FROM tzdb; DELETE FROM worker;", "the column `version` is null");
}

#[test]
fn a_place_that_is_not_its_owner_s_is_reported() {
    let folder = Folder::new();
    let path = folder.path("store.db");
    with_history(&mut SqliteStore::open(&path).unwrap());
    let sql =
        "UPDATE queue SET turn_ms = 0 WHERE ref = 'alpha'; UPDATE open_run SET available_ms = 0;";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let mut store = SqliteStore::open(&path).unwrap();
    let mut reader = store.begin_read().unwrap();
    let error = reader.due_workflows(None, minute(99), minute(99), 9).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { table: "queue", .. }), "{error}");
    let error = reader.open_runs(OpenState::Pending, minute(99), None, 9).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { table: "open_run", .. }), "{error}");
}
