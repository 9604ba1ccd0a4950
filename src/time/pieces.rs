//! The occurrences around a clock change.
//!
//! Each [segment](super::zone) between two clock changes is cut into a few *pieces*, spans of
//! instants that are read with one offset: what a gap shifts and what a fold repeats are pieces of
//! their own. The set of occurrences is the union of the pieces; next, previous and count look at
//! the pieces of one segment and never walk local times.
//!
//! The offset changes of a zone lie further apart than their gaps and folds are long, so no piece
//! reaches into a neighbouring segment; a test holds that for every zone of the database.

use super::calendar::Calendar;
use super::dst::{Authored, Dst, Fold, Gap, Resolution};
use super::zone::Segment;

/// A half-open span of instants whose local times are read with one offset. All in seconds.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from_s: i64,
    to_s: i64,
    offset_s: i64,
    resolution: Resolution,
}

/// The pieces of one segment. Only `shifted` may overlap others.
pub(super) struct Pieces {
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
    /// The pieces of a segment under a policy.
    pub(super) fn of(segment: Segment, dst: Dst) -> Pieces {
        let Segment { start_s, end_s, offset_s, .. } = segment;
        let piece =
            |from_s, to_s, offset_s, resolution| Piece { from_s, to_s, offset_s, resolution };
        let mut pieces = Pieces {
            fold_last: None,
            exact: piece(start_s, end_s, offset_s, Resolution::Exact),
            fold_first: None,
            shifted: None,
            collapsed: None,
            start_s,
        };
        let (gap_s, fold_s) = (segment.change_before_s().max(0), -segment.change_before_s().min(0));
        if gap_s > 0 {
            let before_s = offset_s - gap_s;
            match dst.gap {
                Gap::Shift => {
                    let to_s = start_s + gap_s;
                    pieces.shifted = Some(piece(start_s, to_s, before_s, Resolution::GapShifted));
                }
                Gap::Next => pieces.collapsed = Some((start_s + before_s, start_s + offset_s)),
                Gap::Skip => {}
            }
        }
        if fold_s > 0 {
            pieces.exact.from_s = start_s + fold_s;
            if matches!(dst.fold, Fold::Last | Fold::Both) {
                let to_s = pieces.exact.from_s;
                pieces.fold_last = Some(piece(start_s, to_s, offset_s, Resolution::FoldLast));
            }
        }
        if segment.change_after_s() < 0 {
            pieces.exact.to_s = segment.calm_to_s();
            if matches!(dst.fold, Fold::First | Fold::Both) {
                let from_s = pieces.exact.to_s;
                pieces.fold_first = Some(piece(from_s, end_s, offset_s, Resolution::FoldFirst));
            }
        }
        pieces
    }

    /// The pieces that do not overlap, oldest first.
    fn disjoint(&self) -> impl DoubleEndedIterator<Item = &Piece> {
        self.fold_last.iter().chain([&self.exact]).chain(&self.fold_first)
    }

    pub(super) fn at_or_after(&self, calendar: &Calendar, second: i64) -> Option<i64> {
        let found = self.disjoint().find_map(|piece| piece.at_or_after(calendar, second));
        let shifted = self.shifted.and_then(|piece| piece.at_or_after(calendar, second));
        let collapsed =
            (second <= self.start_s && self.has_collapsed(calendar)).then_some(self.start_s);
        [found, shifted, collapsed].into_iter().flatten().min()
    }

    pub(super) fn before(&self, calendar: &Calendar, second: i64) -> Option<i64> {
        let found = self.disjoint().rev().find_map(|piece| piece.before(calendar, second));
        let shifted = self.shifted.and_then(|piece| piece.before(calendar, second));
        let collapsed =
            (self.start_s < second && self.has_collapsed(calendar)).then_some(self.start_s);
        [found, shifted, collapsed].into_iter().flatten().max()
    }

    pub(super) fn count(&self, calendar: &Calendar, from: i64, to: i64) -> u64 {
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

    pub(super) fn authored(&self, calendar: &Calendar, second: i64) -> Option<Authored> {
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
