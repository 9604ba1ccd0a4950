//! Instants, the epoch grid, local time and its changes, cadences, windows and phase: pure
//! arithmetic that knows neither JSON nor what time it is.

mod cadence;
mod calendar;
mod civil;
mod cron;
mod cron_days;
mod days;
mod dst;
pub mod duration;
mod instant;
mod interval;
mod local;
mod month;
mod outlook;
mod phase;
mod pieces;
mod times;
mod window;
mod zone;

pub(crate) use cadence::Stretch;
#[cfg(test)]
pub(crate) use cadence::steps;
pub use cadence::{Cadence, Occurrences};
pub use calendar::Calendar;
pub use cron::{Cron, CronError, UnevenStep};
pub(crate) use days::{CronDays, Matching};
pub use days::{Days, DaysError, Weekday};
pub use dst::{Authored, Dst, Fold, Gap, Resolution};
pub use duration::DurationError;
pub use instant::{Instant, InstantError, InstantText, InstantTexts, MS_PER_DAY, MS_PER_SECOND};
pub use interval::{Interval, IntervalError};
pub use local::LocalTime;
pub(crate) use outlook::ClockChange;
pub use phase::{PHASE_CAP_MS, spread_phase_ms};
pub use times::{TimeOfDay, Times, TimesError};
pub use window::{Window, WindowError};
pub use zone::{Zone, ZoneError, tzdb_version};
