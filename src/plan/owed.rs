//! What is owed now: the runs to start, and what is settled without one.

use crate::schedule::{CatchUp, FirstRun, Policies};
use crate::time::Instant;

use super::run::{PlanError, Run, Skip, SkipReason};
use super::timeline::{Place, Timeline};

/// How far a workflow has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The last settled occurrence.
    pub cursor: Option<Instant>,
    /// When the workflow was registered.
    pub registered: Instant,
}

/// What is owed at an instant, and what is settled without a run.
///
/// Together the skipped ranges and the owed runs are one contiguous stretch of the timeline: the
/// skipped come first, and the cursor moves over all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The ranges that will not run, oldest first.
    pub skipped: Vec<Skip>,
    /// The runs to start.
    pub owed: Option<Owed>,
}

/// A contiguous stretch of owed occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owed {
    /// The oldest.
    pub first: Instant,
    /// The newest.
    pub last: Instant,
    /// How many, at least 1.
    pub count: u64,
    /// The due instant of the oldest.
    pub due: Instant,
}

impl Plan {
    /// Nothing is owed, and nothing skipped.
    pub const NOTHING: Plan = Plan { skipped: Vec::new(), owed: None };

    /// True when nothing would run and nothing would be settled.
    pub fn is_empty(&self) -> bool {
        self.owed.is_none() && self.skipped.is_empty()
    }

    /// The owed runs, oldest first, one at a time.
    pub fn runs<'a>(
        &self,
        timeline: &'a Timeline,
    ) -> impl Iterator<Item = Result<Run, PlanError>> + use<'a> {
        let owed = self.owed;
        let from = owed.map_or(Instant::MAX, |owed| owed.first);
        timeline.runs_from(from).take_while(move |run| {
            owed.is_some_and(|owed| run.as_ref().map_or(true, |run| run.occurrence <= owed.last))
        })
    }
}

/// What is owed at `now`.
///
/// A pure function: the same values give the same plan. Its cost grows at most with the edits and
/// clock changes since the cursor, never with the number of missed occurrences.
pub fn owed(timeline: &Timeline, policies: &Policies, position: Position, now: Instant) -> Plan {
    let Some(newest) = timeline.newest_due(now) else { return Plan::NOTHING };
    let is_first_run = position.cursor.is_none() && policies.first_run == FirstRun::Newest;
    let settled = position.cursor.unwrap_or(position.registered);
    if newest.occurrence <= settled && !is_first_run {
        return Plan::NOTHING;
    }
    let mut skipped = Vec::new();
    let oldest = match policies.catch_up {
        _ if is_first_run => {
            skip_before(timeline, settled, newest, SkipReason::FirstRun, &mut skipped)
        }
        CatchUp::Latest => {
            skip_before(timeline, settled, newest, SkipReason::Superseded, &mut skipped)
        }
        CatchUp::Backfill { limit } => {
            let oldest = oldest_within(timeline, settled, newest, limit);
            skip_before(timeline, settled, oldest, SkipReason::BeyondLimit, &mut skipped)
        }
    };
    let kept = match policies.max_age_ms.and_then(|max_age_ms| now.checked_add_ms(-max_age_ms)) {
        None => Some(oldest),
        Some(oldest_due) => {
            let kept = young_enough(timeline, oldest, newest, oldest_due);
            let last_too_old = kept.map_or(Some(newest), |kept| timeline.before(kept.occurrence));
            // A first run from before registration is dropped without a record.
            if let Some(last) =
                last_too_old.filter(|last| *last >= oldest && last.occurrence > settled)
            {
                skipped.push(range(timeline, oldest, last, SkipReason::TooOld));
            }
            kept
        }
    };
    Plan { skipped, owed: kept.map(|kept| stretch(timeline, kept, newest)) }
}

/// Everything unsettled that is due at `now`, as owed: the plan of a backlog without a limit, which
/// is drained oldest first. Nothing is skipped, whatever `policies` say of catching up and age.
pub fn backlog(timeline: &Timeline, policies: &Policies, position: Position, now: Instant) -> Plan {
    let owed = timeline.newest_due(now).and_then(|newest| {
        let oldest = oldest_unsettled(timeline, policies, position, newest)?;
        Some(stretch(timeline, oldest, newest))
    });
    Plan { skipped: Vec::new(), owed }
}

/// Everything unsettled that is due at `now`, as one skipped range.
pub fn unsettled_due(
    timeline: &Timeline,
    policies: &Policies,
    position: Position,
    now: Instant,
    reason: SkipReason,
) -> Option<Skip> {
    unsettled(timeline, policies, position, timeline.newest_due(now)?, reason)
}

/// Everything unsettled at or before `instant`, due or not, as one skipped range.
pub fn unsettled_until(
    timeline: &Timeline,
    policies: &Policies,
    position: Position,
    instant: Instant,
    reason: SkipReason,
) -> Option<Skip> {
    unsettled(timeline, policies, position, timeline.at_or_before(instant)?, reason)
}

fn unsettled(
    timeline: &Timeline,
    policies: &Policies,
    position: Position,
    last: Place,
    reason: SkipReason,
) -> Option<Skip> {
    let first = oldest_unsettled(timeline, policies, position, last)?;
    Some(range(timeline, first, last, reason))
}

/// The oldest unsettled place up to `last`.
fn oldest_unsettled(
    timeline: &Timeline,
    policies: &Policies,
    position: Position,
    last: Place,
) -> Option<Place> {
    let after = timeline.after(position.cursor.unwrap_or(position.registered));
    match after.filter(|first| *first <= last) {
        // The one occurrence from before registration that a first run would take.
        None if position.cursor.is_none() && policies.first_run == FirstRun::Newest => Some(last),
        first => first,
    }
}

/// The parts of a skipped range between some of its occurrences that are not skipped after all;
/// those are given in order.
pub fn pass_over(timeline: &Timeline, skip: Skip, kept: &[Instant]) -> Vec<Skip> {
    let firsts = std::iter::once(timeline.at_or_after(skip.first))
        .chain(kept.iter().map(|kept| timeline.after(*kept)));
    let lasts = kept
        .iter()
        .map(|kept| timeline.before(*kept))
        .chain(std::iter::once(timeline.at_or_before(skip.last)));
    firsts
        .zip(lasts)
        .filter_map(|(first, last)| first.zip(last))
        .filter(|(first, last)| first <= last)
        .map(|(first, last)| range(timeline, first, last, skip.reason))
        .collect()
}

/// Skips everything after `settled` and before `kept`, and gives back `kept`.
fn skip_before(
    timeline: &Timeline,
    settled: Instant,
    kept: Place,
    reason: SkipReason,
    skipped: &mut Vec<Skip>,
) -> Place {
    let missed = timeline.after(settled).zip(timeline.before(kept.occurrence));
    skipped.extend(
        missed
            .filter(|(first, last)| first <= last)
            .map(|(first, last)| range(timeline, first, last, reason)),
    );
    kept
}

/// The oldest of at most `limit` occurrences between `settled` and `newest`, or `newest` itself.
fn oldest_within(timeline: &Timeline, settled: Instant, newest: Place, limit: u32) -> Place {
    let missed = timeline.count_between(settled, newest.occurrence);
    match missed.min(u64::from(limit)) {
        0 => newest,
        kept => timeline.nth_before(newest.occurrence, kept).unwrap_or(newest),
    }
}

/// The first place from `oldest` to `newest` that was due at `oldest_due` or later.
fn young_enough(
    timeline: &Timeline,
    oldest: Place,
    newest: Place,
    oldest_due: Instant,
) -> Option<Place> {
    timeline
        .due_at_or_after(oldest_due)
        .map(|place| place.max(oldest))
        .filter(|place| *place <= newest)
}

fn range(timeline: &Timeline, first: Place, last: Place, reason: SkipReason) -> Skip {
    Skip {
        first: first.occurrence,
        last: last.occurrence,
        count: count(timeline, first, last),
        reason,
        revision: timeline.revision(last),
    }
}

fn stretch(timeline: &Timeline, first: Place, last: Place) -> Owed {
    Owed {
        first: first.occurrence,
        last: last.occurrence,
        count: count(timeline, first, last),
        due: timeline.due(first),
    }
}

/// How many occurrences lie from `first` to `last`, both counted.
fn count(timeline: &Timeline, first: Place, last: Place) -> u64 {
    if first == last { 1 } else { timeline.count_between(first.occurrence, last.occurrence) + 2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Revision;
    use crate::schedule::{Definition, Phase, Reference};
    use crate::time::{Cadence, Calendar, Days, Dst, Interval, TimeOfDay, Times, Zone, steps};

    const YEAR_MS: i64 = 365 * 86_400_000;

    fn timeline(cadence: Cadence) -> Timeline {
        let definition = Definition {
            cadence,
            delay_ms: 0,
            window_ms: None,
            phase: Phase::Fixed { phase_ms: 0 },
        };
        let reference = Reference::new("a").unwrap();
        Timeline::new(&[Revision::new(&reference, 1, None, Some(definition))])
    }

    /// The plan after an outage of `years`, and the steps it took.
    fn after_outage(timeline: &Timeline, catch_up: CatchUp, years: i64) -> (Plan, u64) {
        let registered: Instant = "2016-01-01T00:00:00Z".parse().unwrap();
        let position = Position { cursor: Some(registered), registered };
        let now = registered.checked_add_ms(years * YEAR_MS).unwrap();
        let policies = Policies { catch_up, max_age_ms: Some(40 * YEAR_MS), ..Policies::default() };
        steps::of(|| owed(timeline, &policies, position, now))
    }

    #[test]
    fn a_ten_year_outage_of_a_one_second_schedule_is_planned_without_walking_it() {
        let timeline = timeline(Cadence::Interval(Interval::from_ms(1_000).unwrap()));
        for catch_up in [CatchUp::Latest, CatchUp::Backfill { limit: 100_000 }] {
            let (plan, steps) = after_outage(&timeline, catch_up, 10);
            let skipped: u64 = plan.skipped.iter().map(|skip| skip.count).sum();
            assert_eq!(skipped + plan.owed.unwrap().count, 315_360_000);
            assert!(steps <= 40, "{steps} steps under {catch_up:?}");
        }
    }

    #[test]
    fn a_backlog_of_any_length_is_owed_from_its_oldest_without_walking_it() {
        let timeline = timeline(Cadence::Interval(Interval::from_ms(1_000).unwrap()));
        let registered: Instant = "2016-01-01T00:00:00Z".parse().unwrap();
        let position = Position { cursor: Some(registered), registered };
        let now = registered.checked_add_ms(10 * YEAR_MS).unwrap();
        let policies = Policies { max_age_ms: Some(0), ..Policies::default() };
        let (plan, steps) = steps::of(|| backlog(&timeline, &policies, position, now));
        let owed = plan.owed.unwrap();
        assert_eq!(
            (owed.count, owed.first),
            (315_360_000, "2016-01-01T00:00:01Z".parse().unwrap())
        );
        assert!(plan.skipped.is_empty() && steps <= 40, "{steps} steps");
        let settled = Position { cursor: Some(now), ..position };
        assert!(backlog(&timeline, &policies, settled, now).is_empty());
        assert!(backlog(&timeline, &policies, settled, registered).is_empty(), "set back");
    }

    #[test]
    fn a_long_outage_of_a_calendar_costs_no_more_steps_than_a_short_one() {
        // Not 02:30, which a gap would shift onto 03:30.
        let hours = (0..24).filter(|&hour| hour != 2);
        let times: Vec<TimeOfDay> =
            hours.map(|hour| format!("{hour:02}:30").parse().unwrap()).collect();
        let zone = Zone::get("Europe/Amsterdam").unwrap();
        let timeline = timeline(Cadence::Calendar(Calendar::new(
            Days::every(),
            Times::new(&times).unwrap(),
            zone,
            Dst::default(),
        )));
        let (latest, steps_of_one_year) = after_outage(&timeline, CatchUp::Latest, 1);
        assert_eq!(latest.skipped[0].count + 1, 365 * 23);
        let (latest, steps_of_thirty_years) = after_outage(&timeline, CatchUp::Latest, 30);
        assert_eq!(latest.skipped[0].count + 1, 30 * 365 * 23);
        assert_eq!(steps_of_one_year, steps_of_thirty_years);
        // Bisecting for the oldest of the backfill costs some steps, but not one per occurrence.
        let (backfill, steps) = after_outage(&timeline, CatchUp::Backfill { limit: 100_000 }, 30);
        assert_eq!(backfill.owed.unwrap().count, 100_001);
        assert!(steps <= 400, "{steps} steps");
    }
}
