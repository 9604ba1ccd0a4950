//! English for lists, ordinals and spans.

use crate::time::MS_PER_DAY;

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list<T: AsRef<str>>(items: &[T], last: &str) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => items.concat(),
    }
}

/// Ascending numbers by their names, three neighbours or more as a range.
pub(super) fn ranges(numbers: &[u32], name: impl Fn(u32) -> String) -> Vec<String> {
    let mut named = Vec::new();
    for run in numbers.chunk_by(|one, next| one + 1 == *next) {
        match run {
            [first, _, .., last] => named.push(format!("{} to {}", name(*first), name(*last))),
            few => named.extend(few.iter().map(|number| name(*number))),
        }
    }
    named
}

/// `1st`, `2nd`, `3rd`, `4th`.
pub(super) fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100 / 10) {
        (_, 1) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

const UNITS: [(i64, &str); 5] = [
    (MS_PER_DAY, "day"),
    (3_600_000, "hour"),
    (60_000, "minute"),
    (1_000, "second"),
    (1, "millisecond"),
];

/// `5 minutes`, `1 hour 30 minutes`.
pub(super) fn span(ms: i64) -> String {
    let mut rest_ms = ms;
    let mut parts = Vec::new();
    for (unit_ms, unit) in UNITS {
        let count = rest_ms / unit_ms;
        rest_ms %= unit_ms;
        if count > 0 {
            parts.push(counted(count, unit));
        }
    }
    if parts.is_empty() { "no time".to_owned() } else { parts.join(" ") }
}

/// `5 minutes`, but `minute` for one.
pub(super) fn every_span(ms: i64) -> String {
    match UNITS.iter().find(|(unit_ms, _)| *unit_ms == ms) {
        Some((_, unit)) => (*unit).to_owned(),
        None => span(ms),
    }
}

/// `1 run`, `2 runs`.
pub(super) fn counted(count: i64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        assert_eq!(list(&["a"], "and"), "a");
        assert_eq!(list(&["a", "b"], "or"), "a or b");
        assert_eq!(list(&["a", "b", "c"], "and"), "a, b and c");
        assert_eq!(ranges(&[1, 2, 4, 5, 6, 9], ordinal), ["1st", "2nd", "4th to 6th", "9th"]);
    }

    #[test]
    fn ordinals() {
        let all: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 31].map(ordinal).into();
        let expected = "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 23rd 31st";
        assert_eq!(all.join(" "), expected);
    }

    #[test]
    fn spans() {
        assert_eq!(span(90_060_500), "1 day 1 hour 1 minute 500 milliseconds");
        assert_eq!(span(0), "no time");
        assert_eq!(every_span(60_000), "minute");
        assert_eq!(every_span(120_000), "2 minutes");
    }
}
