//! The timeline of a workflow: the occurrences of its revisions, one ordered sequence.

use std::sync::Arc;

use crate::schedule::{Definition, Phase, Reference};
use crate::time::{Authored, Cadence, Instant, Window};

use super::run::{PlanError, Run};
use super::runs::Runs;

/// One revision of a workflow: a definition and the place in the timeline where it begins.
#[derive(Debug, Clone)]
pub struct Revision {
    number: u32,
    after: Option<Instant>,
    content: Option<Arc<Content>>,
}

/// A definition together with what the name of the workflow adds to it.
#[derive(Debug)]
struct Content {
    definition: Definition,
    phase_ms: i64,
}

impl Revision {
    /// The revision `number` (counted from 1) of the workflow `reference`. It holds the
    /// occurrences of `definition` strictly after `after`, the instant E of the edit that made
    /// it; the first revision has `None` and reaches back without end. A schedule that is `false`
    /// has no definition.
    pub fn new(
        reference: &Reference,
        number: u32,
        after: Option<Instant>,
        definition: Option<Definition>,
    ) -> Revision {
        let content = definition
            .map(|definition| Content { phase_ms: definition.phase_ms(reference), definition });
        Revision { number, after, content: content.map(Arc::new) }
    }

    /// The only revision of a workflow that has no name yet: a phase that depends on the name
    /// counts as 0.
    pub fn unnamed(definition: Definition) -> Revision {
        let phase_ms = match definition.phase() {
            Phase::Fixed { phase_ms } => phase_ms,
            Phase::Spread { .. } => 0,
        };
        let content = Some(Arc::new(Content { definition, phase_ms }));
        Revision { number: 1, after: None, content }
    }

    /// Counted from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The edit's instant E, exclusive; `None` for the first revision.
    pub fn after(&self) -> Option<Instant> {
        self.after
    }

    /// Its definition; `None` while the schedule is `false`.
    pub fn definition(&self) -> Option<&Definition> {
        self.content.as_ref().map(|content| &content.definition)
    }

    /// Whether `other` means the same: the same occurrences, due instants and windows.
    pub fn means_the_same_as(&self, other: &Revision) -> bool {
        match (&self.content, &other.content) {
            (None, None) => true,
            (Some(one), Some(other)) => {
                let (a, b) = (&one.definition, &other.definition);
                one.phase_ms == other.phase_ms
                    && a.delay_ms() == b.delay_ms()
                    && a.window_ms() == b.window_ms()
                    && a.cadence() == b.cadence()
            }
            _ => false,
        }
    }
}

/// The occurrences of all revisions of one workflow as one ordered sequence. Each occurrence has
/// the phase and the window of its own revision.
///
/// An occurrence is due at the latest when the first one of a later revision is, so what is due
/// at any instant is a prefix of the sequence.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// In order; the spans of revisions without a definition or without room are left out.
    spans: Vec<Span>,
}

/// The part of the timeline that one revision holds.
#[derive(Debug, Clone)]
struct Span {
    number: u32,
    content: Arc<Content>,
    /// The first instant that may hold an occurrence.
    first: Instant,
    /// The last instant that may hold an occurrence.
    last: Instant,
    /// No occurrence of this span is due later than this, when the first one after it is.
    due_at_the_latest: Option<Instant>,
}

/// One occurrence of a timeline, with the span that holds it. Places sort as their occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) occurrence: Instant,
    pub(super) span: usize,
}

impl Span {
    /// The due instant of an occurrence of this span. What would be due past the range of
    /// instants never is; [`Timeline::run`] says so as an error.
    fn due(&self, occurrence: Instant) -> Instant {
        let own = occurrence.checked_add_ms(self.content.phase_ms).unwrap_or(Instant::MAX);
        self.due_at_the_latest.map_or(own, |latest| own.min(latest))
    }

    fn at_or_after(&self, instant: Instant) -> Option<Instant> {
        let found = self.content.definition.cadence().at_or_after(instant.max(self.first));
        found.filter(|&found| found <= self.last)
    }

    fn at_or_before(&self, instant: Instant) -> Option<Instant> {
        let found = self.content.definition.cadence().at_or_before(instant.min(self.last));
        found.filter(|&found| found >= self.first)
    }
}

impl Timeline {
    /// The timeline of these revisions, oldest first. Revisions that ended before any instant
    /// that will be asked about may be left out.
    pub fn new(revisions: &[Revision]) -> Timeline {
        let mut spans = Vec::with_capacity(revisions.len());
        let mut last = Instant::MAX;
        let mut due_at_the_latest = None;
        for revision in revisions.iter().rev() {
            let first = match revision.after {
                None => Some(Instant::MIN),
                Some(after) => after.checked_add_ms(1),
            };
            if let (Some(content), Some(first)) =
                (&revision.content, first.filter(|&first| first <= last))
            {
                let span = Span {
                    number: revision.number,
                    content: Arc::clone(content),
                    first,
                    last,
                    due_at_the_latest,
                };
                if let Some(oldest) = span.at_or_after(first) {
                    due_at_the_latest = Some(span.due(oldest));
                    spans.push(span);
                }
            }
            last = revision.after.map_or(last, |after| after.min(last));
        }
        spans.reverse();
        Timeline { spans }
    }

    /// The run of every occurrence in `[from, to)`, oldest first, one at a time.
    pub fn runs(&self, from: Instant, to: Instant) -> Runs<'_> {
        match to.checked_add_ms(-1) {
            Some(last) => Runs::new(self, from, last),
            // Nothing lies before the first instant.
            None => Runs::new(self, Instant::MAX, to),
        }
    }

    /// The run of every occurrence at or after `from`, to the end of the range of instants.
    pub fn runs_from(&self, from: Instant) -> Runs<'_> {
        Runs::new(self, from, Instant::MAX)
    }

    /// The run of every occurrence whose window meets `[from, to)`, revision by revision, oldest
    /// first.
    pub fn runs_covering(
        &self,
        from: Instant,
        to: Instant,
    ) -> impl Iterator<Item = Result<Run, PlanError>> + '_ {
        (0..self.spans.len()).flat_map(move |index| {
            let span = &self.spans[index];
            // A window ends `delay_ms` before its occurrence, after `from`.
            let after = from.checked_add_ms(span.content.definition.delay_ms());
            let mut next = after.and_then(|after| span.at_or_after(after.checked_add_ms(1)?));
            std::iter::from_fn(move || {
                let run = self.run(Place { occurrence: next?, span: index });
                next = next.and_then(|occurrence| span.at_or_after(occurrence.checked_add_ms(1)?));
                run.as_ref().map_or(true, |run| run.window.start < to).then_some(run)
            })
        })
    }

    /// The run of the newest occurrence that is due at `now`.
    pub fn run_due(&self, now: Instant) -> Option<Result<Run, PlanError>> {
        self.newest_due(now).map(|place| self.run(place))
    }

    /// The run of the newest occurrence at or before `instant`.
    pub fn run_at_or_before(&self, instant: Instant) -> Option<Result<Run, PlanError>> {
        self.at_or_before(instant).map(|place| self.run(place))
    }

    /// Whether any of its occurrences follow a calendar, and with it the tz database.
    pub fn has_calendar(&self) -> bool {
        let cadences = self.spans.iter().map(|span| span.content.definition.cadence());
        cadences.into_iter().any(|cadence| matches!(cadence, Cadence::Calendar(_)))
    }

    /// The number of the revision that may hold an occurrence at `instant`.
    pub fn revision_at(&self, instant: Instant) -> Option<u32> {
        let at = self.spans.partition_point(|span| span.last < instant);
        self.spans.get(at).filter(|span| span.first <= instant).map(|span| span.number)
    }

    /// The authored local time of an occurrence, in milliseconds, read as UTC. `None` where its
    /// schedule has no time zone, and for what is no occurrence.
    pub fn zoned_local_ms(&self, occurrence: Instant) -> Option<i64> {
        let place = self.at_or_before(occurrence).filter(|place| place.occurrence == occurrence)?;
        let cadence = self.definition(place).cadence();
        match cadence {
            Cadence::Interval(_) => None,
            Cadence::Calendar(_) => Some(cadence.authored(occurrence)?.local_ms),
        }
    }

    /// The first place strictly after `instant`.
    pub(super) fn after(&self, instant: Instant) -> Option<Place> {
        self.at_or_after(instant.checked_add_ms(1)?)
    }

    /// The first place at or after `instant`.
    pub(super) fn at_or_after(&self, instant: Instant) -> Option<Place> {
        let from = self.spans.partition_point(|span| span.last < instant);
        (from..self.spans.len())
            .find_map(|span| self.place(span, self.spans[span].at_or_after(instant)))
    }

    /// The last place strictly before `instant`.
    pub(super) fn before(&self, instant: Instant) -> Option<Place> {
        self.at_or_before(instant.checked_add_ms(-1)?)
    }

    /// The last place at or before `instant`.
    pub(super) fn at_or_before(&self, instant: Instant) -> Option<Place> {
        let to = self.spans.partition_point(|span| span.first <= instant);
        (0..to).rev().find_map(|span| self.place(span, self.spans[span].at_or_before(instant)))
    }

    /// The newest place that is due at `now`.
    pub(super) fn newest_due(&self, now: Instant) -> Option<Place> {
        (0..self.spans.len()).rev().find_map(|index| {
            let span = &self.spans[index];
            let newest = if span.due_at_the_latest.is_some_and(|latest| latest <= now) {
                span.at_or_before(span.last)
            } else {
                span.at_or_before(now.checked_add_ms(-span.content.phase_ms)?)
            };
            self.place(index, newest)
        })
    }

    /// The first place that is due at `instant` or later.
    pub(super) fn due_at_or_after(&self, instant: Instant) -> Option<Place> {
        (0..self.spans.len()).find_map(|index| {
            let span = &self.spans[index];
            if span.due_at_the_latest.is_some_and(|latest| latest < instant) {
                return None;
            }
            let earliest = instant.checked_add_ms(-span.content.phase_ms).unwrap_or(Instant::MIN);
            self.place(index, span.at_or_after(earliest))
        })
    }

    /// How many occurrences lie strictly between two instants.
    pub fn count_between(&self, after: Instant, before: Instant) -> u64 {
        let from = self.spans.partition_point(|span| span.last <= after);
        self.spans[from..]
            .iter()
            .take_while(|span| span.first < before)
            .map(|span| {
                // Instants are whole milliseconds and `after < last <= MAX`, so this stays in range.
                let from = after.checked_add_ms(1).map_or(span.first, |from| from.max(span.first));
                let cadence = span.content.definition.cadence();
                match span.last.checked_add_ms(1) {
                    Some(end) => cadence.count(from, end.min(before)),
                    None => cadence.count(from, before),
                }
            })
            .sum()
    }

    /// The place that has `n` places from itself up to, not including, `before`; `n` is at least
    /// 1, and there are that many.
    pub(super) fn nth_before(&self, before: Instant, n: u64) -> Option<Place> {
        let mut left = n;
        let to = self.spans.partition_point(|span| span.first < before);
        for index in (0..to).rev() {
            let span = &self.spans[index];
            let cadence = span.content.definition.cadence();
            let end = span.last.checked_add_ms(1).map_or(before, |end| end.min(before));
            let here = cadence.count(span.first, end);
            if here >= left {
                return self.place(index, cadence.nth_before(end, left));
            }
            left -= here;
        }
        None
    }

    /// The due instant of a place.
    pub(super) fn due(&self, place: Place) -> Instant {
        self.spans[place.span].due(place.occurrence)
    }

    /// The due instant of a place; `None` past the range of instants, where it is never due.
    pub(super) fn due_in_range(&self, place: Place) -> Option<Instant> {
        let span = &self.spans[place.span];
        let own = place.occurrence.checked_add_ms(span.content.phase_ms);
        match (own, span.due_at_the_latest) {
            (Some(own), Some(latest)) => Some(own.min(latest)),
            (own, latest) => own.or(latest),
        }
    }

    /// The revision of a place.
    pub(super) fn revision(&self, place: Place) -> u32 {
        self.spans[place.span].number
    }

    /// The run of a place.
    pub(super) fn run(&self, place: Place) -> Result<Run, PlanError> {
        let cadence = self.definition(place).cadence();
        let occurrence = place.occurrence;
        let outside = |what| PlanError::Range { what, occurrence };
        // Every occurrence has an interval and an authored time: see `Cadence`.
        let (interval_ms, authored) =
            cadence.interval_and_authored(occurrence).ok_or(outside("interval"))?;
        self.run_of(place, interval_ms, authored)
    }

    /// The run of a place whose interval and authored time are known.
    pub(super) fn run_of(
        &self,
        place: Place,
        interval_ms: i64,
        authored: Authored,
    ) -> Result<Run, PlanError> {
        let Span { number, content, .. } = &self.spans[place.span];
        let (definition, occurrence) = (&content.definition, place.occurrence);
        let outside = |what| PlanError::Range { what, occurrence };
        if occurrence.checked_add_ms(content.phase_ms).is_none() {
            return Err(outside("due instant"));
        }
        let window =
            Window::of(occurrence, interval_ms, definition.delay_ms(), definition.window_ms())
                .map_err(|_| outside("window"))?;
        Ok(Run {
            occurrence,
            due: self.due(place),
            window,
            interval_ms,
            phase_ms: content.phase_ms,
            revision: *number,
            authored,
        })
    }

    /// The definition of a place.
    pub(super) fn definition(&self, place: Place) -> &Definition {
        &self.spans[place.span].content.definition
    }

    /// The last instant that may hold an occurrence of the same revision which is due when its
    /// phase says so: not earlier for the sake of a later revision, and not past the range.
    pub(super) fn last_before_cut(&self, place: Place) -> Option<Instant> {
        let span = &self.spans[place.span];
        let latest = span.due_at_the_latest.unwrap_or(Instant::MAX);
        Some(span.last.min(latest.checked_add_ms(-span.content.phase_ms)?))
    }

    fn place(&self, span: usize, occurrence: Option<Instant>) -> Option<Place> {
        occurrence.map(|occurrence| Place { occurrence, span })
    }
}
