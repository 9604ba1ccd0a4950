//! A cadence: the sorted set of instants at which a schedule occurs.

use super::dst::{Authored, Resolution};
use super::instant::{MS_PER_DAY, MS_PER_SECOND};
use super::{Calendar, Instant, Interval};

/// Evenly spaced occurrences, at least one, that begin with a given one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    /// The last of them.
    pub(crate) last: Instant,
    /// From one to the next, in milliseconds, at least 1,000.
    pub(crate) step_ms: i64,
    /// How far the authored local time of each is ahead of it, in milliseconds.
    ahead_ms: i64,
    /// How the authored local time of each became it.
    resolution: Resolution,
}

impl Stretch {
    /// The authored local time of one of its occurrences.
    pub(crate) fn authored(&self, occurrence: Instant) -> Authored {
        let local_ms = occurrence.as_ms() + self.ahead_ms;
        Authored { local_ms, resolution: self.resolution }
    }
}

/// When a schedule occurs: a sorted set of instants, the occurrences.
///
/// An occurrence whose previous one would lie outside the range of instants is outside it too, so
/// every occurrence has an interval. Past either end of the range there are none. A cron
/// expression is a [`Calendar`] whose days follow its day, month and weekday fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cadence {
    /// Every multiple of an interval since the Unix epoch.
    Interval(Interval),
    /// Local times on some days of the calendar.
    Calendar(Calendar),
}

/// Before this, an occurrence may lack a previous one inside the range. No cadence pauses longer.
const PREVIOUS_IS_SURE: Option<Instant> = Instant::MIN.checked_add_ms(100 * 366 * MS_PER_DAY);

impl Cadence {
    /// The first occurrence strictly after `instant`.
    pub fn next(&self, instant: Instant) -> Option<Instant> {
        self.first_after(instant.as_ms())
    }

    /// The last occurrence strictly before `instant`.
    pub fn prev(&self, instant: Instant) -> Option<Instant> {
        self.last_before(instant.as_ms())
    }

    /// The first occurrence at or after `instant`.
    pub fn at_or_after(&self, instant: Instant) -> Option<Instant> {
        self.first_after(instant.as_ms() - 1)
    }

    /// The last occurrence at or before `instant`.
    pub fn at_or_before(&self, instant: Instant) -> Option<Instant> {
        self.last_before(instant.as_ms() + 1)
    }

    /// The span from the previous occurrence to `occurrence`, in milliseconds: at least 1,000.
    /// `None` when the previous one lies outside the range of instants.
    pub fn interval_ms(&self, occurrence: Instant) -> Option<i64> {
        self.raw_prev(occurrence.as_ms()).map(|prev| occurrence.ms_since(prev))
    }

    /// The occurrences in `[from, to)`, from either end, one at a time.
    pub fn occurrences(&self, from: Instant, to: Instant) -> Occurrences<'_> {
        Occurrences { cadence: self, from, to }
    }

    /// The longest evenly spaced stretch that begins with `first`, which is an occurrence: between
    /// two clock changes most cadences have one.
    pub(crate) fn stretch_from(&self, first: Instant) -> Option<Stretch> {
        let limit_s = Instant::MAX.as_ms() / MS_PER_SECOND;
        let (last, step_ms, authored) = match self {
            Cadence::Interval(interval) => {
                let last = self.at_or_before(Instant::MAX)?;
                (last, interval.as_ms(), self.authored(first)?)
            }
            Cadence::Calendar(calendar) => {
                let even = calendar.even_from(first.as_ms() / MS_PER_SECOND, limit_s)?;
                let last = Instant::in_range(even.last_s * MS_PER_SECOND)?;
                (last, even.step_s * MS_PER_SECOND, even.authored)
            }
        };
        let ahead_ms = authored.local_ms - first.as_ms();
        Some(Stretch { last, step_ms, ahead_ms, resolution: authored.resolution })
    }

    /// How many occurrences lie in `[from, to)`, by arithmetic: the cost grows at most with the
    /// clock changes between, never with the count.
    pub fn count(&self, from: Instant, to: Instant) -> u64 {
        #[cfg(test)]
        steps::step();
        let Some(from) = self.at_or_after(from).filter(|&first| first < to) else { return 0 };
        match self {
            Cadence::Interval(interval) => interval.count(from, to),
            Cadence::Calendar(calendar) => {
                calendar.count(second_at_or_after(from.as_ms()), second_at_or_after(to.as_ms()))
            }
        }
    }

    /// The occurrence that has `n` occurrences from itself up to, not including, `before`. `None`
    /// when there are fewer, or `n` is 0. Found by arithmetic or by bisecting the count.
    pub fn nth_before(&self, before: Instant, n: u64) -> Option<Instant> {
        let steps = i64::try_from(n.checked_sub(1)?).ok()?;
        match self {
            Cadence::Interval(interval) => {
                let back_ms = steps.checked_mul(interval.as_ms())?;
                let found = self.prev(before)?.checked_add_ms(-back_ms)?;
                self.has_previous(found).then_some(found)
            }
            Cadence::Calendar(_) => {
                let counts = |from_ms: i64| {
                    self.count(Instant::in_range(from_ms).unwrap_or(Instant::MIN), before)
                };
                // Reach back further and further, so that no step counts much more than it needs.
                let reaches =
                    std::iter::successors(Some(MS_PER_DAY), |reach_ms| reach_ms.checked_mul(2))
                        .take_while(|reach_ms| reach_ms / 2 < before.ms_since(Instant::MIN));
                let reach_ms =
                    reaches.into_iter().find(|reach_ms| counts(before.as_ms() - reach_ms) >= n)?;
                let (mut enough, mut too_few) = (before.as_ms() - reach_ms, before.as_ms());
                while too_few - enough > 1 {
                    let middle = enough + (too_few - enough) / 2;
                    if counts(middle) >= n { enough = middle } else { too_few = middle }
                }
                Instant::in_range(enough)
            }
        }
    }

    /// The local time that the schedule names and how it became this occurrence; an interval's is
    /// UTC. `None` for an instant that is no occurrence.
    pub fn authored(&self, occurrence: Instant) -> Option<Authored> {
        let ms = occurrence.as_ms();
        match self {
            Cadence::Interval(interval) => (ms.rem_euclid(interval.as_ms()) == 0)
                .then_some(Authored { local_ms: ms, resolution: Resolution::Exact }),
            Cadence::Calendar(calendar) => (ms.rem_euclid(MS_PER_SECOND) == 0)
                .then(|| calendar.authored(ms.div_euclid(MS_PER_SECOND)))?,
        }
    }

    /// The interval of an occurrence and the local time behind it, in one look where they follow
    /// from the evenness of the cadence.
    pub(crate) fn interval_and_authored(&self, occurrence: Instant) -> Option<(i64, Authored)> {
        let local_ms = occurrence.as_ms();
        let by_step = match self {
            Cadence::Interval(interval) => {
                let resolution = Resolution::Exact;
                Some((interval.as_ms(), Authored { local_ms, resolution }))
            }
            Cadence::Calendar(calendar) => calendar
                .step_to(local_ms / MS_PER_SECOND)
                .map(|(step_s, authored)| (step_s * MS_PER_SECOND, authored)),
        };
        by_step
            .filter(|_| Some(occurrence) >= PREVIOUS_IS_SURE)
            .or_else(|| Some((self.interval_ms(occurrence)?, self.authored(occurrence)?)))
    }

    /// The last local time that a gap swallows between two instants, where gaps are to be skipped.
    pub fn left_out(&self, after: Instant, before: Instant) -> Option<Authored> {
        let Cadence::Calendar(calendar) = self else { return None };
        let from = after.checked_add_ms(1)?;
        let moved = Cadence::Calendar(calendar.with_gaps_closed()?);
        let mut back = moved.occurrences(from, before.checked_add_ms(1)?).rev();
        back.find_map(|occurrence| {
            moved.authored(occurrence).filter(|by| by.resolution == Resolution::GapNext)
        })
    }

    fn first_after(&self, ms: i64) -> Option<Instant> {
        let next = self.raw_next(ms)?;
        // At the start of the range the second one is the first that has a previous one.
        if self.has_previous(next) { Some(next) } else { self.raw_next(next.as_ms()) }
    }

    fn last_before(&self, ms: i64) -> Option<Instant> {
        let prev = self.raw_prev(ms)?;
        self.has_previous(prev).then_some(prev)
    }

    /// The next member of the set, if it lies inside the range.
    #[inline]
    fn raw_next(&self, ms: i64) -> Option<Instant> {
        #[cfg(test)]
        steps::step();
        Instant::in_range(match self {
            Cadence::Interval(interval) => interval.next_ms(ms),
            Cadence::Calendar(calendar) => {
                let after = ms.div_euclid(MS_PER_SECOND) + 1;
                let limit = Instant::MAX.as_ms() / MS_PER_SECOND;
                calendar.at_or_after(after, limit)? * MS_PER_SECOND
            }
        })
    }

    /// The previous member of the set, if it lies inside the range.
    #[inline]
    fn raw_prev(&self, ms: i64) -> Option<Instant> {
        #[cfg(test)]
        steps::step();
        Instant::in_range(match self {
            Cadence::Interval(interval) => interval.prev_ms(ms),
            Cadence::Calendar(calendar) => {
                let limit = Instant::MIN.as_ms() / MS_PER_SECOND;
                calendar.before(second_at_or_after(ms), limit)? * MS_PER_SECOND
            }
        })
    }

    fn has_previous(&self, occurrence: Instant) -> bool {
        Some(occurrence) >= PREVIOUS_IS_SURE || self.interval_ms(occurrence).is_some()
    }
}

fn second_at_or_after(ms: i64) -> i64 {
    (ms + MS_PER_SECOND - 1).div_euclid(MS_PER_SECOND)
}

/// The occurrences of a cadence in a half-open span, from either end.
#[derive(Debug, Clone)]
pub struct Occurrences<'a> {
    cadence: &'a Cadence,
    from: Instant,
    to: Instant,
}

impl Iterator for Occurrences<'_> {
    type Item = Instant;

    fn next(&mut self) -> Option<Instant> {
        let found = self.cadence.at_or_after(self.from).filter(|&found| found < self.to);
        // Past the last one the span is empty from both ends.
        self.from = found.and_then(|found| found.checked_add_ms(1)).unwrap_or(self.to);
        found
    }
}

impl DoubleEndedIterator for Occurrences<'_> {
    fn next_back(&mut self) -> Option<Instant> {
        let found = self.cadence.prev(self.to).filter(|&found| found >= self.from);
        self.to = found.unwrap_or(self.from);
        found
    }
}

impl std::iter::FusedIterator for Occurrences<'_> {}

/// Counts the steps that planning takes along cadences, so that a test can hold it to few.
#[cfg(test)]
pub(crate) mod steps {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    pub(super) fn step() {
        STEPS.set(STEPS.get() + 1);
    }

    /// How many steps `work` takes on this thread.
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, u64) {
        let before = STEPS.get();
        let done = work();
        (done, STEPS.get() - before)
    }
}
