//! One poll: what is due of all routines, and the state after it.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::clock::Clock;
use crate::plan::{self, Claimant, Plan, PlanError, Revision, Run, Timeline};
use crate::time::Instant;

use super::config::{Config, Missed, Routine};
use super::files::{StateFault, StateFile};
use super::item::{Items, item};
use super::state::{Entry, State};
use super::turns::Turns;

/// Why a poll emits nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum PollError {
    #[error(transparent)]
    State(#[from] StateFault),
    #[error("routine `{id}`: {source}")]
    Plan { id: String, source: PlanError },
    #[error("an item cannot be written: {0}")]
    Item(#[from] serde_json::Error),
}

/// Emits what is due, at most `room_bytes` of it, once the state says so on the disk.
pub(super) fn poll(
    config: &Config,
    clock: &dyn Clock,
    lock_patience_ms: i64,
    room_bytes: usize,
) -> Result<Items, PollError> {
    let mut file = StateFile::lock(&config.state_file, lock_patience_ms)?;
    let now = clock.now();
    let (before, turns) = (file.read()?, file.turns());
    let mut emitted = emit(config, &before, &turns, now, room_bytes)?;
    if emitted.state != before {
        file.write(&emitted.state)?;
    }
    if emitted.turns != turns {
        file.leave_turns(&emitted.turns);
    }
    emitted.items.sort_by_key(|(occurrence, position, _)| (*occurrence, *position));
    Ok(Items { items: emitted.items.into_iter().map(|(_, _, item)| item).collect() })
}

/// What a poll emits, and what it leaves behind.
struct Emitted {
    /// Each with its occurrence and the position of its routine.
    items: Vec<(Instant, usize, Box<RawValue>)>,
    state: State,
    turns: Turns,
}

fn emit(
    config: &Config,
    before: &State,
    turns: &Turns,
    now: Instant,
    room_bytes: usize,
) -> Result<Emitted, PollError> {
    let routines = &config.routines;
    let mut emitted = Emitted { items: Vec::new(), state: before.clone(), turns: Turns::default() };
    for routine in routines.iter().filter(|routine| before.entry(routine.id.as_str()).is_none()) {
        emitted.state.see(routine.id.as_str(), now);
    }
    let timelines: Vec<Timeline> = routines.iter().map(timeline).collect();
    let claimants = routines.iter().zip(&timelines).map(|(routine, timeline)| Claimant {
        last_handed: turns.last_handed(routine.id.as_str()),
        owed: owed(routine, timeline, before.entry(routine.id.as_str()), now).runs(timeline),
    });
    let mut shares = plan::shares(claimants, now).peekable();
    let mut left_bytes = room_bytes;
    let mut served: BTreeMap<usize, (Instant, u64)> = BTreeMap::new();
    while emitted.items.len() < config.max_per_poll as usize
        && let Some((position, run)) = shares.peek()
    {
        let (position, routine) = (*position, &routines[*position]);
        let run: &Run = run.as_ref().map_err(|error| PollError::Plan {
            id: routine.id.to_string(),
            source: error.clone(),
        })?;
        let item = item(routine, run)?;
        // One byte for the comma between two.
        let Some(rest_bytes) = left_bytes.checked_sub(item.get().len() + 1) else { break };
        left_bytes = rest_bytes;
        let (last, count) = served.get(&position).copied().unwrap_or((run.occurrence, 0));
        served.insert(position, (last.max(run.occurrence), count + 1));
        emitted.items.push((run.occurrence, position, item));
        shares.next();
    }
    let id = |position: &usize| routines[*position].id.as_str();
    if shares.peek().is_some() {
        let all = routines.iter().map(|routine| routine.id.as_str());
        emitted.turns = turns.after(all, served.keys().map(id), now);
    }
    for (position, (last, count)) in &served {
        emitted.state.emit(id(position), *last, *count);
    }
    Ok(emitted)
}

/// The occurrences of a routine. It has no revisions: an edited one keeps its place.
fn timeline(routine: &Routine) -> Timeline {
    let definition = Some(routine.schedule.definition.clone());
    Timeline::new(&[Revision::new(&routine.id, 1, None, definition)])
}

/// What a routine owes; nothing where it was never seen before.
fn owed(routine: &Routine, timeline: &Timeline, entry: Option<&Entry>, now: Instant) -> Plan {
    let Some(position) = entry.and_then(Entry::position) else { return Plan::NOTHING };
    let policies = &routine.schedule.policies;
    match routine.missed {
        Missed::Newest => plan::owed(timeline, policies, position, now),
        Missed::Drain => plan::backlog(timeline, policies, position, now),
    }
}
