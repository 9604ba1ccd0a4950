//! A store that was last written under another tz database.

use windowpane::store::Store;
use windowpane::store::record::StoreInfo;
use windowpane::store::sqlite::SqliteStore;

use super::{output, shell};

#[test]
fn another_tz_database_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    output(folder.path(), "windowpane sync $EXAMPLES --db s.db --now 2026-01-01");
    let mut store = SqliteStore::open(&folder.path().join("s.db")).unwrap();
    let mut transaction = store.begin_write().unwrap();
    let info = transaction.info().unwrap().unwrap();
    transaction.set_info(&StoreInfo { tzdb: "2025b".to_owned(), ..info }).unwrap();
    transaction.commit().unwrap();
    let stderr = |line: &str| {
        let output = shell(folder.path(), line).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let version = windowpane::time::tzdb_version();
    assert_eq!(
        stderr("windowpane list --db s.db --now 2026-01-01"),
        format!(
            "warning: this store was last written under tz database 2025b, and this program has \
             {version}\nhint: instants of local times may differ between the two\n"
        )
    );
    let json = stderr("windowpane list --db s.db --now 2026-01-01 --format json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["code"], &json["severity"]), (&"other_tzdb".into(), &"warning".into()));
}
