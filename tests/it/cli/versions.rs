//! A store that was last written under another tz database.

use std::path::Path;

use windowpane::store::Store;
use windowpane::store::record::StoreInfo;
use windowpane::store::sqlite::SqliteStore;
use windowpane::time::tzdb_version;

use super::{output, shell};

/// A folder with a store that `tzdb` wrote last.
fn store_of(tzdb: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    output(folder.path(), "windowpane sync $EXAMPLES --db s.db --now 2026-01-01");
    let mut store = SqliteStore::open(&folder.path().join("s.db")).unwrap();
    let mut transaction = store.begin_write().unwrap();
    let info = transaction.info().unwrap().unwrap();
    transaction.set_info(&StoreInfo { tzdb: tzdb.to_owned(), ..info }).unwrap();
    transaction.commit().unwrap();
    folder
}

/// The exit status and what is said on stderr.
fn told(folder: &Path, line: &str) -> (i32, String) {
    let output = shell(folder, &format!("windowpane {line} --db s.db --now 2026-01-01")).output();
    let output = output.unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_older_tz_database_is_told_until_the_next_write() {
    let folder = store_of("2025b");
    let (status, text) = told(folder.path(), "list");
    let version = tzdb_version();
    let expected = format!(
        "note: this store follows the tz database 2025b until the next write\nhint: that write takes \
         it to {version}: what moves is skipped by local time, never run twice\n"
    );
    assert_eq!((status, text), (0, expected));
    let (_, json) = told(folder.path(), "list --format json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["code"], &json["severity"]), (&"older_store".into(), &"note".into()));
    told(folder.path(), "pause '*'");
    assert_eq!(told(folder.path(), "list"), (0, String::new()));
}

#[test]
fn a_newer_tz_database_is_an_error_unless_it_is_accepted() {
    let folder = store_of("2999z");
    for command in
        ["list", "due", "claim --worker w", "verify", "pause '*'", "prune --older-than 1d"]
    {
        let (status, text) = told(folder.path(), command);
        let error = "error: this store follows the tz database 2999z, and this program has";
        assert!(status == 2 && text.starts_with(error), "{command}: {status}, {text}");
        assert!(text.contains("--accept-older-tzdb"), "{text}");
    }
    assert_eq!(told(folder.path(), "runs").0, 0, "records are records");
    let (status, text) = told(folder.path(), "claim --worker w --accept-older-tzdb");
    let warning = "warning: this store followed the tz database 2999z, and follows";
    assert!(status == 0 && text.starts_with(warning), "{status}, {text}");
    assert_eq!(told(folder.path(), "list"), (0, String::new()), "it is recorded");
}
