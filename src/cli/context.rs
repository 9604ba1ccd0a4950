//! What every command is given.

#[cfg(feature = "postgres")]
use crate::clock::ServerClock;
#[cfg(not(feature = "postgres"))]
use crate::clock::SystemClock;
use crate::clock::{Clock, FixedClock};

use super::args::Common;
use super::console::Console;

/// What every command is given besides its own arguments.
pub(super) struct Context {
    /// Where `now` comes from.
    pub(super) clock: Box<dyn Clock>,
    /// What hears of a server's time; unless `--now` says otherwise it is the clock.
    #[cfg(feature = "postgres")]
    pub(super) server_clock: ServerClock,
    /// Whether a store that has seen a newer tz database is to follow this program's.
    pub(super) accepts_older_tzdb: bool,
    /// Where it writes.
    pub(super) console: Console,
}

impl Context {
    pub(super) fn new(common: &Common) -> Context {
        #[cfg(feature = "postgres")]
        let server_clock = ServerClock::default();
        #[cfg(feature = "postgres")]
        let system_clock = server_clock.clone();
        #[cfg(not(feature = "postgres"))]
        let system_clock = SystemClock;
        Context {
            clock: match common.now {
                Some(now) => Box::new(FixedClock(now)),
                None => Box::new(system_clock),
            },
            #[cfg(feature = "postgres")]
            server_clock,
            accepts_older_tzdb: common.accept_older_tzdb,
            console: Console::new(common.format),
        }
    }
}
