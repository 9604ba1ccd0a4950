//! The canonical text of a definition: what the store keeps, and what equal meanings share.

use serde_json::{Value, json};

use crate::time::{Cadence, Calendar, Cron, Days, Fold, Gap, duration};

use super::{Definition, Phase, Schedule};

/// Up to so many times of day are listed; more are written as a cron expression where they can be.
const LISTED_AT_MOST: usize = 24;

impl Definition {
    /// The definition as schedule JSON with every default written out and one spelling for every
    /// meaning. [`Definition::from_canonical`] reads it back.
    pub fn to_canonical(&self) -> String {
        let mut schedule = json!({
            "delay": duration::format_ms(self.delay_ms),
            "phase": match self.phase {
                Phase::Fixed { phase_ms } => json!({ "fixed": duration::format_ms(phase_ms) }),
                Phase::Spread { cap_ms } => json!({ "spread": { "max": duration::format_ms(cap_ms) } }),
            },
        });
        if let Some(window_ms) = self.window_ms {
            schedule["window"] = json!(duration::format_ms(window_ms));
        }
        match &self.cadence {
            Cadence::Interval(interval) => {
                schedule["every"] = json!(duration::format_ms(interval.as_ms()))
            }
            Cadence::Calendar(calendar) => {
                schedule["every"] = every(calendar);
                schedule["timezone"] = json!(calendar.zone().name());
                schedule["dst"] = dst(calendar);
            }
        }
        schedule.to_string()
    }

    /// Reads what [`Definition::to_canonical`] wrote; `None` for any text that is no schedule.
    pub fn from_canonical(text: &str) -> Option<Definition> {
        Schedule::from_json(text).ok().map(|schedule| schedule.definition)
    }
}

fn every(calendar: &Calendar) -> Value {
    let times: Vec<String> = calendar.times().iter().map(|time| time.to_string()).collect();
    let cron = Cron::text(calendar.days(), calendar.times());
    match cron {
        Some(cron) if times.len() > LISTED_AT_MOST || is_only_cron(calendar.days()) => {
            json!({ "cron": cron })
        }
        _ => match (calendar.days().as_weekdays(), calendar.days().as_month_days()) {
            (Some(weekdays), _) => {
                let on: Vec<&str> = weekdays.map(|weekday| weekday.as_str()).collect();
                json!({ "week": { "on": on, "at": times } })
            }
            (None, Some(days)) => {
                json!({ "month": { "on": days.collect::<Vec<_>>(), "at": times } })
            }
            (None, None) => json!({ "day": { "at": times } }),
        },
    }
}

/// Whether only a cron expression names the set.
fn is_only_cron(days: &Days) -> bool {
    *days != Days::every() && days.as_weekdays().is_none() && days.as_month_days().is_none()
}

fn dst(calendar: &Calendar) -> Value {
    let gap = match calendar.dst().gap {
        Gap::Shift => "shift",
        Gap::Next => "next",
        Gap::Skip => "skip",
    };
    let fold = match calendar.dst().fold {
        Fold::First => "first",
        Fold::Last => "last",
        Fold::Both => "both",
    };
    json!({ "gap": gap, "fold": fold })
}
