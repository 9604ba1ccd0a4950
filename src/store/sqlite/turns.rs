//! Taking turns with other writers, so that none of them waits long.
//!
//! SQLite has no queue for its lock: who looks first when it is free gets it. Its own busy handler
//! looks less and less often, up to once in 100 ms, while a writer that has just committed looks at
//! once; so one writer can starve the others. Here a writer looks often, at random moments, and one
//! that had to wait lets the others look first for a while.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use crate::store::backoff::Wait;

/// The longest first wait for the lock, in microseconds, and how much longer each next one may be.
const WAIT_US: u32 = 100;
const WAIT_GROWTH_US: u32 = 4;
/// The longest wait between two looks, in microseconds: a lock that was held for long is a long one.
const WAIT_AT_MOST_US: u32 = 2_000;
/// How long others may look first, in microseconds: they do in less than their longest first wait.
const GIVE_WAY_US: u32 = 2 * WAIT_US;
/// For so many transactions after a wait a writer gives way.
const GIVES_WAY: u32 = 8;

/// The turns of one connection.
#[derive(Debug)]
pub(super) struct Turns {
    wait: Wait,
    /// How many of its next transactions give way.
    give_way: Arc<AtomicU32>,
}

impl Turns {
    /// Sets a connection up to wait at most `timeout_ms` for the lock, as counted by its waits.
    pub(super) fn set_up(
        connection: &mut Connection,
        wait: Wait,
        timeout_ms: u32,
    ) -> rusqlite::Result<Turns> {
        let give_way = Arc::new(AtomicU32::new(0));
        let (noted, random) = (Arc::clone(&give_way), RandomState::new());
        let mut waited_us: u64 = 0;
        connection.busy_handler(Some(move |looks: i32| {
            if looks == 0 {
                waited_us = 0;
                noted.store(GIVES_WAY, Ordering::Relaxed);
            }
            let longest_us = WAIT_US.saturating_add(WAIT_GROWTH_US.saturating_mul(looks as u32));
            let wait_us = 1 + random.hash_one((looks, waited_us))
                % u64::from(longest_us.min(WAIT_AT_MOST_US));
            waited_us += wait_us;
            if waited_us > u64::from(timeout_ms) * 1_000 {
                return false;
            }
            wait(Duration::from_micros(wait_us));
            true
        }))?;
        Ok(Turns { wait, give_way })
    }

    /// Lets the others look at the lock first, if it had to wait for them lately.
    pub(super) fn give_way(&self) {
        let left = self.give_way.load(Ordering::Relaxed);
        if left > 0 {
            self.give_way.store(left - 1, Ordering::Relaxed);
            (self.wait)(Duration::from_micros(GIVE_WAY_US.into()));
        }
    }
}
