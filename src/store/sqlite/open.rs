//! Opening a file: refuse what is not ours before anything is changed, then set the connection up.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::store::backoff::Wait;
use crate::store::{Missing, StoreError};

use super::fault::Fault;
use super::migrate;
use super::turns::Turns;

/// How to open a store.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What to do where there is no file.
    pub missing: Missing,
    /// How long to wait for another process to finish its transaction, in milliseconds.
    pub busy_timeout_ms: u32,
    /// What a commit survives.
    pub durability: Durability,
    /// What waits while another process writes, so that all of them get their turns; without it
    /// SQLite waits, whose spans grow to 100 ms, so that others may get ahead again and again.
    pub wait: Option<Wait>,
}

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The loss of power: each commit is on the disk before it is answered.
    Full,
    /// The end of the process. A loss of power may undo the last commits, and never harms the file.
    Process,
}

impl Options {
    /// The default of [`Options::busy_timeout_ms`].
    pub const BUSY_TIMEOUT_MS: u32 = 5_000;
}

impl Default for Options {
    fn default() -> Options {
        Options {
            missing: Missing::Create,
            busy_timeout_ms: Options::BUSY_TIMEOUT_MS,
            durability: Durability::Full,
            wait: None,
        }
    }
}

/// The longest text and the longest row, in bytes.
const VALUE_LIMIT_BYTES: i32 = 64 << 20;

/// A log that grew past this while a reader kept it from being folded back shrinks again.
const LOG_LIMIT_BYTES: i64 = 64 << 20;

/// How much of the file a connection may keep in memory, in KiB. A transaction that changes more than
/// this writes pages to the log again and again.
const CACHE_LIMIT_KIB: i64 = 32 << 10;

/// More than the number of different statements, so that each is prepared once.
const STATEMENT_CACHE_ENTRIES: usize = 64;

/// Opens the file, or makes it, and brings it to the present format.
pub(super) fn open(
    path: &Path,
    options: &Options,
) -> Result<(Connection, Option<Turns>), StoreError> {
    let name = path.display().to_string();
    check_path(path, &name, options.missing)?;
    let (connection, turns) =
        connect(path, options).map_err(|error| Fault::of_file(&name, error))?;
    let found = migrate::inspect(&connection, &name)?;
    if found == migrate::Format::Empty && options.missing == Missing::Refuse {
        return Err(StoreError::Foreign { path: name, problem: "it is empty".to_owned() });
    }
    set_up(&connection, options).map_err(|error| Fault::of_file(&name, error))?;
    use_log(&connection, &name)?;
    migrate::migrate(&connection, &name)?;
    Ok((connection, turns))
}

/// Says plainly what SQLite would only call "unable to open".
fn check_path(path: &Path, name: &str, missing: Missing) -> Result<(), StoreError> {
    let unavailable = |problem: &str| {
        Err(StoreError::Unavailable { path: name.to_owned(), problem: problem.to_owned() })
    };
    if path.as_os_str().is_empty() {
        return unavailable("a store needs a file name");
    }
    if path.is_dir() {
        return unavailable("it is a folder");
    }
    if path.exists() {
        return Ok(());
    }
    if missing == Missing::Refuse {
        return Err(StoreError::NoStore { path: name.to_owned() });
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            unavailable("its folder does not exist")
        }
        _ => Ok(()),
    }
}

fn connect(path: &Path, options: &Options) -> rusqlite::Result<(Connection, Option<Turns>)> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if options.missing == Missing::Create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    // SQLite reads `:memory:` and `file:...` as more than file names.
    let mut connection = Connection::open_with_flags(Path::new(".").join(path), flags)?;
    let timeout_ms = options.busy_timeout_ms;
    connection.busy_timeout(Duration::from_millis(timeout_ms.into()))?;
    let turns =
        options.wait.map(|wait| Turns::set_up(&mut connection, wait, timeout_ms)).transpose()?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_LIMIT_BYTES)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Without this guarantee every new value of a parameter has its statement compiled anew.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok((connection, turns))
}

fn set_up(connection: &Connection, options: &Options) -> rusqlite::Result<()> {
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Process => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Negative means KiB, positive pages.
    connection.pragma_update(None, "cache_size", -CACHE_LIMIT_KIB)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT_BYTES, |_| Ok(()))?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_ENTRIES);
    Ok(())
}

/// How often to try to turn the write-ahead log on while others have the file open.
const LOG_ATTEMPTS: u32 = 100;

/// Turns on the write-ahead log, which some file systems cannot carry.
fn use_log(connection: &Connection, name: &str) -> Result<(), StoreError> {
    let mut attempts = 1;
    let mode: String = loop {
        let changed =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match changed.map_err(|error| Fault::of_file(name, error)) {
            Ok(mode) => break mode,
            // This statement alone does not wait for others, so something that does comes between.
            Err(StoreError::Busy) if attempts < LOG_ATTEMPTS => attempts += 1,
            Err(error) => return Err(error),
        }
        let waited = connection.execute_batch("BEGIN EXCLUSIVE; COMMIT");
        waited.map_err(|error| Fault::of_file(name, error))?;
    };
    if mode == "wal" {
        return Ok(());
    }
    let problem = format!("its file system cannot carry a write-ahead log (mode `{mode}`)");
    Err(StoreError::Unavailable { path: name.to_owned(), problem })
}
