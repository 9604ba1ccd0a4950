//! What became of a transaction whose connection was lost while it was committed.
//!
//! The number of a transaction on the server would not tell: after a crash the server hands the same
//! numbers out again. So each connection notes in a row of its own, within the transaction, which of
//! its transactions this is.

use std::hash::{BuildHasher, RandomState};

use postgres::Client;

use crate::store::StoreError;
use crate::store::backoff::Backoff;
use crate::time::Instant;

use super::fault::Fault;
use super::open::{self, Server};

/// The server is asked so often, over about twenty seconds: long enough for it to be started again.
const ASKED_AT_MOST: u32 = 14;
const FIRST_WAIT_MS: u64 = 20;

/// The note of a connection that writes no more is kept for one to two of these.
const HOUR_MS: i64 = 60 * 60 * 1_000;

/// A transaction that has changed nothing needs no note.
const NOTE: &str = "WITH old AS (DELETE FROM last_write WHERE connection IN (
        SELECT connection FROM last_write WHERE hour_ms < $4 AND connection <> $1 LIMIT 10
        FOR UPDATE SKIP LOCKED))
    INSERT INTO last_write (connection, number, hour_ms)
    SELECT $1::bigint, $2::bigint, $3::bigint WHERE pg_current_xact_id_if_assigned() IS NOT NULL
    ON CONFLICT (connection) DO UPDATE SET number = $2, hour_ms = $3";

/// Waits for the transaction in question to end, should it go on: it holds this row.
const READ_NOTE: &str = "INSERT INTO last_write (connection, number, hour_ms) VALUES ($1, 0, $2)
    ON CONFLICT (connection) DO UPDATE SET number = last_write.number RETURNING number";

/// Who writes, and its transactions so far.
pub(super) struct Writer {
    connection: i64,
    number: i64,
    /// The hour on the server's clock.
    hour_ms: i64,
}

impl Writer {
    pub(super) const TABLE: &'static str = "last_write";

    /// A writer unlike any other.
    pub(super) fn new() -> Writer {
        let connection = RandomState::new().hash_one(0).cast_signed();
        Writer { connection, number: 0, hour_ms: 0 }
    }

    /// Takes what the server has just said for the present.
    pub(super) fn hear(&mut self, now: Instant) {
        self.hour_ms = now.as_ms() - now.as_ms().rem_euclid(HOUR_MS);
    }

    /// The statement that notes the next transaction, and its values.
    pub(super) fn note(&mut self) -> (&'static str, [i64; 4]) {
        self.number += 1;
        (NOTE, [self.connection, self.number, self.hour_ms, self.hour_ms - HOUR_MS])
    }

    /// Asks the server whether the transaction that was noted last was kept, over a new connection
    /// that replaces the `lost` one.
    ///
    /// # Errors
    /// The error `lost` where it was undone; [`StoreError::UnknownOutcome`] where the server does not
    /// say in time.
    pub(super) fn settle(
        &self,
        server: &Server,
        client: &mut Client,
        lost: StoreError,
    ) -> Result<(), StoreError> {
        let mut backoff = Backoff::new(FIRST_WAIT_MS, ASKED_AT_MOST - 1);
        loop {
            if let Ok(anew) = open::connect(server) {
                *client = anew;
                if let Ok(number) = self.noted(server, client) {
                    return if number == self.number { Ok(()) } else { Err(lost) };
                }
            }
            match (server.options.wait, backoff.next()) {
                (Some(wait), Some(span)) => wait(span),
                _ => return Err(unknown(lost)),
            }
        }
    }

    fn noted(&self, server: &Server, client: &mut Client) -> Result<i64, StoreError> {
        let row = client.query_one(READ_NOTE, &[&self.connection, &self.hour_ms]);
        row.map(|row| row.get(0)).map_err(|error| Fault::of_server(&server.address.name, &error))
    }
}

fn unknown(lost: StoreError) -> StoreError {
    match lost {
        StoreError::Unreachable { path, problem } => StoreError::UnknownOutcome { path, problem },
        other => other,
    }
}
