//! Fair shares: whose owed run goes next where not all of them can go.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Peekable;

use crate::time::Instant;

use super::run::{PlanError, Run};

/// One of several that want their owed runs handed out.
#[derive(Debug, Clone)]
pub struct Claimant<I> {
    /// When it was last handed one.
    pub last_handed: Option<Instant>,
    /// Its owed runs, oldest first.
    pub owed: I,
}

/// The owed runs of all claimants in the order in which they are to be handed out at `now`, each
/// with the position of its claimant.
///
/// They go in rounds, one run each. A claimant's *turn* is the later of the occurrence of its oldest
/// owed run and the instant it was last handed one. In the first round the least turn goes first,
/// in each later one the oldest occurrence; then the position decides. So wherever the runs are
/// cut short, those who have waited longest go first the next time.
pub fn shares<I>(
    claimants: impl IntoIterator<Item = Claimant<I>>,
    now: Instant,
) -> impl Iterator<Item = (usize, Result<Run, PlanError>)>
where
    I: Iterator<Item = Result<Run, PlanError>>,
{
    let mut owed: Vec<Peekable<I>> = Vec::new();
    let mut queue = BinaryHeap::new();
    for (position, claimant) in claimants.into_iter().enumerate() {
        let mut runs = claimant.owed.peekable();
        // What was handed out later than now was so before the clock was set back.
        let last_handed = claimant.last_handed.filter(|handed| *handed <= now);
        queue.extend(oldest(&mut runs).map(|occurrence| {
            let turn = last_handed.map_or(occurrence, |handed| handed.max(occurrence));
            Reverse(Next { round: 0, turn, occurrence, position })
        }));
        owed.push(runs);
    }
    std::iter::from_fn(move || {
        let Reverse(Next { round, position, .. }) = queue.pop()?;
        let runs = owed.get_mut(position)?;
        let run = runs.next()?;
        queue.extend(oldest(runs).map(|occurrence| {
            Reverse(Next { round: round + 1, turn: occurrence, occurrence, position })
        }));
        Some((position, run))
    })
}

/// A claimant that is to be handed one; the least goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Next {
    round: u64,
    turn: Instant,
    occurrence: Instant,
    position: usize,
}

/// The occurrence of the oldest owed run.
fn oldest<I>(runs: &mut Peekable<I>) -> Option<Instant>
where
    I: Iterator<Item = Result<Run, PlanError>>,
{
    match runs.peek()? {
        Ok(run) => Some(run.occurrence),
        Err(PlanError::Range { occurrence, .. }) => Some(*occurrence),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Authored, Resolution, Window};

    /// A run, of which only the occurrence counts here.
    fn run(hour: i64) -> Result<Run, PlanError> {
        let occurrence = at(hour);
        Ok(Run {
            occurrence,
            due: occurrence,
            window: Window { start: occurrence, end: occurrence },
            interval_ms: 0,
            phase_ms: 0,
            revision: 1,
            authored: Authored { local_ms: 0, resolution: Resolution::Exact },
        })
    }

    fn at(hour: i64) -> Instant {
        Instant::from_ms(hour * 3_600_000).unwrap()
    }

    /// Claimants, each with when it was last handed one and the hours it owes, share at hour 12.
    #[track_caller]
    fn check(claimants: &[(Option<i64>, &[i64])], expected: &[(usize, i64)]) {
        let claimants = claimants.iter().map(|(handed, hours)| Claimant {
            last_handed: handed.map(at),
            owed: hours.iter().map(|hour| run(*hour)),
        });
        let shared: Vec<(usize, i64)> = shares(claimants, at(12))
            .map(|(position, run)| (position, run.unwrap().occurrence.as_ms() / 3_600_000))
            .collect();
        assert_eq!(shared, expected);
    }

    #[test]
    fn they_go_in_rounds_and_by_occurrence_within_a_round() {
        check(&[(None, &[]), (None, &[])], &[]);
        check(
            &[(None, &[3, 4]), (None, &[1]), (None, &[2, 5])],
            &[(1, 1), (2, 2), (0, 3), (0, 4), (2, 5)],
        );
        check(
            &[(None, &[1, 2, 3, 4]), (None, &[9, 10])],
            &[(0, 1), (1, 9), (0, 2), (1, 10), (0, 3), (0, 4)],
        );
        check(&[(None, &[1, 2, 3]), (None, &[9])], &[(0, 1), (1, 9), (0, 2), (0, 3)]);
        check(&[(None, &[1, 2]), (None, &[1, 2])], &[(0, 1), (1, 1), (0, 2), (1, 2)]);
    }

    #[test]
    fn those_who_were_handed_one_wait_for_those_who_were_not() {
        check(&[(Some(11), &[1, 2]), (None, &[9])], &[(1, 9), (0, 1), (0, 2)]);
        check(&[(Some(11), &[1]), (Some(10), &[9])], &[(1, 9), (0, 1)]);
        // A turn later than now is from before the clock was set back, and counts for nothing.
        check(&[(Some(13), &[1]), (None, &[9])], &[(0, 1), (1, 9)]);
    }
}
