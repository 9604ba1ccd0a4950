//! What about a workflow needs a look by people.

use crate::store::Transaction;
use crate::store::record::{RevisionRow, StoreInfo, Workflow};
use crate::time::Instant;

use super::EngineError;

/// An instant on record that lies this much ahead of now, or less, is a matter of clocks that
/// differ; one further ahead shows that the clock was set back.
pub(super) const AHEAD_AT_MOST_MS: i64 = 60_000;

/// How many workflows are read from the store at once.
const PAGE: usize = 1_000;

/// Whether an instant on record lies further ahead of `now` than clocks differ.
pub(super) fn is_ahead(instant: Instant, now: Instant) -> bool {
    instant.ms_since(now) > AHEAD_AT_MOST_MS
}

/// What about a workflow needs a look, `newest` being its present revision: `cursor_ahead` where
/// its cursor, the edit that made its revision or its registration lies ahead of `now`, so that
/// nothing will be owed until then; `tz_passed` where a new tz database moved an occurrence behind
/// its cursor, until that lies before the prune horizon.
pub(super) fn incidents(
    workflow: &Workflow,
    newest: Option<&RevisionRow>,
    now: Instant,
) -> Vec<&'static str> {
    let edited = newest.and_then(|revision| revision.after);
    let known = [workflow.progress.cursor, edited, Some(workflow.registered)];
    let is_ahead = known.into_iter().flatten().any(|instant| is_ahead(instant, now));
    let marks = &workflow.marks;
    let is_passed = marks.tz_passed.is_some_and(|passed| marks.pruned_before <= Some(passed));
    [(is_ahead, "cursor_ahead"), (is_passed, "tz_passed")]
        .into_iter()
        .filter_map(|(is_so, incident)| is_so.then_some(incident))
        .collect()
}

/// The workflows whose cursor lies ahead of `now`, ordered by ref. They are looked for only where
/// something on record says that there may be any.
pub(super) fn cursors_ahead(
    tx: &mut dyn Transaction,
    info: &StoreInfo,
    now: Instant,
) -> Result<Vec<String>, EngineError> {
    let mut ahead = Vec::new();
    if !info.last_planned.max(info.set_ahead).is_some_and(|latest| is_ahead(latest, now)) {
        return Ok(ahead);
    }
    let mut last: Option<String> = None;
    loop {
        let page = tx.workflows(last.as_deref(), PAGE)?;
        let is_last = page.len() < PAGE;
        last = page.last().map(|workflow| workflow.reference.clone());
        let newest: Vec<_> =
            page.iter().map(|workflow| (workflow.id, Some(Instant::MAX))).collect();
        for (workflow, rows) in page.into_iter().zip(tx.revisions(&newest)?) {
            if incidents(&workflow, rows.last(), now).contains(&"cursor_ahead") {
                ahead.push(workflow.reference);
            }
        }
        if is_last {
            return Ok(ahead);
        }
    }
}
