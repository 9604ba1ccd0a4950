//! Runs one after another: most follow from the one before by addition.

use crate::time::{Authored, Instant, Stretch, Window};

use super::run::{PlanError, Run};
use super::timeline::{Place, Timeline};

/// The runs of a timeline, oldest first.
///
/// Between two clock changes the occurrences of most cadences are evenly spaced. Such a stretch is
/// looked up once, and held to lie in the range of instants once.
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    timeline: &'a Timeline,
    /// Where to look for the next stretch; `None` at the end.
    from: Option<Instant>,
    /// The last instant that is wanted.
    last: Instant,
    /// The place before `from`.
    before: Option<Place>,
    even: Option<Even>,
}

/// Runs of one revision that differ in nothing but when they are. All of them lie in range.
#[derive(Debug, Clone, Copy)]
struct Even {
    next: Run,
    /// The occurrence of the last of them.
    last: Instant,
    step_ms: i64,
}

impl<'a> Runs<'a> {
    /// Those whose occurrence is one of `[from, last]`.
    pub(super) fn new(timeline: &'a Timeline, from: Instant, last: Instant) -> Runs<'a> {
        Runs { timeline, from: Some(from), last, before: None, even: None }
    }

    /// The run with which the next stretch begins; the rest of it is next.
    fn begin_stretch(&mut self) -> Option<Result<Run, PlanError>> {
        let place = self.timeline.at_or_after(self.from.take()?)?;
        if place.occurrence > self.last {
            return None;
        }
        let stretch = self.timeline.definition(place).cadence().stretch_from(place.occurrence)?;
        self.even = self.rest(place, &stretch);
        let first = self.first(place, &stretch);
        let last = self.even.map_or(place.occurrence, |even| even.last);
        self.before = Some(Place { occurrence: last, ..place });
        self.from = last.checked_add_ms(1);
        Some(first)
    }

    fn first(&self, place: Place, stretch: &Stretch) -> Result<Run, PlanError> {
        match self.before.filter(|before| before.span == place.span) {
            None => self.timeline.run(place),
            Some(before) => {
                let interval_ms = place.occurrence.ms_since(before.occurrence);
                self.timeline.run_of(place, interval_ms, stretch.authored(place.occurrence))
            }
        }
    }

    /// What follows the first of a stretch, as far as it is wanted and in range.
    fn rest(&self, first: Place, stretch: &Stretch) -> Option<Even> {
        let step_ms = stretch.step_ms;
        let end = stretch.last.min(self.last).min(self.timeline.last_before_cut(first)?);
        let steps = end.ms_since(first.occurrence) / step_ms;
        if steps < 1 {
            return None;
        }
        let second = first.occurrence.checked_add_ms(step_ms)?;
        let place = Place { occurrence: second, ..first };
        let next = self.timeline.run_of(place, step_ms, stretch.authored(second)).ok()?;
        // The second window lies in range, and so do all that follow up to the last due instant.
        let last = first.occurrence.checked_add_ms(steps * step_ms)?;
        Some(Even { next, last, step_ms })
    }
}

impl Even {
    /// The run that follows the next one.
    #[inline]
    fn after_next(&self) -> Run {
        let later = |instant: Instant| Instant::known(instant.as_ms() + self.step_ms);
        let Run { occurrence, due, window, authored, .. } = self.next;
        Run {
            occurrence: later(occurrence),
            due: later(due),
            window: Window { start: later(window.start), end: later(window.end) },
            authored: Authored { local_ms: authored.local_ms + self.step_ms, ..authored },
            ..self.next
        }
    }
}

impl Iterator for Runs<'_> {
    type Item = Result<Run, PlanError>;

    #[inline]
    fn next(&mut self) -> Option<Result<Run, PlanError>> {
        let Some(even) = &mut self.even else { return self.begin_stretch() };
        let run = even.next;
        if run.occurrence < even.last {
            even.next = even.after_next();
        } else {
            self.even = None;
        }
        Some(Ok(run))
    }

    /// As `next` again and again, with the inner loop over a stretch free of decisions.
    #[inline]
    fn fold<B, F>(mut self, init: B, mut f: F) -> B
    where
        F: FnMut(B, Result<Run, PlanError>) -> B,
    {
        let mut folded = init;
        loop {
            if let Some(mut even) = self.even.take() {
                let steps = even.last.ms_since(even.next.occurrence) / even.step_ms;
                for _ in 0..steps {
                    folded = f(folded, Ok(even.next));
                    even.next = even.after_next();
                }
                folded = f(folded, Ok(even.next));
            }
            let Some(first) = self.begin_stretch() else { return folded };
            folded = f(folded, first);
        }
    }
}

impl std::iter::FusedIterator for Runs<'_> {}
