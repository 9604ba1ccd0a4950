//! The SQLite store: one file, for every process of one machine.

mod attempts;
mod backup;
mod columns;
mod decisions;
mod fault;
mod info;
mod migrate;
mod names;
mod open;
mod queue;
mod revisions;
mod runs;
mod skips;
mod transaction;
mod turns;
mod verify;
mod workflows;

pub use super::Missing;
pub use super::backoff::Wait;
pub use open::{Durability, Options};

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::{Finding, Store, StoreError, Transaction};
use fault::Fault;
use transaction::{Access, SqliteTransaction};
use turns::Turns;

/// A connection to a store in one SQLite file.
///
/// Any number of processes of one machine may have the file open: one writes at a time, and
/// readers see the last commit before they began. The file must not lie on a network file system.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    turns: Option<Turns>,
    path: String,
}

impl SqliteStore {
    /// Opens the store in the file `path`, and makes one where there is no file.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] or [`StoreError::Newer`] for a file of another kind or format,
    /// [`StoreError::Busy`] when it stays locked past the timeout, [`StoreError::Unavailable`] or
    /// [`StoreError::Damaged`] otherwise. The file is left as it was.
    ///
    /// ```
    /// use windowpane::store::Store;
    /// use windowpane::store::sqlite::SqliteStore;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let mut store = SqliteStore::open(&folder.path().join("runs.db"))?;
    /// assert_eq!(store.begin_read()?.info()?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: &Path) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(path, &Options::default())
    }

    /// Opens the store in the file `path`, which must exist.
    ///
    /// # Errors
    /// [`StoreError::NoStore`] where there is no file; else as [`SqliteStore::open`].
    pub fn open_existing(path: &Path) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(path, &Options { missing: Missing::Refuse, ..Options::default() })
    }

    /// Opens the store in the file `path` in a way of one's own.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_with(path: &Path, options: &Options) -> Result<SqliteStore, StoreError> {
        let (connection, turns) = open::open(path, options)?;
        Ok(SqliteStore { connection, turns, path: path.display().to_string() })
    }

    /// Checks the whole store on one snapshot: the file, every row against its checksum, and what
    /// rows of different tables must hold between them. An empty list is a sound store; at most
    /// 1,000 findings are gathered.
    ///
    /// # Errors
    /// What keeps the check from being carried out. What is wrong with the store is a finding.
    pub fn verify(&mut self) -> Result<Vec<Finding>, StoreError> {
        match self.transaction(Access::Read) {
            Ok(transaction) => verify::verify(&transaction),
            Err(error) => Ok(vec![verify::finding_of(error)?]),
        }
    }

    /// Copies the store, as of one instant, to a new file `target`. Others may read and write it
    /// meanwhile. The copy is compact, and on the disk when this returns.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when `target` exists or cannot be written;
    /// [`StoreError::Damaged`] when the store cannot be read. No file is left behind.
    pub fn backup(&mut self, target: &Path) -> Result<(), StoreError> {
        backup::backup(&self.connection, &self.path, target)
    }

    /// SQLite itself would notice only at the first change.
    fn check_writable(&self) -> Result<(), StoreError> {
        match self.connection.is_readonly("main") {
            Ok(false) => Ok(()),
            Ok(true) => {
                let problem = "it can only be read".to_owned();
                Err(StoreError::Unavailable { path: self.path.clone(), problem })
            }
            Err(error) => Err(Fault::of_file(&self.path, error)),
        }
    }

    fn transaction(&mut self, access: Access) -> Result<SqliteTransaction<'_>, StoreError> {
        let behavior = match access {
            Access::Read => TransactionBehavior::Deferred,
            // A reader that turns writer cannot wait for its turn, so writers start as such.
            Access::Write => TransactionBehavior::Immediate,
        };
        if access == Access::Write {
            self.check_writable()?;
            if let Some(turns) = &self.turns {
                turns.give_way();
            }
        }
        let begun = self.connection.transaction_with_behavior(behavior);
        let inner = begun.map_err(|error| Fault::of_file(&self.path, error))?;
        SqliteTransaction::new(inner, &self.path, access)
    }
}

impl Store for SqliteStore {
    fn begin_write(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        Ok(Box::new(self.transaction(Access::Write)?))
    }

    fn begin_read(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        Ok(Box::new(self.transaction(Access::Read)?))
    }
}
