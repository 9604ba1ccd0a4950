//! Which data was evaluated: once, more often, or not at all.
//!
//! Windows are swept only where some run succeeded. Between such regions the answer follows from a
//! few instants, so silence costs nothing, however long.

use crate::clock::Clock;
use crate::plan::{self, Cover, PlanError, Revision, Run, Timeline};
use crate::store::record::{RunFilter, RunRecord, RunState, Workflow};
use crate::store::{Store, Transaction};
use crate::time::{Instant, Window, tzdb_version};

use super::pages::Pages;
use super::request::requested_windows;
use super::sweep::{Counts, Sweep, Which};
use super::workflow::read_revisions;
use super::{EngineError, store_info};

/// How the data of a span of time was covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Contiguous, in order; together they are the span that was asked about. Neighbours differ.
    pub spans: Vec<(Window, Cover)>,
}

impl Coverage {
    /// How much of the span is covered so, in milliseconds.
    pub fn total_ms(&self, cover: Cover) -> i64 {
        let so = self.spans.iter().filter(|(_, is)| *is == cover);
        so.map(|(window, _)| window.end.ms_since(window.start)).sum()
    }

    /// How much of the data that is known and due was evaluated, once or more, in millionths,
    /// rounded down; `None` where there is no such data.
    pub fn evaluated_millionths(&self) -> Option<u32> {
        let evaluated = self.total_ms(Cover::Covered) + self.total_ms(Cover::Double);
        let all = i128::from(evaluated + self.total_ms(Cover::Missing));
        let share = (i128::from(evaluated) * 1_000_000).checked_div(all)?;
        u32::try_from(share).ok()
    }
}

/// How the data in `[from, to)` is covered by the runs of the workflow `reference`. The last
/// success of an occurrence and window counts once, whether it was scheduled or requested.
///
/// Cost and memory grow with the successes that meet the span and the windows beside them.
///
/// # Errors
/// [`EngineError::UnknownWorkflow`], [`EngineError::Plan`], [`EngineError::Store`].
pub fn coverage(
    store: &mut dyn Store,
    clock: &dyn Clock,
    reference: &str,
    from: Instant,
    to: Instant,
) -> Result<Coverage, EngineError> {
    let mut tx = store.begin_read()?;
    store_info::for_read(&mut *tx)?;
    let now = clock.now();
    let unknown = || EngineError::UnknownWorkflow { reference: reference.to_owned() };
    let workflow = tx.workflow(reference)?.ok_or_else(unknown)?;
    let rows = tx.revisions(&[(workflow.id, None)])?.concat();
    let revisions = read_revisions(reference, &rows)?;
    let timeline = Timeline::new(&revisions);
    let last = last_over(&revisions, to).max(last_requested(&mut *tx, &workflow, from, to)?);
    let known = Known { timeline: &timeline, revisions: &revisions, workflow: &workflow, now };
    let successes = known.successes(&mut *tx, from, last)?;
    known.cover(successes, from, to).map_err(|source| {
        let reference = reference.to_owned();
        EngineError::Plan { reference, source }
    })
}

/// A success that counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Success {
    occurrence: Instant,
    start: Instant,
    end: Instant,
}

impl Success {
    fn window(&self) -> Window {
        Window { start: self.start, end: self.end }
    }
}

/// What windows are held against.
struct Known<'a> {
    timeline: &'a Timeline,
    revisions: &'a [Revision],
    workflow: &'a Workflow,
    now: Instant,
}

impl Known<'_> {
    /// The successes whose windows end after `from`, of occurrences up to `last`, each occurrence
    /// and window once; in order.
    fn successes(
        &self,
        tx: &mut dyn Transaction,
        from: Instant,
        last: Instant,
    ) -> Result<Vec<Success>, EngineError> {
        let filter = RunFilter {
            workflow: Some(self.workflow.id),
            // No window ends after its occurrence.
            from: Some(from),
            to: last.checked_add_ms(1),
            states: vec![RunState::Succeeded],
            ..RunFilter::default()
        };
        let mut successes = Vec::new();
        let mut runs = Pages::new();
        loop {
            runs.fill(|last, page| tx.runs(&filter.page_after(last, page)), |_| true)?;
            let Some(run) = runs.pop() else { break };
            let Window { start, end } = run.plan.window;
            if end > from {
                successes.push(Success { occurrence: self.occurrence(&run), start, end });
            }
        }
        successes.sort_unstable();
        successes.dedup();
        Ok(successes)
    }

    /// The occurrence of the timeline that a run stands for: another tz database may have moved
    /// it, but not its local time.
    fn occurrence(&self, run: &RunRecord) -> Instant {
        const DAY_MS: i64 = 86_400_000;
        let own = run.key.occurrence;
        if run.tzdb == tzdb_version() {
            return own;
        }
        let near = |days| own.checked_add_ms(days * DAY_MS).unwrap_or(own);
        let moved = self.timeline.runs(near(-1), near(1)).flatten();
        let same = moved.filter(|moved| moved.authored.local_ms == run.plan.authored.local_ms);
        let distance = |moved: &Instant| moved.ms_since(own).unsigned_abs();
        same.map(|moved| moved.occurrence).min_by_key(distance).unwrap_or(own)
    }

    fn cover(
        &self,
        successes: Vec<Success>,
        from: Instant,
        to: Instant,
    ) -> Result<Coverage, PlanError> {
        let mut spans = Spans { at: from, to, spans: Vec::new() };
        let silence = self.silence()?;
        let mut windows: Vec<Window> = successes.iter().map(Success::window).collect();
        windows.retain(|window| window.start < to && window.end > from);
        windows.sort_unstable_by_key(|window| window.start);
        for (region, counted) in regions(&windows) {
            let (start, end) = (region.start.max(from), region.end.min(to));
            let region = Window { start, end };
            silence.fill(&mut spans, region.start);
            let sweep = self.sweep(&successes, counted, region)?;
            sweep.each(region, |until, counts| spans.extend(until, class(counts)));
        }
        silence.fill(&mut spans, to);
        Ok(Coverage { spans: spans.spans })
    }

    /// Counts the windows over a region of which every instant is in one of the windows `counted`.
    fn sweep(
        &self,
        successes: &[Success],
        counted: &[Window],
        region: Window,
    ) -> Result<Sweep, PlanError> {
        let mut sweep = Sweep::default();
        for window in counted {
            sweep.add(*window, |counts| &mut counts.counted);
        }
        for run in self.timeline.runs_covering(region.start, region.end) {
            let run = run?;
            sweep.add(run.window, |counts| &mut counts.expected);
            let first = successes.partition_point(|success| success.occurrence < run.occurrence);
            let own = successes[first..].iter().take_while(|own| own.occurrence == run.occurrence);
            let without_success: Which = if self.is_pruned(run.occurrence) {
                |counts| &mut counts.unknown
            } else if run.due > self.now {
                |counts| &mut counts.pending
            } else {
                |counts| &mut counts.missing
            };
            for left in without(run.window, own.map(Success::window)) {
                sweep.add(left, without_success);
            }
        }
        Ok(sweep)
    }

    fn is_pruned(&self, occurrence: Instant) -> bool {
        self.workflow.marks.pruned_before.is_some_and(|horizon| occurrence < horizon)
    }

    /// What holds where nothing succeeded.
    fn silence(&self) -> Result<Silence, PlanError> {
        let due = self.timeline.run_due(self.now).transpose()?.map(|run| run.occurrence);
        let horizon = self.workflow.marks.pruned_before.and_then(|at| at.checked_add_ms(-1));
        let position = plan::Position { cursor: due, registered: Instant::MIN };
        let goes_on = plan::next_due(self.timeline, position, self.now).is_some();
        Ok(Silence {
            unknown_until: self.newest_end(horizon)?,
            missing_until: match goes_on {
                true => self.newest_end(due)?,
                false => self.newest_end(due)?.max(self.now),
            },
        })
    }

    /// The latest end of any window of an occurrence up to `last`.
    fn newest_end(&self, last: Option<Instant>) -> Result<Instant, PlanError> {
        let Some(last) = last else { return Ok(Instant::MIN) };
        let ends = self.revisions.iter().skip(1).map(Revision::after).chain([None]);
        let mut newest = Instant::MIN;
        for end in ends {
            let last = end.map_or(last, |end| end.min(last));
            let run: Option<Run> = self.timeline.run_at_or_before(last).transpose()?;
            newest = newest.max(run.map_or(Instant::MIN, |run| run.window.end));
        }
        Ok(newest)
    }
}

/// What holds where nothing succeeded, from the beginning of time on.
struct Silence {
    unknown_until: Instant,
    missing_until: Instant,
}

impl Silence {
    fn fill(&self, spans: &mut Spans, until: Instant) {
        spans.extend(self.unknown_until.min(until), Cover::Unknown);
        spans.extend(self.missing_until.min(until), Cover::Missing);
        spans.extend(until, Cover::Pending);
    }
}

/// The spans found so far.
struct Spans {
    at: Instant,
    to: Instant,
    spans: Vec<(Window, Cover)>,
}

impl Spans {
    /// Says that it is covered so up to `until`.
    fn extend(&mut self, until: Instant, cover: Cover) {
        let until = until.min(self.to);
        if until <= self.at {
            return;
        }
        match self.spans.last_mut() {
            Some((last, is)) if *is == cover => last.end = until,
            _ => self.spans.push((Window { start: self.at, end: until }, cover)),
        }
        self.at = until;
    }
}

/// How the data is covered where so many windows lie over it.
fn class(counts: &Counts) -> Cover {
    if counts.missing > 0 {
        Cover::Missing
    } else if counts.unknown > 0 {
        Cover::Unknown
    } else if counts.pending > 0 {
        Cover::Pending
    } else if counts.counted > counts.expected.max(1) {
        Cover::Double
    } else {
        Cover::Covered
    }
}

/// The spans that windows, sorted by their start, cover without a hole, each with its windows.
fn regions(windows: &[Window]) -> Vec<(Window, &[Window])> {
    let mut regions: Vec<(Window, &[Window])> = Vec::new();
    let mut first = 0;
    for (index, window) in windows.iter().enumerate() {
        match regions.last_mut() {
            Some((region, of)) if window.start <= region.end => {
                region.end = region.end.max(window.end);
                *of = &windows[first..=index];
            }
            _ => {
                first = index;
                regions.push((*window, &windows[index..=index]));
            }
        }
    }
    regions
}

/// The parts of a window that lie in none of the others.
fn without(window: Window, others: impl Iterator<Item = Window>) -> Vec<Window> {
    let mut left = vec![window];
    for other in others {
        let pieces = left.into_iter().flat_map(|piece| {
            let before = Window { start: piece.start, end: piece.end.min(other.start) };
            let after = Window { start: piece.start.max(other.end), end: piece.end };
            [before, after]
        });
        left = pieces.filter(|piece| piece.start < piece.end).collect();
    }
    left
}

/// The last occurrence that may have a window which begins before `to`, under any revision.
fn last_over(revisions: &[Revision], to: Instant) -> Instant {
    let definitions = revisions.iter().filter_map(Revision::definition);
    let last = definitions.map(|definition| {
        let delayed = to.checked_add_ms(definition.delay_ms());
        let last = match definition.window_ms() {
            Some(window_ms) => delayed.and_then(|to| to.checked_add_ms(window_ms)),
            // A window reaches back to the occurrence before.
            None => delayed.and_then(|to| definition.cadence().at_or_after(to)),
        };
        last.unwrap_or(Instant::MAX)
    });
    last.max().unwrap_or(to)
}

/// The last end of a window by itself that was requested and meets `[from, to)`.
fn last_requested(
    tx: &mut dyn Transaction,
    workflow: &Workflow,
    from: Instant,
    to: Instant,
) -> Result<Instant, EngineError> {
    if workflow.marks.requested.is_none() {
        return Ok(Instant::MIN);
    }
    let windows = requested_windows(&tx.requests(workflow.id)?);
    let meeting = windows.into_iter().filter(|window| window.start < to && window.end > from);
    Ok(meeting.map(|window| window.end).max().unwrap_or(Instant::MIN))
}
