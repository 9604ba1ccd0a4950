//! `catch_up`, `first_run`, `overlap` and `max_attempts`: what to do about missed runs.

use crate::schedule::code::Code;
use crate::schedule::fault::{Faults, Place};
use crate::schedule::raw::Value;
use crate::schedule::{CatchUp, FirstRun, Overlap, Policies};

use super::cadence::word;
use super::object::Object;
use super::{described, read_duration};

const FIRST_RUNS: [(&str, FirstRun); 2] = [("newest", FirstRun::Newest), ("next", FirstRun::Next)];
const OVERLAPS: [(&str, Overlap); 3] =
    [("allow", Overlap::Allow), ("wait", Overlap::Wait), ("skip", Overlap::Skip)];

pub(super) fn read(schedule: &Object<'_, '_>, faults: &mut Faults) -> Option<Policies> {
    let catch_up = schedule.optional("catch_up", faults, read_catch_up);
    let first_run = schedule.optional("first_run", faults, |value, place, faults| {
        word(value, place, &FIRST_RUNS, faults)
    });
    let overlap = schedule
        .optional("overlap", faults, |value, place, faults| word(value, place, &OVERLAPS, faults));
    let max_attempts = schedule.optional("max_attempts", faults, |value, place, faults| {
        number(value, place, Policies::MAX_ATTEMPTS_LIMIT, faults)
    });
    let (catch_up, max_age_ms) = catch_up?.unwrap_or((CatchUp::Latest, None));
    let overlap = overlap?.unwrap_or_default();
    if overlap == Overlap::Skip && matches!(catch_up, CatchUp::Backfill { .. }) {
        let message =
            "`overlap` \"skip\" does not go with `backfill`: it would skip what backfill keeps"
                .to_owned();
        let hint = "use \"wait\", or catch up with {\"latest\": {}}".to_owned();
        faults.value(&schedule.place.key("overlap"), Code::Conflict, message, hint);
    }
    Some(Policies {
        catch_up,
        max_age_ms,
        first_run: first_run?.unwrap_or_default(),
        overlap,
        max_attempts: max_attempts?.unwrap_or(Policies::DEFAULT_MAX_ATTEMPTS),
    })
}

fn read_catch_up(
    value: &Value<'_>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<(CatchUp, Option<i64>)> {
    let object = Object::of(value, place, "`catch_up`", &["latest", "backfill"], faults)?;
    let key = object.only_key("`catch_up`", faults)?;
    let inner_place = place.key(key);
    let known: &'static [&str] =
        if key == "backfill" { &["limit", "max_age"] } else { &["max_age"] };
    let inner = Object::of(object.get(key)?, &inner_place, &format!("`{key}`"), known, faults)?;
    let max_age_ms = inner.optional("max_age", faults, read_duration);
    let catch_up = if key == "backfill" {
        let limit = inner.optional("limit", faults, |value, place, faults| {
            number(value, place, Policies::BACKFILL_LIMIT, faults)
        })?;
        if limit.is_none() {
            let hint = format!("write \"limit\": N, 1 to {}", Policies::BACKFILL_LIMIT);
            faults.key(
                &inner_place,
                Code::MissingKey,
                "`backfill` needs a `limit`".to_owned(),
                hint,
            );
        }
        CatchUp::Backfill { limit: limit? }
    } else {
        CatchUp::Latest
    };
    Some((catch_up, max_age_ms?))
}

/// A whole number from 1 to `max`.
fn number(value: &Value<'_>, place: &Place<'_>, max: u32, faults: &mut Faults) -> Option<u32> {
    let number = match value {
        Value::Integer(number) => {
            u32::try_from(*number).ok().filter(|number| (1..=max).contains(number))
        }
        _ => None,
    };
    if number.is_none() {
        let (code, message) = match value {
            Value::Integer(number) => {
                (Code::BadNumber, format!("`{number}` is not from 1 to {max}"))
            }
            other => {
                let found = described(other);
                (Code::WrongType, format!("a whole number from 1 to {max} is meant, not {found}"))
            }
        };
        let hint = match value {
            Value::Float(float)
                if float.fract() == 0.0 && (1.0..=f64::from(max)).contains(float) =>
            {
                Some(format!("write {float}, without fraction and exponent"))
            }
            _ => None,
        };
        faults.value(place, code, message, hint);
    }
    number
}
