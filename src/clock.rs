//! The one reader of the clock, and the one waiter.

#![expect(clippy::disallowed_methods, reason = "this is the one place that reads a clock or waits")]

use std::sync::mpsc::Receiver;
#[cfg(feature = "postgres")]
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// The clock of a server: as it was last heard, and so much later. Machines whose own clocks are
/// wrong agree on it. Clones share what they heard; before the first word it is this machine's clock.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone, Default)]
pub struct ServerClock {
    heard: Arc<Mutex<Option<(Instant, Moment)>>>,
}

#[cfg(feature = "postgres")]
impl ServerClock {
    /// Takes what the server has just said for the present.
    pub fn hear(&self, now: Instant) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, Moment::now()));
    }
}

#[cfg(feature = "postgres")]
impl Clock for ServerClock {
    fn now(&self) -> Instant {
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((then, since)) = heard else { return SystemClock.now() };
        let passed = Moment::now().0.saturating_duration_since(since.0).as_millis();
        let passed_ms = i64::try_from(passed).unwrap_or(i64::MAX);
        then.checked_add_ms(passed_ms).unwrap_or(Instant::MAX)
    }

    fn kind(&self) -> ClockKind {
        ClockKind::System
    }
}

/// A moment of the monotonic clock: for deadlines inside one process, which no one may set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(std::time::Instant);

impl Moment {
    /// The present moment.
    pub fn now() -> Moment {
        Moment(std::time::Instant::now())
    }

    /// The moment `ms` milliseconds later; a negative span counts as none.
    pub fn after_ms(self, ms: i64) -> Moment {
        Moment(self.0 + Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
    }
}

/// Waits for a span, with nothing to wait for but its end: for a lock that cannot be waited for.
pub fn wait_for(span: Duration) {
    std::thread::sleep(span);
}

/// Waits for the next event, at the longest until a moment; for one that is past, it only looks.
pub fn wait_until<T>(events: &Receiver<T>, until: Moment) -> Option<T> {
    events.recv_timeout(until.0.saturating_duration_since(Moment::now().0)).ok()
}
