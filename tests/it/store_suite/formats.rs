//! Stores of older formats are brought to the present one.

use rusqlite::Connection;
use windowpane::store::record::WorkflowId;
use windowpane::store::sqlite::SqliteStore;

use super::sample::{new_workflow, read, workflow, write};

/// A store of format 1, which had no views.
#[test]
fn format_1_gets_views() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../../../schemas/sqlite/0001_records.sql")).unwrap();
    old.execute_batch("PRAGMA application_id = 0x50616e65; PRAGMA user_version = 1;").unwrap();
    drop(old);

    let mut store = SqliteStore::open_existing(&path).unwrap();
    let ids = write(&mut store, |t| t.insert_workflows(&[new_workflow("a", None)])).unwrap();
    assert_eq!(ids, [WorkflowId(1)]);
    assert_eq!(read(&mut store, |t| t.workflow("a")), Some(workflow(1, "a", None)));
    let views = "SELECT count(*) FROM sqlite_schema WHERE type = 'view'";
    let views: i64 =
        Connection::open(&path).unwrap().query_row(views, [], |row| row.get(0)).unwrap();
    assert_eq!(views, 4);
}
