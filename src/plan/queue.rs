//! A workflow's place in the queue: when it must be looked at, and when it is its turn.

use crate::time::Instant;

use super::owed::{Plan, Position};
use super::timeline::{Place, Timeline};

/// A workflow's place in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The later of the due instant of its oldest owed run and the instant it was last handed
    /// one. The least turn goes first, so no backlog starves anyone.
    pub turn: Instant,
    /// The due instant of its oldest unsettled occurrence: before it there is nothing to do.
    pub due: Instant,
}

/// The place in the queue after `plan`, which is what the workflow owes at `now`; `None` when its
/// timeline holds nothing more. As `now` moves on, the turn moves only later.
pub fn turn(
    timeline: &Timeline,
    position: Position,
    last_handed: Option<Instant>,
    plan: &Plan,
    now: Instant,
) -> Option<Turn> {
    let unsettled =
        plan.skipped.first().map(|skip| skip.first).or(plan.owed.map(|owed| owed.first));
    let due = match unsettled.and_then(|oldest| timeline.at_or_after(oldest)) {
        // A first run takes the newest whenever it is asked, also after the clock was set back.
        Some(_) if position.cursor.is_none() => Instant::MIN,
        Some(oldest) => timeline.due(oldest),
        // So a first run that was dropped as too old stays dropped when the clock is set back.
        None => next_due(timeline, position, now)?,
    };
    let owed = plan.owed.map_or(due, |owed| owed.due);
    Some(Turn { turn: last_handed.map_or(owed, |handed| handed.max(owed)), due })
}

/// The due instant of the first unsettled occurrence that is not due at `now` yet.
pub fn next_due(timeline: &Timeline, position: Position, now: Instant) -> Option<Instant> {
    first_to_come(timeline, position, now).and_then(|place| timeline.due_in_range(place))
}

/// The first unsettled occurrence that is not due yet.
fn first_to_come(timeline: &Timeline, position: Position, now: Instant) -> Option<Place> {
    let to_come = timeline.due_at_or_after(now.checked_add_ms(1)?)?;
    match position.cursor {
        None => Some(to_come),
        Some(cursor) => timeline.after(cursor).map(|unsettled| unsettled.max(to_come)),
    }
}
