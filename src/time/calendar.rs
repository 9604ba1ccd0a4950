//! Calendar cadences: local times on chosen days, resolved to a sorted set of instants.
//!
//! Between two clock changes a zone has one offset, so the instants there are the local times
//! minus that offset: next, previous and count are arithmetic on local times. Around a clock
//! change the [pieces](super::pieces) of its segments decide.

use super::days::Days;
use super::dst::{Authored, Dst, Fold, Gap, Resolution};
use super::instant::MS_PER_SECOND;
use super::pieces::Pieces;
use super::times::Times;
use super::zone::{Segment, Zone};

pub(super) const DAY_S: i64 = 86_400;

/// A calendar cadence: times of day, on some days, in a zone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Calendar {
    days: Days,
    times: Times,
    zone: &'static Zone,
    dst: Dst,
    /// Its local times, where they are evenly spaced.
    even: Option<EvenTimes>,
    /// The hours of the day that hold any of its times, bits 0 to 23.
    hours: u32,
}

/// Local times that are evenly spaced, in seconds: all that lie whole steps from one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct EvenTimes {
    one_s: i64,
    step_s: i64,
}

/// Occurrences of a calendar that are evenly spaced, in seconds. All of them exist once in their
/// zone, or it is a single one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Even {
    /// The last of them.
    pub(super) last_s: i64,
    /// From one to the next.
    pub(super) step_s: i64,
    /// How the first of them came about; how far local time is ahead is the same for all.
    pub(super) authored: Authored,
}

impl Calendar {
    /// The cadence of `times` on `days` in `zone`; `dst` decides where the clock changes.
    pub fn new(days: Days, times: Times, zone: &'static Zone, dst: Dst) -> Calendar {
        let even = EvenTimes::of(&days, &times);
        let hours = times.hours();
        Calendar { days, times, zone, dst, even, hours }
    }

    /// The days on which it occurs, as local dates.
    pub fn days(&self) -> &Days {
        &self.days
    }

    /// The local times of day at which it occurs.
    pub fn times(&self) -> &Times {
        &self.times
    }

    /// The zone of its local times.
    pub fn zone(&self) -> &'static Zone {
        self.zone
    }

    /// What becomes of local times that a clock change skips or repeats.
    pub fn dst(&self) -> Dst {
        self.dst
    }

    /// The same cadence where skipped local times occur at the end of their gap; `None` where they
    /// occur already.
    pub(super) fn with_gaps_closed(&self) -> Option<Calendar> {
        let dst = Dst { gap: Gap::Next, ..self.dst };
        (self.dst.gap == Gap::Skip).then(|| Calendar { dst, ..self.clone() })
    }

    /// The first occurrence at or after `second`, looking no further than `limit`.
    #[inline]
    pub(crate) fn at_or_after(&self, second: i64, limit: i64) -> Option<i64> {
        if let Some(segment) = self.zone.near_segment_at(second)
            && segment.calm_from_s() <= second
            && let Some(local_s) = self.local_at_or_after(second + segment.offset_s)
            && local_s - segment.offset_s < segment.calm_to_s()
        {
            return Some(local_s - segment.offset_s);
        }
        self.at_or_after_across_changes(second, limit)
    }

    #[inline(never)]
    fn at_or_after_across_changes(&self, second: i64, limit: i64) -> Option<i64> {
        let mut index = self.zone.index_at(second);
        loop {
            let segment = self.zone.segment(index);
            let found = if self.meets_changes(&segment) {
                Pieces::of(segment, self.dst).at_or_after(self, second)
            } else {
                let from_s = second.max(segment.start_s);
                let local_s = self.local_at_or_after(from_s + segment.offset_s);
                local_s.map(|local_s| local_s - segment.offset_s).filter(|&at| at < segment.end_s)
            };
            if found.is_some() {
                return found;
            }
            if segment.end_s > limit {
                return None;
            }
            index += 1;
        }
    }

    /// The last occurrence before `second`, looking no further back than `limit`.
    #[inline]
    pub(crate) fn before(&self, second: i64, limit: i64) -> Option<i64> {
        if let Some(segment) = self.zone.near_segment_at(second - 1)
            && second <= segment.calm_to_s()
            && let Some(local_s) = self.local_before(second + segment.offset_s)
            && local_s - segment.offset_s >= segment.calm_from_s()
        {
            return Some(local_s - segment.offset_s);
        }
        self.before_across_changes(second, limit)
    }

    #[inline(never)]
    fn before_across_changes(&self, second: i64, limit: i64) -> Option<i64> {
        let mut index = self.zone.index_at(second - 1);
        loop {
            let segment = self.zone.segment(index);
            let found = if self.meets_changes(&segment) {
                Pieces::of(segment, self.dst).before(self, second)
            } else {
                let to_s = second.min(segment.end_s);
                let local_s = self.local_before(to_s + segment.offset_s);
                local_s
                    .map(|local_s| local_s - segment.offset_s)
                    .filter(|&at| at >= segment.start_s)
            };
            if found.is_some() {
                return found;
            }
            if segment.start_s < limit {
                return None;
            }
            index -= 1;
        }
    }

    /// How many occurrences lie in `[from, to)`.
    pub(crate) fn count(&self, from: i64, to: i64) -> u64 {
        if from >= to {
            return 0;
        }
        let (first, last) = (self.zone.segment_at(from), self.zone.segment_at(to - 1));
        let is_one_offset = Calendar::is_calm(&first, from) && to <= first.calm_to_s();
        if is_one_offset || !self.meets_changes(&first) {
            return self.local_count(from + first.offset_s, to + last.offset_s) as u64;
        }
        if self.keeps_step(&first) {
            return self.local_count(from + first.offset_s, to + first.offset_s) as u64;
        }
        let indices = self.zone.index_at(from)..=self.zone.index_at(to - 1);
        indices
            .map(|index| Pieces::of(self.zone.segment(index), self.dst).count(self, from, to))
            .sum()
    }

    /// Whether the change at the start of a segment, or any later one, may skip or repeat any of its
    /// times.
    fn meets_changes(&self, segment: &Segment) -> bool {
        self.hours & segment.changing_hours() != 0
    }

    /// Whether its occurrences are evenly spaced from a segment on, whatever the clock does: each
    /// change is a whole number of steps, what it shifts falls on other occurrences, and what it
    /// repeats occurs twice.
    fn keeps_step(&self, segment: &Segment) -> bool {
        let Dst { gap, fold } = self.dst;
        let is_even = self.even.is_some_and(|even| segment.keeps_step(even.step_s));
        is_even && gap != Gap::Next && fold == Fold::Both
    }

    /// The local time behind an occurrence, or `None` for an instant that is none.
    pub(crate) fn authored(&self, second: i64) -> Option<Authored> {
        let segment = self.zone.segment_at(second);
        if Calendar::is_calm(&segment, second) {
            let local_s = second + segment.offset_s;
            return self.is_local(local_s).then(|| exact(local_s));
        }
        Pieces::of(segment, self.dst).authored(self, second)
    }

    /// The evenly spaced occurrences up to `limit` that begin with `first_s`, which is one.
    pub(super) fn even_from(&self, first_s: i64, limit: i64) -> Option<Even> {
        let segment = self.zone.segment_at(first_s);
        if !Calendar::is_calm(&segment, first_s) {
            let authored = Pieces::of(segment, self.dst).authored(self, first_s)?;
            return Some(Even { last_s: first_s, step_s: DAY_S, authored });
        }
        let authored = exact(first_s + segment.offset_s);
        Some(match self.even {
            None => Even { last_s: first_s, step_s: DAY_S, authored },
            Some(EvenTimes { step_s, .. }) => {
                let steps = (limit.min(segment.calm_to_s() - 1) - first_s) / step_s;
                Even { last_s: first_s + steps * step_s, step_s, authored }
            }
        })
    }

    /// The step that leads to the occurrence `second`, in seconds, and the local time behind it,
    /// where the clock does not change between.
    pub(super) fn step_to(&self, second: i64) -> Option<(i64, Authored)> {
        let EvenTimes { step_s, .. } = self.even?;
        let segment = self.zone.near_segment_at(second)?;
        let is_calm = segment.calm_from_s() <= second - step_s && second < segment.calm_to_s();
        is_calm.then(|| (step_s, exact(second + segment.offset_s)))
    }

    /// Whether the local time of `second` exists once, and nothing else becomes `second`.
    fn is_calm(segment: &Segment, second: i64) -> bool {
        segment.calm_from_s() <= second && second < segment.calm_to_s()
    }

    /// The first local time of the cadence at or after `local_s`.
    #[inline]
    pub(super) fn local_at_or_after(&self, local_s: i64) -> Option<i64> {
        match self.even {
            Some(even) => Some(even.at_or_after(local_s)),
            None => self.uneven_at_or_after(local_s),
        }
    }

    #[inline]
    fn uneven_at_or_after(&self, local_s: i64) -> Option<i64> {
        let day = local_s.div_euclid(DAY_S);
        let second = local_s - day * DAY_S;
        let has_passed = second > self.times.last();
        let found = self.days.at_or_after(day + i64::from(has_passed))?;
        let time_s =
            if found == day { self.times.at_or_after(second)? } else { self.times.first() };
        Some(found * DAY_S + time_s)
    }

    /// The last local time of the cadence before `local_s`.
    #[inline]
    pub(super) fn local_before(&self, local_s: i64) -> Option<i64> {
        match self.even {
            Some(even) => Some(even.at_or_after(local_s) - even.step_s),
            None => self.uneven_before(local_s),
        }
    }

    #[inline]
    fn uneven_before(&self, local_s: i64) -> Option<i64> {
        let day = local_s.div_euclid(DAY_S);
        let second = local_s - day * DAY_S;
        let has_begun = second > self.times.first();
        let found = self.days.before(day + i64::from(has_begun))?;
        let time_s = if found == day { self.times.before(second)? } else { self.times.last() };
        Some(found * DAY_S + time_s)
    }

    /// How many local times of the cadence lie in `[from, to)`.
    pub(super) fn local_count(&self, from_s: i64, to_s: i64) -> i64 {
        if let Some(even) = self.even {
            return (even.at_or_after(to_s) - even.at_or_after(from_s)) / even.step_s;
        }
        let split = |local_s: i64| {
            let (day, second) = (local_s.div_euclid(DAY_S), local_s.rem_euclid(DAY_S));
            (day, if self.days.contains(day) { self.times.below(second) } else { 0 })
        };
        let ((from_day, before_from), (to_day, before_to)) = (split(from_s), split(to_s));
        self.days.count(from_day, to_day) * self.times.per_day() + before_to - before_from
    }

    pub(super) fn is_local(&self, local_s: i64) -> bool {
        self.local_at_or_after(local_s) == Some(local_s)
    }
}

impl EvenTimes {
    fn of(days: &Days, times: &Times) -> Option<EvenTimes> {
        let step_s = match (days.step_days()?, times.step_s()?) {
            (1, step_s) => step_s,
            (days, DAY_S) => days * DAY_S,
            _ => return None,
        };
        Some(EvenTimes { one_s: days.at_or_after(0)? * DAY_S + times.first(), step_s })
    }

    #[inline]
    fn at_or_after(self, local_s: i64) -> i64 {
        let ahead_s = local_s - self.one_s;
        local_s + (-ahead_s).rem_euclid(self.step_s)
    }
}

/// A local time that exists once.
fn exact(local_s: i64) -> Authored {
    Authored { local_ms: local_s * MS_PER_SECOND, resolution: Resolution::Exact }
}
