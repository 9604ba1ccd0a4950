//! What lies ahead of a calendar cadence: the clock changes that its times fall into, and how far
//! its occurrences lie apart.

use std::fmt;

use super::calendar::{Calendar, DAY_S};
use super::civil::{civil_from_days, days_from_civil};
use super::days::Days;
use super::dst::{Fold, Gap};
use super::instant::{Instant, MS_PER_SECOND};
use super::times::TimeOfDay;

/// A clock change that local times of a cadence fall into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockChange {
    /// The first of those times.
    pub(crate) time: TimeOfDay,
    /// How many more there are.
    more: i64,
    /// The local date, as a day number.
    day: i64,
    zone: &'static str,
    outcome: Outcome,
}

/// What becomes of the local times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// They do not exist, and run at this local time, in seconds.
    Moved(i64),
    /// They do not exist, and are dropped.
    Dropped,
    /// They exist twice.
    Repeated(Fold),
}

/// A stretch that holds a leap year and every other length of month.
const SAMPLE_DAYS: (i64, i64) = (days_from_civil(2023, 1, 1), days_from_civil(2028, 1, 1));

impl Calendar {
    /// The first gap and the first fold in `[from, to)` that a local time of the cadence falls
    /// into, in their order. A cadence of every hour of the day meets each change there is, so it
    /// has none.
    pub(crate) fn clock_changes(&self, from: Instant, to: Instant) -> Vec<ClockChange> {
        let mut found: Vec<ClockChange> = Vec::new();
        let [first, last] = [from, to]
            .map(|instant| self.zone().index_at(instant.as_ms().div_euclid(MS_PER_SECOND)));
        if first == last || self.is_hourly() {
            return found;
        }
        for index in first + 1..=last {
            let Some(change) = self.clock_change(index) else { continue };
            let is_fold = |change: &ClockChange| matches!(change.outcome, Outcome::Repeated(_));
            if found.iter().all(|other| is_fold(other) != is_fold(&change)) {
                found.push(change);
            }
        }
        found
    }

    /// The change that begins a segment of the zone, if times of the cadence fall into it.
    fn clock_change(&self, index: usize) -> Option<ClockChange> {
        let segment = self.zone().segment(index);
        let before_s = self.zone().segment(index - 1).offset_s;
        let is_gap = before_s < segment.offset_s;
        let local_s = [before_s, segment.offset_s].map(|offset_s| segment.start_s + offset_s);
        let (from_s, to_s) = (local_s[0].min(local_s[1]), local_s[0].max(local_s[1]));
        let at_s = self.local_at_or_after(from_s).filter(|&at_s| at_s < to_s)?;
        let outcome = match (is_gap, self.dst().gap) {
            (false, _) => Outcome::Repeated(self.dst().fold),
            (true, Gap::Shift) => Outcome::Moved(at_s + to_s - from_s),
            (true, Gap::Next) => Outcome::Moved(to_s),
            (true, Gap::Skip) => Outcome::Dropped,
        };
        Some(ClockChange {
            time: TimeOfDay::of_second(at_s),
            more: self.local_count(from_s, to_s) - 1,
            day: at_s.div_euclid(DAY_S),
            zone: self.zone().name(),
            outcome,
        })
    }

    fn is_hourly(&self) -> bool {
        (0..24).all(|hour| {
            self.times().at_or_after(hour * 3_600).is_some_and(|second| second / 3_600 == hour)
        })
    }

    /// A stretch of days after which the cadence repeats, or nearly.
    fn sample_days(&self) -> (i64, i64) {
        let (first, last) = SAMPLE_DAYS;
        // Two weeks hold each weekday and the step to its next one.
        let is_weekly = *self.days() == Days::every() || self.days().as_weekdays().is_some();
        if is_weekly { (first, first + 15) } else { (first, last) }
    }

    /// The shortest and the longest span between two occurrences in milliseconds, clock changes
    /// left aside; `None` where they lie years apart.
    pub(crate) fn nominal_gaps_ms(&self) -> Option<(i64, i64)> {
        let seconds: Vec<i64> =
            self.times().iter().map(|time| i64::from(time.second_of_day())).collect();
        let mut gaps_s: Vec<i64> = seconds.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (mut day, last_day) = self.sample_days();
        while let Some(next) = self.days().at_or_after(day + 1).filter(|&next| next < last_day) {
            if self.days().contains(day) {
                gaps_s.push((next - day) * DAY_S + seconds.first()? - seconds.last()?);
            }
            day = next;
        }
        let (shortest_s, longest_s) = (gaps_s.iter().min()?, gaps_s.iter().max()?);
        Some((shortest_s * MS_PER_SECOND, longest_s * MS_PER_SECOND))
    }
}

impl fmt::Display for ClockChange {
    /// One sentence: what happens to the local time, when, where, and when it runs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, verbs) = match self.outcome {
            Outcome::Repeated(_) => ("occurs twice", "occur twice"),
            _ => ("does not exist", "do not exist"),
        };
        write!(f, "{}", self.time)?;
        match self.more {
            0 => write!(f, " {verb}")?,
            1 => write!(f, " and one more time {verbs}")?,
            more => write!(f, " and {more} more times {verbs}")?,
        }
        let (year, month, day) = civil_from_days(self.day);
        write!(f, " on {year:04}-{month:02}-{day:02} in {}; ", self.zone)?;
        let runs = if self.more == 0 { "runs" } else { "the first runs" };
        match self.outcome {
            Outcome::Moved(at_s) => write!(f, "{runs} at {}", TimeOfDay::of_second(at_s)),
            Outcome::Dropped => f.write_str("skipped"),
            Outcome::Repeated(Fold::First) => f.write_str("runs the first time"),
            Outcome::Repeated(Fold::Last) => f.write_str("runs the second time"),
            Outcome::Repeated(Fold::Both) => f.write_str("runs both times"),
        }
    }
}
