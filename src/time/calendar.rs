//! Calendar cadences: local times on chosen days, resolved to a sorted set of instants.
//!
//! Between two clock changes a zone has one offset, so the instants there are the local times
//! minus that offset. Each such [segment](super::zone) is cut into a few *pieces*, spans of
//! instants that are read with one offset: what a gap shifts and what a fold repeats are pieces of
//! their own. The set is the union of the pieces; next, previous and count look at the pieces of
//! one segment after another and never walk local times.
//!
//! The offset changes of a zone lie further apart than their gaps and folds are long, so no piece
//! reaches into a neighbouring segment; a test holds that for every zone of the database.

use super::days::Days;
use super::dst::{Authored, Dst, Fold, Gap, Resolution};
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
}

/// A half-open span of instants whose local times are read with one offset. All in seconds.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from_s: i64,
    to_s: i64,
    offset_s: i64,
    resolution: Resolution,
}

/// The pieces of one segment. Only `shifted` may overlap others.
struct Pieces {
    /// The second pass of a fold that begins the segment.
    fold_last: Option<Piece>,
    /// Local times that exist once.
    exact: Piece,
    /// The first pass of a fold that ends the segment.
    fold_first: Option<Piece>,
    /// What the gap that begins the segment shifts into it.
    shifted: Option<Piece>,
    /// The local times in the gap that begins the segment and become its first instant.
    collapsed: Option<(i64, i64)>,
    start_s: i64,
}

impl Calendar {
    /// The cadence of `times` on `days` in `zone`; `dst` decides where the clock changes.
    pub fn new(days: Days, times: Times, zone: &'static Zone, dst: Dst) -> Calendar {
        Calendar { days, times, zone, dst }
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
    pub(crate) fn at_or_after(&self, second: i64, limit: i64) -> Option<i64> {
        let mut index = self.zone.index_at(second);
        loop {
            let segment = self.zone.segment(index);
            if let Some(found) = self.pieces(index, segment).at_or_after(self, second) {
                return Some(found);
            }
            if segment.end_s > limit {
                return None;
            }
            index += 1;
        }
    }

    /// The last occurrence before `second`, looking no further back than `limit`.
    pub(crate) fn before(&self, second: i64, limit: i64) -> Option<i64> {
        let mut index = self.zone.index_at(second - 1);
        loop {
            let segment = self.zone.segment(index);
            if let Some(found) = self.pieces(index, segment).before(self, second) {
                return Some(found);
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
        let indices = self.zone.index_at(from)..=self.zone.index_at(to - 1);
        indices
            .map(|index| self.pieces(index, self.zone.segment(index)).count(self, from, to))
            .sum()
    }

    /// The local time behind an occurrence, or `None` for an instant that is none.
    pub(crate) fn authored(&self, second: i64) -> Option<Authored> {
        let index = self.zone.index_at(second);
        self.pieces(index, self.zone.segment(index)).authored(self, second)
    }

    fn pieces(&self, index: usize, segment: Segment) -> Pieces {
        let Segment { start_s, end_s, offset_s } = segment;
        let mut pieces = Pieces {
            fold_last: None,
            exact: Piece { from_s: start_s, to_s: end_s, offset_s, resolution: Resolution::Exact },
            fold_first: None,
            shifted: None,
            collapsed: None,
            start_s,
        };
        if index > 0 {
            let before_s = self.zone.segment(index - 1).offset_s;
            if before_s < offset_s {
                let length_s = offset_s - before_s;
                match self.dst.gap {
                    Gap::Shift => {
                        pieces.shifted = Some(Piece {
                            from_s: start_s,
                            to_s: start_s + length_s,
                            offset_s: before_s,
                            resolution: Resolution::GapShifted,
                        });
                    }
                    Gap::Next => pieces.collapsed = Some((start_s + before_s, start_s + offset_s)),
                    Gap::Skip => {}
                }
            } else {
                let second_pass_ends_s = start_s + (before_s - offset_s);
                pieces.exact.from_s = second_pass_ends_s;
                if matches!(self.dst.fold, Fold::Last | Fold::Both) {
                    pieces.fold_last = Some(Piece {
                        from_s: start_s,
                        to_s: second_pass_ends_s,
                        offset_s,
                        resolution: Resolution::FoldLast,
                    });
                }
            }
        }
        if end_s < i64::MAX {
            let after_s = self.zone.segment(index + 1).offset_s;
            if after_s < offset_s {
                let first_pass_begins_s = end_s - (offset_s - after_s);
                pieces.exact.to_s = first_pass_begins_s;
                if matches!(self.dst.fold, Fold::First | Fold::Both) {
                    pieces.fold_first = Some(Piece {
                        from_s: first_pass_begins_s,
                        to_s: end_s,
                        offset_s,
                        resolution: Resolution::FoldFirst,
                    });
                }
            }
        }
        pieces
    }

    /// The first local time of the cadence at or after `local_s`.
    pub(super) fn local_at_or_after(&self, local_s: i64) -> Option<i64> {
        let (day, second) = (local_s.div_euclid(DAY_S), local_s.rem_euclid(DAY_S));
        let found = self.days.at_or_after(day)?;
        if found == day {
            if let Some(second) = self.times.at_or_after(second) {
                return Some(day * DAY_S + second);
            }
            return Some(self.days.at_or_after(day + 1)? * DAY_S + self.times.first());
        }
        Some(found * DAY_S + self.times.first())
    }

    /// The last local time of the cadence before `local_s`.
    fn local_before(&self, local_s: i64) -> Option<i64> {
        let (day, second) = (local_s.div_euclid(DAY_S), local_s.rem_euclid(DAY_S));
        if self.days.contains(day)
            && let Some(second) = self.times.before(second)
        {
            return Some(day * DAY_S + second);
        }
        Some(self.days.before(day)? * DAY_S + self.times.last())
    }

    /// How many local times of the cadence lie in `[from, to)`.
    pub(super) fn local_count(&self, from_s: i64, to_s: i64) -> i64 {
        let split = |local_s: i64| {
            let (day, second) = (local_s.div_euclid(DAY_S), local_s.rem_euclid(DAY_S));
            (day, if self.days.contains(day) { self.times.below(second) } else { 0 })
        };
        let ((from_day, before_from), (to_day, before_to)) = (split(from_s), split(to_s));
        self.days.count(from_day, to_day) * self.times.per_day() + before_to - before_from
    }

    fn is_local(&self, local_s: i64) -> bool {
        self.local_at_or_after(local_s) == Some(local_s)
    }
}

impl Piece {
    fn at_or_after(&self, calendar: &Calendar, second: i64) -> Option<i64> {
        let from_s = second.max(self.from_s);
        if from_s >= self.to_s {
            return None;
        }
        let found = calendar.local_at_or_after(from_s + self.offset_s)? - self.offset_s;
        (found < self.to_s).then_some(found)
    }

    fn before(&self, calendar: &Calendar, second: i64) -> Option<i64> {
        let to_s = second.min(self.to_s);
        if to_s <= self.from_s {
            return None;
        }
        let found = calendar.local_before(to_s + self.offset_s)? - self.offset_s;
        (found >= self.from_s).then_some(found)
    }

    fn count(&self, calendar: &Calendar, from: i64, to: i64) -> i64 {
        let (from, to) = (from.max(self.from_s), to.min(self.to_s));
        if from >= to { 0 } else { calendar.local_count(from + self.offset_s, to + self.offset_s) }
    }

    fn holds(&self, second: i64) -> bool {
        self.from_s <= second && second < self.to_s
    }
}

impl Pieces {
    /// The pieces that do not overlap, oldest first.
    fn disjoint(&self) -> impl DoubleEndedIterator<Item = &Piece> {
        self.fold_last.iter().chain([&self.exact]).chain(&self.fold_first)
    }

    fn at_or_after(&self, calendar: &Calendar, second: i64) -> Option<i64> {
        let found = self.disjoint().find_map(|piece| piece.at_or_after(calendar, second));
        let shifted = self.shifted.and_then(|piece| piece.at_or_after(calendar, second));
        let collapsed =
            (second <= self.start_s && self.has_collapsed(calendar)).then_some(self.start_s);
        [found, shifted, collapsed].into_iter().flatten().min()
    }

    fn before(&self, calendar: &Calendar, second: i64) -> Option<i64> {
        let found = self.disjoint().rev().find_map(|piece| piece.before(calendar, second));
        let shifted = self.shifted.and_then(|piece| piece.before(calendar, second));
        let collapsed =
            (self.start_s < second && self.has_collapsed(calendar)).then_some(self.start_s);
        [found, shifted, collapsed].into_iter().flatten().max()
    }

    fn count(&self, calendar: &Calendar, from: i64, to: i64) -> u64 {
        let disjoint: i64 = self.disjoint().map(|piece| piece.count(calendar, from, to)).sum();
        let shifted = self.shifted.map_or(0, |piece| self.count_shifted(calendar, piece, from, to));
        let collapsed = (from..to).contains(&self.start_s)
            && self.has_collapsed(calendar)
            && !calendar.is_local(self.start_s + self.exact.offset_s);
        (disjoint + shifted + i64::from(collapsed)) as u64
    }

    /// The shifted instants that no local time names by itself. Only the local times inside one
    /// gap are walked, and only where the hours behind it have some too.
    fn count_shifted(&self, calendar: &Calendar, shifted: Piece, from: i64, to: i64) -> i64 {
        let count = shifted.count(calendar, from, to);
        let exact = Piece { from_s: shifted.from_s, to_s: shifted.to_s, ..self.exact };
        if count == 0 || exact.count(calendar, from, to) == 0 {
            return count;
        }
        let mut at = from.max(shifted.from_s);
        let mut named = 0;
        while let Some(found) = shifted.at_or_after(calendar, at).filter(|&found| found < to) {
            named += i64::from(calendar.is_local(found + self.exact.offset_s));
            at = found + 1;
        }
        count - named
    }

    fn has_collapsed(&self, calendar: &Calendar) -> bool {
        self.collapsed.is_some_and(|(from_s, to_s)| calendar.local_count(from_s, to_s) > 0)
    }

    fn authored(&self, calendar: &Calendar, second: i64) -> Option<Authored> {
        let of =
            |local_s: i64, resolution| Some(Authored { local_ms: local_s * 1_000, resolution });
        for piece in self.disjoint().chain(&self.shifted) {
            if piece.holds(second) && calendar.is_local(second + piece.offset_s) {
                return of(second + piece.offset_s, piece.resolution);
            }
        }
        let (from_s, to_s) = self.collapsed.filter(|_| second == self.start_s)?;
        let local_s = calendar.local_before(to_s).filter(|&local_s| local_s >= from_s)?;
        of(local_s, Resolution::GapNext)
    }
}
