//! The format of the file: whose it is, which format it has, and how it gets to the present one.

use rusqlite::{Connection, TransactionBehavior};

use crate::store::StoreError;

use super::fault::Fault;

/// Marks the file as ours: `Pane` in ASCII.
const APPLICATION_ID: i64 = 0x5061_6e65;

/// Each brings the store from the format of its index to the next one.
const MIGRATIONS: &[&str] = &[
    include_str!("../../../schemas/sqlite/0001_records.sql"),
    include_str!("../../../schemas/sqlite/0002_views.sql"),
];

/// The newest format that this program knows.
const NEWEST: i64 = MIGRATIONS.len() as i64;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Nothing yet.
    Empty,
    /// A store of this format, at least 1.
    Version(i64),
}

/// Finds out what the file holds, and changes nothing.
pub(super) fn inspect(connection: &Connection, name: &str) -> Result<Format, StoreError> {
    // One snapshot: another process may be making the store right now.
    let snapshot = connection.unchecked_transaction();
    let snapshot = snapshot.map_err(|error| Fault::of_file(name, error))?;
    format_of(&snapshot, name)
}

/// What the file holds, as seen in the transaction that is open.
fn format_of(connection: &Connection, name: &str) -> Result<Format, StoreError> {
    let number = |sql: &str| -> Result<i64, StoreError> {
        let found = connection.query_row(sql, [], |row| row.get(0));
        found.map_err(|error| Fault::of_file(name, error))
    };
    let foreign = |problem: String| StoreError::Foreign { path: name.to_owned(), problem };
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    let application_id = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    match (application_id, version, tables) {
        (0, 0, 0) => Ok(Format::Empty),
        (0, ..) => Err(foreign("it is another program's database".to_owned())),
        (APPLICATION_ID, newer, _) if newer > NEWEST => {
            Err(StoreError::Newer { path: name.to_owned(), found: newer, known: NEWEST })
        }
        (APPLICATION_ID, 1.., 1..) => Ok(Format::Version(version)),
        (APPLICATION_ID, ..) => Err(foreign("its tables are missing".to_owned())),
        (other, ..) => Err(foreign(format!("its application id is `{other:#x}`"))),
    }
}

/// Brings the file to the newest format, in one transaction.
pub(super) fn migrate(connection: &Connection, name: &str) -> Result<(), StoreError> {
    if inspect(connection, name)? == Format::Version(NEWEST) {
        return Ok(());
    }
    let fault = |error| Fault::of_file(name, error);
    let behavior = TransactionBehavior::Immediate;
    let transaction = rusqlite::Transaction::new_unchecked(connection, behavior).map_err(fault)?;
    // Another process may have been faster.
    let done = match format_of(&transaction, name)? {
        Format::Empty => 0,
        Format::Version(version) => version,
    };
    for migration in MIGRATIONS.iter().skip(done as usize) {
        transaction.execute_batch(migration).map_err(fault)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(fault)?;
    transaction.pragma_update(None, "user_version", NEWEST).map_err(fault)?;
    transaction.commit().map_err(fault)
}

/// The lines of a query on the schema of a store of the newest format.
pub(super) fn newest_schema(sql: &str) -> rusqlite::Result<Vec<String>> {
    let connection = Connection::open_in_memory()?;
    for migration in MIGRATIONS {
        connection.execute_batch(migration)?;
    }
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}
