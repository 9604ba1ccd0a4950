//! What was probably meant, where a value is at fault.

use std::str::FromStr;

use crate::schedule::fault::nearest;
use crate::schedule::raw::Value;
use crate::time::{IntervalError, TimeOfDay, Weekday, Zone, duration};

/// What people call a cadence, and how to write it.
const CADENCE_WORDS: [(&[&str], &str); 5] = [
    (&["minutely", "minute", "@minutely"], "\"1m\""),
    (&["hourly", "hour", "@hourly"], "\"1h\""),
    (&["daily", "day", "nightly", "@daily", "@midnight"], "{\"day\": {\"at\": \"00:00\"}}"),
    (&["weekly", "week", "@weekly"], "{\"week\": {\"on\": \"monday\"}}"),
    (&["monthly", "month", "@monthly"], "{\"month\": {\"on\": 1}}"),
];

/// How to write a cadence that stands as a text where an interval is meant.
pub(super) fn cadence_for(value: &Value<'_>) -> Option<String> {
    let Value::String(text) = value else { return None };
    let text = text.trim().to_lowercase();
    if let Some((_, form)) = CADENCE_WORDS.iter().find(|(words, _)| words.contains(&&*text)) {
        return Some(format!("write {form}"));
    }
    let is_cron = text.starts_with('@') || text.contains('*');
    is_cron.then(|| "write a cron expression as {\"cron\": \"M H DOM MON DOW\"}".to_owned())
}

/// How to write as an object what stands as a word or a list: `"latest"`, `"30s"` for a phase, or
/// the times of a day.
pub(super) fn object_for(value: &Value<'_>, known: &[&str]) -> Option<String> {
    match value {
        Value::String(text) if known.contains(&&**text) => {
            Some(format!("write {{\"{text}\": {{…}}}}"))
        }
        Value::String(text) if known.contains(&"fixed") && duration::parse_ms(text).is_ok() => {
            Some(format!("write {{\"fixed\": \"{text}\"}}"))
        }
        Value::String(text) if known == ["at"] && text.parse::<TimeOfDay>().is_ok() => {
            Some(format!("write {{\"at\": \"{text}\"}}"))
        }
        Value::Array(_) if known == ["at"] => Some("write {\"at\": […]}".to_owned()),
        _ => None,
    }
}

/// The intervals on both sides of one that is not on the grid.
pub(super) fn nearest_intervals(ms: i64, error: IntervalError) -> Option<String> {
    let (shorter_ms, longer_ms) = match error {
        IntervalError::OffGrid { shorter_ms, longer_ms } => (shorter_ms, longer_ms),
        IntervalError::NotWholeSeconds if ms < 1_000 => return Some("use `1s`".to_owned()),
        IntervalError::NotWholeSeconds => (ms / 1_000 * 1_000, (ms / 1_000 + 1) * 1_000),
        _ => return None,
    };
    let [shorter, longer] = [shorter_ms, longer_ms].map(duration::format_ms);
    Some(format!("use `{shorter}` or `{longer}`"))
}

/// `7:00`, `0700`, `7` and `7pm` as they should be written.
pub(super) fn time(text: &str) -> String {
    time_meant(text).unwrap_or_else(|| match text {
        "24:00" | "24:00:00" => "write `00:00`, of the next day".to_owned(),
        _ => "write HH:MM or HH:MM:SS, 00:00 to 23:59:59".to_owned(),
    })
}

fn time_meant(text: &str) -> Option<String> {
    let lower = text.trim().to_ascii_lowercase();
    let (digits, afternoon) = match lower.strip_suffix("pm") {
        Some(before) => (before.trim_end(), true),
        None => (lower.strip_suffix("am").unwrap_or(&lower).trim_end(), false),
    };
    let mut numbers = Vec::new();
    let is_compact = matches!(digits.len(), 4 | 6) && digits.bytes().all(|b| b.is_ascii_digit());
    if is_compact {
        numbers.extend(digits.as_bytes().chunks(2).filter_map(two_digits));
    } else {
        for part in digits.split([':', '.', 'h']) {
            numbers.push(two_digits(part.as_bytes())?);
        }
    }
    let half = if afternoon && *numbers.first()? < 12 { 12 } else { 0 };
    *numbers.first_mut()? += half;
    if numbers.len() == 1 {
        numbers.push(0);
    }
    let written: Vec<String> = numbers.iter().map(|number| format!("{number:02}")).collect();
    let written = written.join(":");
    TimeOfDay::from_str(&written).ok().map(|_| format!("write `{written}`"))
}

fn two_digits(text: &[u8]) -> Option<u32> {
    (1..=2).contains(&text.len()).then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

/// The weekday that was probably meant: `Mon`, `MONDAY`, `mondya`, or 1.
pub(super) fn weekday(value: &Value<'_>) -> String {
    match weekday_meant(value) {
        Some(weekday) => format!("write \"{weekday}\""),
        None => "write \"monday\" to \"sunday\"".to_owned(),
    }
}

fn weekday_meant(value: &Value<'_>) -> Option<&'static str> {
    let names = Weekday::ALL.map(Weekday::as_str);
    // 1 is Monday to everybody; 0 and 7 are Sunday to cron.
    let numbered = |number: i128| names.get(usize::try_from((number + 6) % 7).ok()?).copied();
    match value {
        Value::Integer(number @ 0..=7) => numbered(*number),
        Value::String(text) => {
            let lower = text.trim().to_lowercase();
            if let Ok(number @ 0..=7) = lower.parse() {
                return numbered(number);
            }
            let begins =
                names.into_iter().find(|name| lower.len() >= 2 && name.starts_with(&lower));
            begins.or_else(|| nearest(&lower, names))
        }
        _ => None,
    }
}

/// The day of the month that was probably meant: `"1"`, `"first"`, `"1st"`, -1, 12.0.
pub(super) fn day(value: &Value<'_>) -> String {
    match value {
        Value::Integer(-1 | 0) => "write \"last\" for the last day".to_owned(),
        Value::Float(day) if day.fract() == 0.0 && (1.0..=31.0).contains(day) => {
            format!("write {day}, without fraction and exponent")
        }
        Value::String(text) => day_named(&text.trim().to_lowercase()),
        _ => "write 1 to 31, or \"last\"".to_owned(),
    }
}

fn day_named(lower: &str) -> String {
    let digits = lower.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    match digits.parse::<u8>() {
        Ok(day @ 1..=31) => format!("write {day}, without quotes"),
        _ if lower == "first" => "write 1, without quotes".to_owned(),
        _ if nearest(lower, ["last"]).is_some() => "write \"last\"".to_owned(),
        _ => "write 1 to 31, or \"last\"".to_owned(),
    }
}

/// Abbreviations that are no zones of the tz database, and a zone that uses each.
const ABBREVIATIONS: [(&str, &str); 12] = [
    ("z", "UTC"),
    ("pst", "America/Los_Angeles"),
    ("pdt", "America/Los_Angeles"),
    ("mdt", "America/Denver"),
    ("cst", "America/Chicago"),
    ("cdt", "America/Chicago"),
    ("edt", "America/New_York"),
    ("bst", "Europe/London"),
    ("cest", "Europe/Berlin"),
    ("ist", "Asia/Kolkata"),
    ("jst", "Asia/Tokyo"),
    ("aest", "Australia/Sydney"),
];

/// The zone that was probably meant; `spelling` is that of the tz database, where only case
/// differs.
pub(super) fn zone(text: &str, spelling: Option<String>) -> String {
    let meant = spelling.or_else(|| zone_meant(text).map(str::to_owned));
    match meant {
        Some(name) => format!("did you mean `{name}`?"),
        None => "use an IANA name such as `Europe/Amsterdam`, or `UTC`".to_owned(),
    }
}

fn zone_meant(text: &str) -> Option<&'static str> {
    let lower = text.trim().to_lowercase().replace(' ', "_");
    if let Some((_, name)) = ABBREVIATIONS.iter().find(|(short, _)| *short == lower) {
        return Some(name);
    }
    if lower.len() < 3 || !lower.contains(|char: char| char.is_ascii_alphabetic()) {
        return None;
    }
    let city =
        |name: &&str| name.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(&lower));
    Zone::names().find(city).or_else(|| {
        // A name of three letters is near to many, and means none of them.
        if lower.len() < 5 { None } else { nearest(&lower, Zone::names()) }
    })
}
