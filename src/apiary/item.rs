//! The items that a poll emits.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::plan::Run;
use crate::time::Instant;

use super::config::Routine;

/// The result of a poll.
#[derive(Debug, Serialize)]
pub(super) struct Items {
    /// In the order of their occurrences, each written out.
    pub(super) items: Vec<Box<RawValue>>,
}

#[derive(Serialize)]
struct Item<'a> {
    id: &'a str,
    number: &'a str,
    title: &'a str,
    description: &'a str,
    labels: Vec<&'a str>,
    metadata: Metadata<'a>,
    created_at: &'a str,
    updated_at: &'a str,
}

#[derive(Serialize)]
struct Metadata<'a> {
    routine_id: &'a str,
    scheduled_for: &'a str,
    schedule: &'a str,
    timezone: &'a str,
    window_start: &'a str,
    window_end: &'a str,
}

/// The item of one occurrence of a routine.
///
/// # Errors
/// None that is known.
pub(super) fn item(routine: &Routine, run: &Run) -> Result<Box<RawValue>, serde_json::Error> {
    let occurrence = run.occurrence.to_string();
    let id = format!("{}@{occurrence}", routine.id);
    let own_label = format!("routine:{}", routine.id);
    let labels = routine.labels.iter().map(String::as_str);
    to_raw_value(&Item {
        id: &id,
        number: &id,
        title: &routine.title,
        description: &description(routine, run),
        labels: std::iter::once(own_label.as_str()).chain(labels).collect(),
        metadata: Metadata {
            routine_id: routine.id.as_str(),
            scheduled_for: &occurrence,
            schedule: &routine.cron,
            timezone: &routine.timezone,
            window_start: &run.window.start.to_string(),
            window_end: &run.window.end.to_string(),
        },
        created_at: &occurrence,
        updated_at: &occurrence,
    })
}

/// What the routine says, and always the occurrence and its window, since hosts drop metadata.
fn description(routine: &Routine, run: &Run) -> String {
    let at = |instant: Instant| instant.to_string();
    let line = format!(
        "Occurrence {}, window from {} to {}.",
        at(run.occurrence),
        at(run.window.start),
        at(run.window.end)
    );
    match &routine.description {
        Some(own) => format!("{own}\n\n{line}"),
        None => line,
    }
}
