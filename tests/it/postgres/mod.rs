//! What only a PostgreSQL server shows. `WINDOWPANE_TEST_POSTGRES` holds the address of one.

mod cluster;
mod copies;
mod cuts;
mod outages;
mod processes;
mod proxy;
mod refusals;
mod retries;
mod verify;
mod wakeups;

use std::process;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use postgres::{Client, NoTls};

use windowpane::store::postgres::{Options, PostgresStore};

/// A schema of a test's own, dropped with it.
pub(crate) struct Scratch {
    server: String,
    schema: String,
}

/// A schema of its own on the server for tests; `None` where there is no server, which is said once.
pub(crate) fn scratch() -> Option<Scratch> {
    static TOLD: Once = Once::new();
    static LAST: AtomicU32 = AtomicU32::new(0);
    let Some(server) = crate::setting("WINDOWPANE_TEST_POSTGRES") else {
        TOLD.call_once(say_skipped);
        return None;
    };
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let schema = format!("test_{}_{number}", process::id());
    Some(Scratch { server, schema })
}

fn say_skipped() {
    use std::io::Write as _;
    // Not by `println!`, which is heard only of tests that fail.
    let _ = std::io::stderr()
        .write_all(b"the PostgreSQL tests did not run: WINDOWPANE_TEST_POSTGRES is not set\n");
}

impl Scratch {
    /// The address of the store in this schema.
    pub(crate) fn url(&self) -> String {
        let mark = if self.server.contains('?') { '&' } else { '?' };
        format!("{}{mark}schema={}", self.server, self.schema)
    }

    /// The server as `HOST:PORT`.
    pub(crate) fn address(&self) -> String {
        let (_, rest) = self.server.split_once('@').unwrap();
        rest.split_once('/').unwrap().0.to_owned()
    }

    /// The address of the store by another way to the server.
    pub(crate) fn url_by(&self, address: &str) -> String {
        self.url().replace(&self.address(), address)
    }

    /// The address of the store as another user sees it.
    pub(crate) fn url_of(&self, user: &str) -> String {
        let (_, rest) = self.server.split_once('@').unwrap();
        format!("postgres://{user}@{rest}&schema={}", self.schema)
    }

    /// The name of the schema, and of roles that only the test uses.
    pub(crate) fn name(&self) -> &str {
        &self.schema
    }

    /// A connection to the store, which is made where there is none.
    pub(crate) fn open(&self) -> PostgresStore {
        PostgresStore::open(&self.url()).unwrap()
    }

    /// One that waits for other writers for no time.
    pub(crate) fn open_without_waiting(&self) -> PostgresStore {
        // Making the store takes locks of the whole database.
        drop(self.open());
        let options = Options { busy_timeout_ms: 0, ..Options::default() };
        PostgresStore::open_with(&self.url(), &options).unwrap()
    }

    /// Carries a statement out, past the store.
    pub(crate) fn execute(&self, sql: &str) {
        self.client().batch_execute(sql).unwrap();
    }

    /// A connection past the store, in this schema.
    pub(crate) fn client(&self) -> Client {
        let mut client = Client::connect(&self.server, NoTls).unwrap();
        client.batch_execute(&format!("SET search_path = {}", self.schema)).unwrap();
        client
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut client = Client::connect(&self.server, NoTls).unwrap();
        client
            .batch_execute(&format!(
                "SET client_min_messages = error; DROP SCHEMA IF EXISTS {} CASCADE",
                self.schema
            ))
            .unwrap();
    }
}
