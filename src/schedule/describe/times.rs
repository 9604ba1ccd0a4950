//! The times of day of a calendar cadence in words.

use crate::time::{TimeOfDay, Times};

use super::words::{counted, list, ordinal, ranges};

/// Up to so many times are listed.
const LISTED_AT_MOST: usize = 8;

const EVERY_HOUR: u32 = (1 << 24) - 1;

/// How the times of day are said.
pub(super) enum Said {
    /// After the days: `at 07:00 and 19:00`.
    At(String),
    /// Before the days: `every 5 minutes from 09:00 to 17:55`.
    Often(String),
}

pub(super) fn times(times: &Times) -> Said {
    let first: Vec<TimeOfDay> = times.iter().take(LISTED_AT_MOST + 1).collect();
    if first.len() <= LISTED_AT_MOST {
        let texts: Vec<String> = first.iter().map(TimeOfDay::to_string).collect();
        return Said::At(format!("at {}", list(&texts, "and")));
    }
    match times.as_grid() {
        Some(grid) => Said::Often(often(ones(grid.minutes), grid.hours, times)),
        None => {
            let count = counted(times.per_day(), "time");
            Said::At(format!("at {count} from {}", edges(times)))
        }
    }
}

/// Some minutes of some hours, more than a list would hold.
fn often(minutes: Vec<u32>, hours: u32, times: &Times) -> String {
    let is_contiguous = (hours >> hours.trailing_zeros()).trailing_ones() == hours.count_ones();
    let all = ones(u64::from(hours));
    let of_hours = match (hours, step(&all, 24)) {
        (EVERY_HOUR, _) => "of every hour".to_owned(),
        (_, Some(step)) => format!("of every {} hour", ordinal(step)),
        (_, None) if all.len() == 1 => format!("of the hour {}", number_list(&all)),
        (_, None) => format!("of the hours {}", number_list(&all)),
    };
    match step(&minutes, 60) {
        Some(step) => {
            let every = if step == 1 { "minute".to_owned() } else { format!("{step} minutes") };
            match hours {
                EVERY_HOUR => format!("every {every}"),
                _ if is_contiguous => format!("every {every} from {}", edges(times)),
                _ => format!("every {every} {of_hours}"),
            }
        }
        None => {
            let at = match minutes.as_slice() {
                [only] => format!("at minute {only}"),
                _ => format!("at the minutes {}", number_list(&minutes)),
            };
            format!("{at} {of_hours}")
        }
    }
}

/// The step of values that go round evenly from 0, if they do.
fn step(values: &[u32], length: u32) -> Option<u32> {
    let step = *values.get(1)?;
    let is_even = values.iter().zip(0..).all(|(value, index)| *value == index * step);
    (is_even && step * values.len() as u32 == length).then_some(step)
}

/// The first and the last time.
fn edges(times: &Times) -> String {
    format!("{} to {}", times.earliest(), times.latest())
}

fn number_list(numbers: &[u32]) -> String {
    list(&ranges(numbers, |number| number.to_string()), "and")
}

/// The bits that are set, ascending.
pub(super) fn ones(set: u64) -> Vec<u32> {
    (0..u64::BITS).filter(|bit| set >> bit & 1 == 1).collect()
}
