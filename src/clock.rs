//! The one reader of the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::store::record::ClockKind;
use crate::time::Instant;

/// Where `now` comes from.
pub trait Clock {
    /// The present instant, in whole milliseconds.
    fn now(&self) -> Instant;
    /// Whose clock this is; a store keeps to the kind that it was first written under.
    fn kind(&self) -> ClockKind;
}

/// The clock of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

/// An instant given by hand.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Instant);

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        let ms = match since_epoch {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
        };
        Instant::in_range(ms).unwrap_or(if ms < 0 { Instant::MIN } else { Instant::MAX })
    }

    fn kind(&self) -> ClockKind {
        ClockKind::System
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Instant {
        self.0
    }

    fn kind(&self) -> ClockKind {
        ClockKind::Test
    }
}
