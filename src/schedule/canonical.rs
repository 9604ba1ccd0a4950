//! The canonical text of a definition: what the store keeps, and what equal meanings share.

use std::fmt::Write;

use crate::time::{Cadence, Calendar, Cron, Days, Fold, Gap, duration};

use super::{Definition, Phase, Schedule};

/// Up to so many times of day are listed; more are written as a cron expression where they can be.
const LISTED_AT_MOST: usize = 24;

impl Definition {
    /// The definition as schedule JSON with every default written out and one spelling for every
    /// meaning. [`Definition::from_canonical`] reads it back.
    pub fn to_canonical(&self) -> String {
        let mut text = String::with_capacity(192);
        self.write(&mut text);
        text
    }

    /// Writes the members in the order of their names. No text among them needs an escape.
    fn write(&self, text: &mut String) {
        let length = duration::format_ms;
        member(text, '{', "delay", &length(self.delay_ms));
        if let Cadence::Calendar(calendar) = &self.cadence {
            text.push_str(",\"dst\":");
            member(text, '{', "fold", fold(calendar.dst().fold));
            member(text, ',', "gap", gap(calendar.dst().gap));
            text.push('}');
        }
        match &self.cadence {
            Cadence::Interval(interval) => member(text, ',', "every", &length(interval.as_ms())),
            Cadence::Calendar(calendar) => {
                text.push_str(",\"every\":");
                write_every(text, calendar);
            }
        }
        text.push_str(",\"phase\":");
        match self.phase {
            Phase::Fixed { phase_ms } => member(text, '{', "fixed", &length(phase_ms)),
            Phase::Spread { cap_ms } => {
                text.push_str("{\"spread\":");
                member(text, '{', "max", &length(cap_ms));
                text.push('}');
            }
        }
        text.push('}');
        if let Cadence::Calendar(calendar) = &self.cadence {
            member(text, ',', "timezone", calendar.zone().name());
        }
        if let Some(window_ms) = self.window_ms {
            member(text, ',', "window", &length(window_ms));
        }
        text.push('}');
    }

    /// Reads what [`Definition::to_canonical`] wrote; `None` for any text that is no schedule.
    pub fn from_canonical(text: &str) -> Option<Definition> {
        Schedule::from_json(text).ok().map(|schedule| schedule.definition)
    }
}

/// Writes a member whose value is a text, behind what stands before it.
fn member(text: &mut String, before: char, name: &str, value: &str) {
    text.push(before);
    text.extend(["\"", name, "\":\"", value, "\""]);
}

fn write_every(text: &mut String, calendar: &Calendar) {
    let (days, times) = (calendar.days(), calendar.times());
    let is_long = times.iter().nth(LISTED_AT_MOST).is_some();
    if (is_long || is_only_cron(days))
        && let Some(cron) = Cron::text(days, times)
    {
        member(text, '{', "cron", &cron);
        text.push('}');
        return;
    }
    let name = match (days.as_weekdays(), days.as_month_days()) {
        (Some(_), _) => "week",
        (None, Some(_)) => "month",
        (None, None) => "day",
    };
    text.extend(["{\"", name, "\":{\"at\":"]);
    list(text, times.iter(), "\"");
    if let Some(weekdays) = days.as_weekdays() {
        text.push_str(",\"on\":");
        list(text, weekdays.map(|weekday| weekday.as_str()), "\"");
    } else if let Some(days) = days.as_month_days() {
        text.push_str(",\"on\":");
        list(text, days, "");
    }
    text.push_str("}}");
}

/// Writes a list, each item between two `quote`s.
fn list(text: &mut String, items: impl Iterator<Item = impl std::fmt::Display>, quote: &str) {
    let mut before = '[';
    for item in items {
        // Writing to a string cannot fail.
        let _ = write!(text, "{before}{quote}{item}{quote}");
        before = ',';
    }
    text.push(']');
}

/// Whether only a cron expression names the set.
fn is_only_cron(days: &Days) -> bool {
    *days != Days::every() && days.as_weekdays().is_none() && days.as_month_days().is_none()
}

fn gap(gap: Gap) -> &'static str {
    match gap {
        Gap::Shift => "shift",
        Gap::Next => "next",
        Gap::Skip => "skip",
    }
}

fn fold(fold: Fold) -> &'static str {
    match fold {
        Fold::First => "first",
        Fold::Last => "last",
        Fold::Both => "both",
    }
}
