//! `every`, `timezone` and `dst`: when a workflow occurs.

use std::str::FromStr;

use crate::schedule::code::Code;
use crate::schedule::fault::{Faults, Place, nearest};
use crate::schedule::raw::{Value, shown};
use crate::time::{
    Cadence, Calendar, Cron, Days, DaysError, Dst, Fold, Gap, Interval, TimeOfDay, Times,
    TimesError, Weekday, Zone,
};

use super::object::Object;
use super::{advice, described, read_duration};

/// The longest list: each second of a day, once.
const ITEMS_AT_MOST: usize = 86_400;

const CADENCES: &[&str] = &["day", "week", "month", "cron"];

/// What `every` says.
enum Every {
    Interval(Interval),
    Calendar { days: Days, times: Times, fold: Fold },
}

pub(super) fn read(schedule: &Object<'_, '_>, faults: &mut Faults) -> Option<Cadence> {
    let every = match schedule.get("every") {
        None => {
            let message = "a schedule needs `every`".to_owned();
            let hint = "write an interval such as \"5m\", or a cadence such as {\"day\": {\"at\": \"07:00\"}}";
            faults.key(schedule.place, Code::MissingKey, message, hint.to_owned());
            None
        }
        Some(every) => read_every(every, &schedule.place.key("every"), faults),
    };
    let zone = schedule.optional("timezone", faults, read_zone);
    let dst = schedule.optional("dst", faults, read_dst);
    warn_of_zone(schedule, every.as_ref(), faults);
    match every? {
        Every::Interval(interval) => {
            (zone.is_some() && dst.is_some()).then_some(Cadence::Interval(interval))
        }
        Every::Calendar { days, times, fold } => {
            let (zone, (gap, written_fold)) =
                (zone?.unwrap_or(Zone::utc()), dst?.unwrap_or_default());
            let dst = Dst { gap: gap.unwrap_or_default(), fold: written_fold.unwrap_or(fold) };
            Some(Cadence::Calendar(Calendar::new(days, times, zone, dst)))
        }
    }
}

/// Notes a zone that is missing, or has no effect; the latter on a faulty interval, too.
fn warn_of_zone(schedule: &Object<'_, '_>, every: Option<&Every>, faults: &mut Faults) {
    match (schedule.get("every"), every) {
        (Some(written @ Value::String(_)), _) if advice::cadence_for(written).is_none() => {
            for key in ["timezone", "dst"].into_iter().filter(|key| schedule.get(key).is_some()) {
                let message = format!("`{key}` has no effect on an interval");
                let hint = "leave it out, or use a calendar cadence".to_owned();
                faults.key(&schedule.place.key(key), Code::NoEffect, message, hint);
            }
        }
        (_, Some(Every::Calendar { .. }))
            if schedule.get("timezone").is_none() && !schedule.misspells("timezone") =>
        {
            let message = "a calendar cadence without `timezone` is in UTC".to_owned();
            let hint = "say so with \"timezone\": \"UTC\", or name a zone".to_owned();
            faults.key(&schedule.place.key("every"), Code::MissingZone, message, hint);
        }
        _ => {}
    }
}

fn read_every(value: &Value<'_>, place: &Place<'_>, faults: &mut Faults) -> Option<Every> {
    match value {
        Value::String(_) => read_interval(value, place, faults).map(Every::Interval),
        Value::Object(entries) => {
            let object = Object::read(entries, place, CADENCES, faults);
            let key = object.only_key("a cadence", faults)?;
            let place = place.key(key);
            read_cadence(key, object.get(key)?, &place, faults)
        }
        other => {
            let message = format!("`every` is an interval or a cadence, not {}", described(other));
            let hint = "write \"5m\", or {\"day\": {\"at\": \"07:00\"}}".to_owned();
            faults.value(place, Code::WrongType, message, hint);
            None
        }
    }
}

fn read_interval(value: &Value<'_>, place: &Place<'_>, faults: &mut Faults) -> Option<Interval> {
    if let Some(hint) = advice::cadence_for(value) {
        let message = format!("`{value}` is not an interval");
        faults.value(place, Code::BadInterval, message, hint);
        return None;
    }
    let ms = read_duration(value, place, faults)?;
    Interval::from_ms(ms)
        .map_err(|error| {
            let message = format!("`{value}` is not an interval: {error}");
            faults.value(place, Code::BadInterval, message, advice::nearest_intervals(ms, error));
        })
        .ok()
}

fn read_cadence(
    key: &str,
    value: &Value<'_>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<Every> {
    let known: &'static [&str] = match key {
        "cron" => return read_cron(value, place, faults),
        "day" => &["at"],
        "week" | "month" => &["on", "at"],
        _ => return None,
    };
    let object = Object::of(value, place, &format!("`{key}`"), known, faults)?;
    let times = object.optional("at", faults, read_times);
    let days = match key {
        "day" => Some(Days::every()),
        _ => match object.get("on") {
            None => {
                let hint = if key == "week" {
                    "\"on\": \"monday\""
                } else {
                    "\"on\": 1, or \"on\": \"last\""
                };
                let message = format!("a {key} cadence needs `on`");
                faults.key(place, Code::MissingKey, message, format!("write {hint}"));
                None
            }
            Some(on) if key == "week" => read_weekdays(on, &place.key("on"), faults),
            Some(on) => read_month_days(on, &place.key("on"), faults),
        },
    };
    let midnight = || Times::new(&[TimeOfDay::MIDNIGHT]).ok();
    Some(Every::Calendar { days: days?, times: times?.or_else(midnight)?, fold: Fold::First })
}

fn read_cron(value: &Value<'_>, place: &Place<'_>, faults: &mut Faults) -> Option<Every> {
    let text = string(value, "a cron expression", place, faults)?;
    match Cron::parse(text) {
        Ok(cron) => {
            for uneven in &cron.uneven_steps {
                faults.value(place, Code::UnevenStep, uneven.to_string(), None);
            }
            let fold = if cron.has_every_hour { Fold::Both } else { Fold::First };
            Some(Every::Calendar { days: cron.days, times: cron.times, fold })
        }
        Err(error) => {
            let message =
                format!("`{}` is not a cron expression: {}", shown(text), shown(&error.problem));
            faults.value(place, Code::BadCron, message, error.hint.map(|hint| shown(&hint)));
            None
        }
    }
}

/// One value or a list of them, each read by `read`, with its place in the list.
fn one_or_more<'v, T>(
    value: &'v Value<'v>,
    place: &Place<'_>,
    faults: &mut Faults,
    read: impl Fn(&'v Value<'v>, &Place<'_>, &mut Faults) -> Option<T>,
) -> Option<Vec<T>> {
    let Value::Array(items) = value else {
        return read(value, place, faults).map(|item| vec![item]);
    };
    if items.is_empty() {
        faults.value(
            place,
            Code::BadList,
            "the list is empty".to_owned(),
            "name at least one".to_owned(),
        );
        return None;
    }
    if items.len() > ITEMS_AT_MOST {
        let message =
            format!("the list has {} items, and no more than {ITEMS_AT_MOST} differ", items.len());
        faults.value(place, Code::BadList, message, "name each item once".to_owned());
        return None;
    }
    let read: Vec<Option<T>> = items
        .iter()
        .enumerate()
        .map(|(index, item)| read(item, &place.index(index), faults))
        .collect();
    read.into_iter().collect()
}

fn read_times(value: &Value<'_>, place: &Place<'_>, faults: &mut Faults) -> Option<Times> {
    let times = one_or_more(value, place, faults, |value, place, faults| {
        let text = string(value, "a time of day", place, faults)?;
        TimeOfDay::from_str(text)
            .map_err(|_| {
                let message = format!("`{}` is not a time of day", shown(text));
                faults.value(place, Code::BadTime, message, advice::time(text));
            })
            .ok()
    })?;
    Times::new(&times)
        .map_err(|error| {
            let repeated = match &error {
                TimesError::Repeated { time } => times.iter().rposition(|other| other == time),
                _ => None,
            };
            let place = &repeated.map_or(*place, |index| place.index(index));
            faults.value(place, Code::BadList, error.to_string(), None);
        })
        .ok()
}

fn read_weekdays(value: &Value<'_>, place: &Place<'_>, faults: &mut Faults) -> Option<Days> {
    let weekdays = one_or_more(value, place, faults, |value, place, faults| {
        let named = match value {
            Value::String(text) => {
                Weekday::ALL.into_iter().find(|weekday| weekday.as_str() == text)
            }
            _ => None,
        };
        if named.is_none() {
            let message = format!("{} is not a weekday", quoted(value));
            faults.value(place, Code::BadWeekday, message, advice::weekday(value));
        }
        named
    })?;
    days(Days::weekdays(&weekdays), place, faults)
}

fn read_month_days(value: &Value<'_>, place: &Place<'_>, faults: &mut Faults) -> Option<Days> {
    let month_days = one_or_more(value, place, faults, |value, place, faults| match value {
        Value::Integer(day) if (1..=31).contains(day) => i64::try_from(*day).ok(),
        Value::String(text) if text == "last" => Some(Days::LAST),
        other => {
            let message = format!("{} is not a day of the month", quoted(other));
            faults.value(place, Code::BadDay, message, advice::day(other));
            None
        }
    })?;
    days(Days::month_days(&month_days), place, faults)
}

fn days(days: Result<Days, DaysError>, place: &Place<'_>, faults: &mut Faults) -> Option<Days> {
    days.map_err(|error| {
        let place = match error {
            DaysError::Repeated { index } | DaysError::NoSuchDay { index, .. } => {
                place.index(index)
            }
            DaysError::Empty => *place,
        };
        let hint = matches!(error, DaysError::Repeated { .. })
            .then(|| "31 is the last day too".to_owned());
        faults.value(&place, Code::BadList, error.to_string(), hint);
    })
    .ok()
}

fn read_zone(value: &Value<'_>, place: &Place<'_>, faults: &mut Faults) -> Option<&'static Zone> {
    let text = string(value, "a time zone", place, faults)?;
    Zone::get(text)
        .map_err(|error| {
            let message = format!("`{}` is not a time zone of the tz database", shown(text));
            faults.value(place, Code::BadZone, message, advice::zone(text, error.spelling));
        })
        .ok()
}

fn read_dst(
    value: &Value<'_>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<(Option<Gap>, Option<Fold>)> {
    const GAPS: [(&str, Gap); 3] =
        [("shift", Gap::Shift), ("next", Gap::Next), ("skip", Gap::Skip)];
    const FOLDS: [(&str, Fold); 3] =
        [("first", Fold::First), ("last", Fold::Last), ("both", Fold::Both)];
    let object = Object::of(value, place, "`dst`", &["gap", "fold"], faults)?;
    let gap =
        object.optional("gap", faults, |value, place, faults| word(value, place, &GAPS, faults));
    let fold =
        object.optional("fold", faults, |value, place, faults| word(value, place, &FOLDS, faults));
    Some((gap?, fold?))
}

/// One of a few words.
pub(super) fn word<T: Copy>(
    value: &Value<'_>,
    place: &Place<'_>,
    words: &[(&str, T)],
    faults: &mut Faults,
) -> Option<T> {
    let found = match value {
        Value::String(text) => words.iter().find(|(word, _)| word == text),
        _ => None,
    };
    if found.is_none() {
        let list: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let near = match value {
            Value::String(text) => nearest(text, words.iter().map(|(word, _)| *word)),
            _ => None,
        };
        let hint = near.map_or_else(
            || format!("write {}", list.join(" or ")),
            |word| format!("did you mean \"{word}\"?"),
        );
        faults.value(
            place,
            Code::BadWord,
            format!("{} is not one of the words here", quoted(value)),
            hint,
        );
    }
    found.map(|(_, value)| *value)
}

fn string<'v>(
    value: &'v Value<'v>,
    what: &str,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<&'v str> {
    match value {
        Value::String(text) => Some(text),
        other => {
            faults.value(
                place,
                Code::WrongType,
                format!("{what} is a string, not {}", described(other)),
                None,
            );
            None
        }
    }
}

fn quoted(value: &Value<'_>) -> String {
    format!("`{value}`")
}
