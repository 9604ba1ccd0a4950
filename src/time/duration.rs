//! Durations as text: humantime's notation, narrowed to what cannot be misread.

use super::instant::{MS_PER_DAY, MS_PER_SECOND};

/// A text is not a duration of this format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a duration: {problem}")]
pub struct DurationError {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to write instead, where that is known.
    pub hint: Option<String>,
}

/// The longest duration: 3,660 days.
pub const MAX_MS: i64 = 3_660 * MS_PER_DAY;

/// The most digits of one number.
const DIGITS_AT_MOST: usize = 12;

/// The units, longest first, each with its length and humantime's names for it. The first name is
/// the one that [`format_ms`] writes.
const UNITS: [(i64, &[&str]); 6] = [
    (7 * MS_PER_DAY, &["w", "week", "weeks", "wk", "wks"]),
    (MS_PER_DAY, &["d", "day", "days"]),
    (3_600 * MS_PER_SECOND, &["h", "hr", "hrs", "hour", "hours"]),
    (60 * MS_PER_SECOND, &["m", "min", "mins", "minute", "minutes"]),
    (MS_PER_SECOND, &["s", "sec", "secs", "second", "seconds"]),
    (1, &["ms", "msec", "millis"]),
];

/// What a fault says, before the whole text is put beside it.
type Fault = (&'static str, Option<String>);

/// Reads a duration in milliseconds, 0 to [`MAX_MS`]: groups of 1 to 12 digits and a unit of
/// milliseconds, seconds, minutes, hours, days or weeks, no unit twice; one space may stand
/// between a number and its unit and between groups.
///
/// ```
/// use windowpane::time::duration;
///
/// assert_eq!(duration::parse_ms("1h 30m"), Ok(5_400_000));
/// assert_eq!(duration::parse_ms("1.5h").unwrap_err().hint.as_deref(), Some("write `90m`"));
/// ```
///
/// # Errors
/// [`DurationError`] names the fault and, where one is known, the remedy.
pub fn parse_ms(text: &str) -> Result<i64, DurationError> {
    read(text).map_err(|(problem, hint)| DurationError {
        text: text.to_owned(),
        problem: problem.to_owned(),
        hint,
    })
}

fn read(text: &str) -> Result<i64, Fault> {
    check(text)?;
    // Checked above, so that humantime sees only what both read alike.
    let duration = humantime::parse_duration(text).map_err(|_| ("it cannot be read", None))?;
    match i64::try_from(duration.as_millis()) {
        Ok(ms) if ms <= MAX_MS => Ok(ms),
        _ => Err(("it is longer than 3660 days", None)),
    }
}

/// Holds a text to the narrow grammar.
fn check(text: &str) -> Result<(), Fault> {
    let mut rest = text;
    let mut used = [false; UNITS.len()];
    if rest.is_empty() {
        return Err(("it is empty", Some("write a number with a unit, such as `30s`".to_owned())));
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = rest.split_at(digits);
        if digits == 0 || digits > DIGITS_AT_MOST {
            return Err(not_a_number(text, rest, digits));
        }
        let behind = behind.strip_prefix(' ').unwrap_or(behind);
        let letters = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, behind) = behind.split_at(letters);
        let Some(unit) = UNITS.iter().position(|(_, names)| names.contains(&name)) else {
            return Err(not_a_unit(text, number, name, behind));
        };
        if std::mem::replace(&mut used[unit], true) {
            return Err(("it has the same unit twice", None));
        }
        rest = match behind.strip_prefix(' ') {
            Some("") => {
                return Err((
                    "it ends with white space",
                    Some(format!("write `{}`", text.trim_end())),
                ));
            }
            Some(group) => group,
            None => behind,
        };
    }
    Ok(())
}

fn not_a_number(text: &str, rest: &str, digits: usize) -> Fault {
    if digits > 0 {
        return ("a number has more than 12 digits", None);
    }
    match rest.as_bytes()[0] {
        b'+' | b'-' => {
            ("a duration has no sign", Some(format!("write `{}`", text.replace(['+', '-'], ""))))
        }
        b'.' | b',' => ("a duration has no fraction", Some("use a smaller unit".to_owned())),
        b' ' | b'\t' => {
            ("white space is out of place", Some("use at most one space between parts".to_owned()))
        }
        b'P' | b'p' => {
            ("ISO 8601 notation is not read", Some("write it such as `1h30m`".to_owned()))
        }
        _ => ("a number is missing", Some("write a number with a unit, such as `30s`".to_owned())),
    }
}

fn not_a_unit(text: &str, number: &str, name: &str, behind: &str) -> Fault {
    const FRACTION: &str = "a duration has no fraction";
    if name.is_empty() {
        return match behind.as_bytes().first() {
            None => (
                "a unit is missing",
                Some(format!("write `{number}s` for seconds, or another unit")),
            ),
            Some(b'.' | b',') => {
                (FRACTION, without_fraction(text).map(|text| format!("write `{text}`")))
            }
            _ => ("a unit is missing", Some("use ms, s, m, h, d or w".to_owned())),
        };
    }
    match name {
        "M" => (
            "`M` is a month, which has no fixed length",
            Some(format!("write `{number}m` for minutes, or use a month cadence")),
        ),
        "month" | "months" | "mo" => (
            "a month has no fixed length",
            Some("use a month cadence, or a number of days".to_owned()),
        ),
        "y" | "yr" | "yrs" | "year" | "years" => {
            ("a year has no fixed length", Some("use a number of days".to_owned()))
        }
        "us" | "usec" | "ns" | "nsec" | "micros" | "nanos" => {
            ("it is finer than a millisecond", Some("use a number of ms".to_owned()))
        }
        _ => {
            let lower = name.to_ascii_lowercase();
            let known = UNITS.iter().find(|(_, names)| names.contains(&lower.as_str()));
            let hint = known.map_or("use ms, s, m, h, d or w".to_owned(), |_| {
                format!("write `{number}{lower}`")
            });
            ("there is no such unit", Some(hint))
        }
    }
}

/// `1.5h` as `90m`: the same length in whole numbers, where there is one.
fn without_fraction(text: &str) -> Option<String> {
    let (whole, rest) = text.split_once(['.', ','])?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, name) = rest.split_at(digits);
    let (unit_ms, _) = UNITS.iter().find(|(_, names)| names.contains(&name))?;
    let scale = 10_i64.checked_pow(u32::try_from(digits).ok()?)?;
    let scaled = format!("{whole}{fraction}").parse::<i64>().ok()?.checked_mul(*unit_ms)?;
    let ms = (scaled % scale == 0).then_some(scaled / scale)?;
    let (smaller_ms, names) = UNITS.iter().find(|(unit, _)| ms % unit == 0 && unit < unit_ms)?;
    Some(format!("{}{}", ms / smaller_ms, names[0]))
}

/// The shortest text that [`parse_ms`] reads back as `ms`, which is at least 0: the largest unit
/// that divides it, but no weeks.
pub fn format_ms(ms: i64) -> String {
    let unit = UNITS[1..].iter().find(|(unit_ms, _)| ms != 0 && ms % unit_ms == 0);
    let (unit_ms, name) =
        unit.map_or((MS_PER_SECOND, "s"), |(unit_ms, names)| (*unit_ms, names[0]));
    format!("{}{name}", ms / unit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, hint: &str) {
        let error = parse_ms(text).expect_err(text);
        assert_eq!(error.hint.as_deref().unwrap_or("none"), hint, "{error}");
    }

    #[test]
    fn what_is_read() {
        let read = [
            ("0s", 0),
            ("30s", 30_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("1 h 30 m", 5_400_000),
            ("30m1h", 5_400_000),
            ("2days", 172_800_000),
            ("1500ms", 1_500),
            ("1w", 604_800_000),
            ("3660d", MAX_MS),
            ("000000000001s", 1_000),
        ];
        for (text, ms) in read {
            assert_eq!(parse_ms(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn what_is_refused_says_what_to_write() {
        refused("1.5h", "write `90m`");
        refused("0.5s", "write `500ms`");
        refused("1.0001ms", "none");
        refused("1M", "write `1m` for minutes, or use a month cadence");
        refused("1month", "use a month cadence, or a number of days");
        refused("4y", "use a number of days");
        refused("5", "write `5s` for seconds, or another unit");
        refused("-5m", "write `5m`");
        refused("+5m", "write `5m`");
        refused("5H", "write `5h`");
        refused("5µs", "use ms, s, m, h, d or w");
        refused("5us", "use a number of ms");
        refused("PT5M", "write it such as `1h30m`");
        refused("5m ", "write `5m`");
        for text in [
            "",
            " 5m",
            "5  m",
            "5\u{a0}m",
            "5m\n",
            "5m5m",
            "5m 5min",
            "1 000s",
            "1000000000000s",
            "3661d",
            "1h5",
            "18446744073709551615s 1000000000ns",
        ] {
            assert!(parse_ms(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn every_name_of_a_unit_is_humantimes() {
        for (unit_ms, names) in UNITS {
            for name in names {
                assert_eq!(parse_ms(&format!("3{name}")), Ok(3 * unit_ms), "{name}");
            }
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for ms in [0, 1, 999, 1_000, 90_000, 5_400_000, 86_400_000, 604_800_000, MAX_MS, MAX_MS - 1]
        {
            assert_eq!(parse_ms(&format_ms(ms)), Ok(ms));
        }
        assert_eq!(format_ms(5_400_000), "90m");
        assert_eq!(format_ms(604_800_000), "7d");
    }
}
