//! Strict reading of one schedule: every fault is noted, and nothing is dropped or defaulted in
//! silence.

mod advice;
mod cadence;
mod lint;
mod object;
mod policies;

use crate::time::{Cadence, PHASE_CAP_MS, duration};

use super::code::Code;
use super::fault::{Faults, Place};
use super::raw::{Value, shown};
use super::{Definition, Phase, Schedule};
use object::Object;

/// What a document says about when its workflow runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declaration {
    /// It has a schedule.
    Scheduled(Schedule),
    /// `"schedule": false`: it is registered, and never due.
    Unscheduled,
}

impl Declaration {
    /// The schedule, where there is one.
    pub fn into_schedule(self) -> Option<Schedule> {
        match self {
            Declaration::Scheduled(schedule) => Some(schedule),
            Declaration::Unscheduled => None,
        }
    }
}

const KEYS: &[&str] = &[
    "every",
    "timezone",
    "delay",
    "phase",
    "window",
    "catch_up",
    "dst",
    "first_run",
    "overlap",
    "max_attempts",
];

/// Reads a schedule. `None` when it has an error; warnings alone do not prevent it.
pub(super) fn read(
    value: &Value<'_>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<Declaration> {
    match value {
        Value::Bool(false) => Some(Declaration::Unscheduled),
        Value::Object(entries) => {
            let errors = faults.errors();
            let object = Object::read(entries, place, KEYS, faults);
            let schedule = read_schedule(&object, faults);
            if faults.errors() > errors { None } else { schedule.map(Declaration::Scheduled) }
        }
        other => {
            let message = format!("a schedule is an object or `false`, not {}", described(other));
            let hint = "use `false` for a workflow without a schedule";
            faults.value(place, Code::WrongType, message, hint.to_owned());
            None
        }
    }
}

fn read_schedule(object: &Object<'_, '_>, faults: &mut Faults) -> Option<Schedule> {
    let cadence = cadence::read(object, faults);
    let delay_ms =
        object.optional("delay", faults, read_duration).map(|delay_ms| delay_ms.unwrap_or(0));
    let window_ms = object.optional("window", faults, read_positive_duration);
    let phase = object.optional("phase", faults, read_phase);
    let policies = policies::read(object, faults);
    let (cadence, delay_ms, phase) = (cadence?, delay_ms?, phase?);
    let definition = Definition {
        phase: phase.unwrap_or_default().of(&cadence),
        window_ms: window_ms?.filter(|&window_ms| !is_interval_of(&cadence, window_ms)),
        cadence,
        delay_ms,
    };
    let schedule = Schedule { definition, policies: policies? };
    lint::warn(&schedule, object, faults);
    Some(schedule)
}

/// A phase as it is written; what it means depends on the cadence.
#[derive(Clone, Copy, Default)]
enum WrittenPhase {
    #[default]
    Absent,
    Spread,
    SpreadMax(i64),
    Fixed(i64),
}

impl WrittenPhase {
    fn of(self, cadence: &Cadence) -> Phase {
        match (self, cadence) {
            (WrittenPhase::SpreadMax(cap_ms), _) => Phase::Spread { cap_ms },
            (WrittenPhase::Fixed(phase_ms), _) => Phase::Fixed { phase_ms },
            (_, Cadence::Interval(interval)) => Phase::default_of(*interval),
            (WrittenPhase::Spread, Cadence::Calendar(_)) => Phase::Spread { cap_ms: PHASE_CAP_MS },
            (WrittenPhase::Absent, Cadence::Calendar(_)) => Phase::Fixed { phase_ms: 0 },
        }
    }
}

fn read_phase(value: &Value<'_>, place: &Place<'_>, faults: &mut Faults) -> Option<WrittenPhase> {
    let object = Object::of(value, place, "a phase", &["spread", "fixed"], faults)?;
    let key = object.only_key("a phase", faults)?;
    let inner = object.get(key)?;
    let place = place.key(key);
    if key == "fixed" {
        return read_duration(inner, &place, faults).map(WrittenPhase::Fixed);
    }
    let spread = Object::of(inner, &place, "`spread`", &["max"], faults)?;
    let max_ms = spread.optional("max", faults, read_positive_duration)?;
    Some(max_ms.map_or(WrittenPhase::Spread, WrittenPhase::SpreadMax))
}

fn is_interval_of(cadence: &Cadence, window_ms: i64) -> bool {
    matches!(cadence, Cadence::Interval(interval) if interval.as_ms() == window_ms)
}

/// A duration of at least 0, in milliseconds.
fn read_duration(value: &Value<'_>, place: &Place<'_>, faults: &mut Faults) -> Option<i64> {
    let Value::String(text) = value else {
        let message = format!("a duration is a string such as `30s`, not {}", described(value));
        let hint = match value {
            Value::Integer(number) if *number >= 0 => {
                Some(format!("write `\"{number}s\"` for seconds"))
            }
            _ => None,
        };
        faults.value(place, Code::WrongType, message, hint);
        return None;
    };
    match duration::parse_ms(text) {
        Ok(ms) => Some(ms),
        Err(error) => {
            let message = format!("`{}` is not a duration: {}", shown(text), error.problem);
            faults.value(place, Code::BadDuration, message, error.hint.map(|hint| shown(&hint)));
            None
        }
    }
}

/// A duration above 0, in milliseconds.
fn read_positive_duration(
    value: &Value<'_>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<i64> {
    let ms = read_duration(value, place, faults)?;
    if ms == 0 {
        faults.value(place, Code::BadDuration, format!("`{value}` must be longer than 0"), None);
        return None;
    }
    Some(ms)
}

/// A value for a message.
fn described(value: &Value<'_>) -> String {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => value.kind().to_owned(),
        other => format!("{} (`{other}`)", other.kind()),
    }
}
