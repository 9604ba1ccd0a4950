//! Registers workflows that another program has run until now, each where that program left it.

use crate::clock::Clock;
use crate::plan::Position;
use crate::schedule::{Reference, Schedule};
use crate::store::record::{Marks, Workflow};
use crate::store::{Store, Transaction};
use crate::time::Instant;

use super::register::{Registration, register};
use super::workflow::Planned;
use super::{EngineError, Mode, store_info};

/// A workflow to be imported.
#[derive(Debug, Clone)]
pub struct Import {
    /// Its name.
    pub reference: Reference,
    /// Its schedule.
    pub schedule: Schedule,
    /// How far it has come; `None` where it was never seen, so that it begins now.
    pub position: Option<Position>,
}

/// Where an imported workflow stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its name.
    pub reference: String,
    /// When it was first seen.
    pub registered: Instant,
    /// The last occurrence that the other program settled.
    pub cursor: Option<Instant>,
    /// The due instant of its oldest unsettled occurrence.
    pub due: Option<Instant>,
}

/// Registers workflows under `source`, all or nothing. What they owe is counted from where they
/// stand. Of what the other program settled there are no records here: the prune horizon of each
/// lies right after its cursor.
///
/// # Errors
/// [`EngineError::AlreadyRegistered`], [`EngineError::OtherClock`] and [`EngineError::Store`];
/// nothing was registered.
pub fn import(
    store: &mut dyn Store,
    clock: &dyn Clock,
    source: &str,
    imports: &[Import],
    mode: Mode,
) -> Result<Vec<Imported>, EngineError> {
    let mut tx = store.begin_write()?;
    let now = clock.now();
    let info = store_info::for_write(&mut *tx, clock)?;
    refuse_known(&mut *tx, imports)?;
    let positions: Vec<Position> = imports
        .iter()
        .map(|import| import.position.unwrap_or(Position { cursor: None, registered: now }))
        .collect();
    let registrations: Vec<Registration<'_>> = imports
        .iter()
        .zip(&positions)
        .map(|(Import { reference, schedule, .. }, position)| Registration {
            reference,
            schedule: Some(schedule),
            position: *position,
        })
        .collect();
    register(&mut *tx, now, source, &registrations)?;
    let imported = imports
        .iter()
        .zip(positions)
        .map(|(import, position)| move_to(&mut *tx, &import.reference, position))
        .collect::<Result<_, _>>()?;
    store_info::note_definitions(&mut *tx, info, now)?;
    if mode == Mode::Write {
        tx.commit()?;
    }
    Ok(imported)
}

/// What the store knows it knows best.
fn refuse_known(tx: &mut dyn Transaction, imports: &[Import]) -> Result<(), EngineError> {
    let names: Vec<&str> = imports.iter().map(|import| import.reference.as_str()).collect();
    match tx.workflows_named(&names)?.into_iter().flatten().next() {
        None => Ok(()),
        Some(Workflow { reference, source: owner, .. }) => {
            Err(EngineError::AlreadyRegistered { reference, owner })
        }
    }
}

/// Puts a workflow that was just registered where the other program left it.
fn move_to(
    tx: &mut dyn Transaction,
    reference: &Reference,
    position: Position,
) -> Result<Imported, EngineError> {
    let unknown = || EngineError::UnknownWorkflow { reference: reference.to_string() };
    let workflow = tx.workflow(reference.as_str())?.ok_or_else(unknown)?;
    if let Some(cursor) = position.cursor {
        let planned = Planned::load_one(tx, workflow.clone())?;
        let progress = planned.settled_until(cursor, workflow.progress);
        tx.update_progress(&[(&workflow, progress)])?;
        let horizon = cursor.checked_add_ms(1);
        tx.update_marks(workflow.id, &Marks { pruned_before: horizon, ..workflow.marks })?;
    }
    Ok(Imported {
        reference: workflow.reference,
        registered: position.registered,
        cursor: position.cursor,
        due: workflow.progress.due.map(|due| due.due),
    })
}
