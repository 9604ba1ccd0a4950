//! The PostgreSQL store: one schema of a database, for any number of machines.

mod attempts;
mod columns;
mod decisions;
mod fault;
mod info;
mod listener;
mod migrate;
mod open;
mod outcome;
mod queue;
mod revisions;
mod runs;
mod skips;
mod tls;
mod transaction;
mod url;
mod verify;
mod workflows;

use std::fmt;
use std::sync::Arc;

use postgres::{Client, SimpleQueryMessage};

use crate::time::Instant;

use super::backoff::Wait;
use super::{Finding, Missing, Store, StoreError, Transaction, Wake, Wakeups};
use fault::Fault;
use open::Server;
use outcome::Writer;
use transaction::{Access, PostgresTransaction, Statements};
use url::Address;

/// Is told what time it is on the server, at the begin of each transaction.
pub type Hears = Arc<dyn Fn(Instant) + Send + Sync>;

/// How to open a store.
#[derive(Clone)]
pub struct Options {
    /// What to do where there is no store.
    pub missing: Missing,
    /// How long to wait for other writers, in milliseconds.
    pub busy_timeout_ms: u32,
    /// Who is told the server's time.
    pub hears_time: Option<Hears>,
    /// What waits for a server that is away: while a transaction is committed for about twenty seconds,
    /// and between attempts to listen. Without it the server is tried once.
    pub wait: Option<Wait>,
}

impl Options {
    /// The default of [`Options::busy_timeout_ms`].
    pub const BUSY_TIMEOUT_MS: u32 = 30_000;
}

impl Default for Options {
    fn default() -> Options {
        Options {
            missing: Missing::Create,
            busy_timeout_ms: Options::BUSY_TIMEOUT_MS,
            hears_time: None,
            wait: None,
        }
    }
}

/// A connection to a store in one schema of a PostgreSQL database.
///
/// Any number of processes on any number of machines may be connected. Claims, heartbeats, finishes
/// and releases of different workflows go on beside each other; all other writes happen alone, and
/// readers see the last commit before they began. A connection that was lost is made anew at the
/// begin of the next transaction.
pub struct PostgresStore {
    server: Server,
    client: Client,
    statements: Statements,
    writer: Writer,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.server.address.name).finish()
    }
}

impl PostgresStore {
    /// Opens the store at `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME&sslmode=MODE`,
    /// and makes one where there is none. The schema is `windowpane` where none is named; nothing
    /// outside of it is touched. `sslmode` is `disable`, `prefer` (the default), `require` or
    /// `verify-full`, which trusts what the system does or the file of `sslrootcert`.
    ///
    /// # Errors
    /// [`StoreError::BadAddress`]; [`StoreError::Unreachable`], [`StoreError::LoginRefused`],
    /// [`StoreError::RightDenied`] or [`StoreError::ReadOnlyServer`] as the server answers;
    /// [`StoreError::Foreign`] or [`StoreError::Newer`] for a schema of another kind or format;
    /// [`StoreError::Unavailable`] otherwise. Nothing was changed.
    pub fn open(url: &str) -> Result<PostgresStore, StoreError> {
        PostgresStore::open_with(url, &Options::default())
    }

    /// Opens the store at an address in a way of one's own.
    ///
    /// # Errors
    /// As [`PostgresStore::open`]; [`StoreError::NoStore`] where there is none and none is to be
    /// made.
    pub fn open_with(url: &str, options: &Options) -> Result<PostgresStore, StoreError> {
        let server = Server { address: Address::parse(url)?, options: options.clone() };
        let mut client = open::connect(&server)?;
        migrate::open(&mut client, &server.address, options.missing)?;
        Ok(PostgresStore { server, client, statements: Statements::new(), writer: Writer::new() })
    }

    /// Checks the whole store on one snapshot: every row against its checksum, and what rows of
    /// different tables must hold between them. An empty list is a sound store; at most 1,000
    /// findings are gathered. The files of the server are its own concern: see `pg_amcheck`.
    ///
    /// # Errors
    /// What keeps the check from being carried out. What is wrong with the store is a finding.
    pub fn verify(&mut self) -> Result<Vec<Finding>, StoreError> {
        verify::verify(&mut self.begin(Access::Read)?)
    }

    fn begin(&mut self, access: Access) -> Result<PostgresTransaction<'_>, StoreError> {
        let answers = match self.ask(begin_of(access)) {
            // It may have been lost long ago, and this is when that shows.
            Err(StoreError::Unreachable { .. }) => {
                self.client = open::connect(&self.server)?;
                self.statements.clear();
                self.ask(begin_of(access))?
            }
            answers => answers?,
        };
        self.hear(&answers);
        let PostgresStore { server, client, statements, writer } = self;
        Ok(PostgresTransaction::new(server, client, statements, writer, access))
    }

    fn ask(&mut self, begin: &str) -> Result<Vec<SimpleQueryMessage>, StoreError> {
        self.client.simple_query(begin).map_err(|error| {
            // Where that fails the connection is gone, and the transaction with it.
            let _ = self.client.batch_execute("ROLLBACK");
            Fault::of_server(&self.server.address.name, &error)
        })
    }

    /// Passes the server's time on.
    fn hear(&mut self, answers: &[SimpleQueryMessage]) {
        let last = answers.iter().rev().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        let Some(now) = last.and_then(|ms| Instant::from_ms(ms).ok()) else { return };
        self.writer.hear(now);
        if let Some(hears) = &self.server.options.hears_time {
            hears(now);
        }
    }
}

/// The lock of all writers of the schema. Those that write alone hold it alone; the others share it.
macro_rules! lock {
    ($function:literal) => {
        concat!(
            "SELECT ",
            $function,
            "(hashtextextended('windowpane writer ' || current_schema(), 0)); "
        )
    };
}

/// The server's time in milliseconds, as of this statement: after the lock is held.
macro_rules! server_time {
    () => {
        "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    };
}

/// The statements that begin a transaction, in one trip to the server. A reader's snapshot is that
/// of its first statement, a writer's that of each.
const fn begin_of(access: Access) -> &'static str {
    match access {
        Access::Read => {
            concat!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ", server_time!())
        }
        Access::Beside => concat!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; ",
            lock!("pg_advisory_xact_lock_shared"),
            server_time!()
        ),
        Access::Alone => concat!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; ",
            lock!("pg_advisory_xact_lock"),
            server_time!()
        ),
    }
}

impl Store for PostgresStore {
    fn begin_write(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        Ok(Box::new(self.begin(Access::Alone)?))
    }

    fn begin_beside(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        Ok(Box::new(self.begin(Access::Beside)?))
    }

    fn begin_read(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        Ok(Box::new(self.begin(Access::Read)?))
    }

    fn listen(&self, wake: Wake) -> Option<Wakeups> {
        listener::listen(self.server.clone(), wake)
    }
}
