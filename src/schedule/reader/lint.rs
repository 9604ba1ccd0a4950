//! What is allowed, and yet probably not what the author means.

use crate::schedule::code::Code;
use crate::schedule::fault::Faults;
use crate::schedule::raw::Value;
use crate::schedule::{Phase, Schedule};
use crate::time::{Cadence, Calendar, ClockChange, Instant, MS_PER_DAY, TimeOfDay, duration};

use super::object::Object;

/// How far ahead clock changes are looked for.
const OUTLOOK_MS: i64 = 2 * 365 * MS_PER_DAY;

/// Notes what is worth a look in a schedule without errors.
pub(super) fn warn(schedule: &Schedule, object: &Object<'_, '_>, faults: &mut Faults) {
    let Schedule { definition, policies } = schedule;
    let gaps_ms = match &definition.cadence {
        Cadence::Interval(interval) => {
            if interval.as_ms() == 7 * MS_PER_DAY {
                warn_of_thursdays(object, faults);
            }
            Some((interval.as_ms(), interval.as_ms()))
        }
        Cadence::Calendar(calendar) => {
            if let Some(today) = faults.today {
                note_clock_changes(calendar, today, object, faults);
            }
            let is_asked = object.get("window").or(object.get("phase")).is_some();
            is_asked.then(|| calendar.nominal_gaps_ms()).flatten()
        }
    };
    if let Some((shortest_ms, longest_ms)) = gaps_ms {
        warn_of_window(definition.window_ms, longest_ms, object, faults);
        warn_of_phase(definition.phase, shortest_ms, object, faults);
    }
    if policies.max_age_ms.is_some_and(|max_age_ms| definition.delay_ms > max_age_ms) {
        let message = "the delay is longer than `max_age`".to_owned();
        let hint = "`max_age` counts from the due instant, and `delay` moves only the window";
        faults.value(&object.place.key("delay"), Code::LongDelay, message, hint.to_owned());
    }
}

fn warn_of_thursdays(object: &Object<'_, '_>, faults: &mut Faults) {
    let message = "an interval of 7 days is a grid of Thursdays, the weekday of the epoch";
    let hint = "use {\"week\": {\"on\": …}} for a weekday of your choice".to_owned();
    faults.value(&object.place.key("every"), Code::ThursdayGrid, message.to_owned(), hint);
}

fn warn_of_window(
    window_ms: Option<i64>,
    interval_ms: i64,
    object: &Object<'_, '_>,
    faults: &mut Faults,
) {
    let Some(window_ms) = window_ms.filter(|&window_ms| window_ms < interval_ms) else { return };
    let [window, interval, left_out] =
        [window_ms, interval_ms, interval_ms - window_ms].map(duration::format_ms);
    let message = format!(
        "a window of `{window}` is shorter than the interval of `{interval}`: {left_out} of data \
         between two windows is in none"
    );
    let hint = "leave `window` out to cover everything".to_owned();
    faults.value(&object.place.key("window"), Code::WindowGap, message, hint);
}

fn warn_of_phase(phase: Phase, interval_ms: i64, object: &Object<'_, '_>, faults: &mut Faults) {
    let (longest_ms, part) = match phase {
        Phase::Fixed { phase_ms } => (phase_ms, "phase"),
        Phase::Spread { cap_ms } => (cap_ms - 1, "longest phase"),
    };
    if longest_ms < interval_ms {
        return;
    }
    let interval = duration::format_ms(interval_ms);
    let message = format!(
        "the {part} reaches the interval of `{interval}`: a run may start after the next occurrence"
    );
    let hint = format!("keep it below `{interval}`");
    faults.value(&object.place.key("phase"), Code::LongPhase, message, hint);
}

/// Notes the first gap and the first fold that a time of day falls into.
fn note_clock_changes(
    calendar: &Calendar,
    today: Instant,
    object: &Object<'_, '_>,
    faults: &mut Faults,
) {
    let until = today.checked_add_ms(OUTLOOK_MS).unwrap_or(Instant::MAX);
    for change in calendar.clock_changes(today, until) {
        let message = format!("{change}");
        let every = object.place.key("every");
        let form = object.get("every").and_then(only_member);
        let Some((form, cadence)) = form else { continue };
        let place = every.key(form);
        let at = match cadence {
            Value::Object(members) => members.iter().find(|(key, _)| key == "at"),
            _ => None,
        };
        let Some((_, at)) = at else {
            faults.value(&place, Code::ClockChange, message, None);
            continue;
        };
        let place = place.key("at");
        let index = index_of(at, &change);
        let item = index.map_or(place, |index| place.index(index));
        faults.value(&item, Code::ClockChange, message, None);
    }
}

fn only_member<'v>(value: &'v Value<'v>) -> Option<(&'v str, &'v Value<'v>)> {
    match value {
        Value::Object(members) => members.first().map(|(key, value)| (key.as_ref(), value)),
        _ => None,
    }
}

/// Where in a list of times the one stands that falls into the change.
fn index_of(at: &Value<'_>, change: &ClockChange) -> Option<usize> {
    let Value::Array(items) = at else { return None };
    items.iter().position(|item| match item {
        Value::String(text) => text.parse::<TimeOfDay>() == Ok(change.time),
        _ => false,
    })
}
