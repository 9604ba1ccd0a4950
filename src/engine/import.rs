//! Registers workflows that another program has run until now, each where that program left it.

use crate::clock::Clock;
use crate::plan::Position;
use crate::schedule::{Reference, Schedule};
use crate::store::record::{Marks, Progress};
use crate::store::{Store, Transaction};
use crate::time::Instant;

use super::register::register;
use super::sync::SyncMode;
use super::{EngineError, store_info};

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
    mode: SyncMode,
) -> Result<Vec<Imported>, EngineError> {
    let mut tx = store.begin_write()?;
    let now = clock.now();
    let info = store_info::for_write(&mut *tx, clock)?;
    let mut imported = Vec::with_capacity(imports.len());
    for import in imports {
        imported.push(import_one(&mut *tx, now, source, import)?);
    }
    store_info::note_planned(&mut *tx, info, now)?;
    if mode == SyncMode::Write {
        tx.commit()?;
    }
    Ok(imported)
}

fn import_one(
    tx: &mut dyn Transaction,
    now: Instant,
    source: &str,
    Import { reference, schedule, position }: &Import,
) -> Result<Imported, EngineError> {
    if let Some(known) = tx.workflow(reference.as_str())? {
        return Err(EngineError::AlreadyRegistered {
            reference: known.reference,
            owner: known.source,
        });
    }
    let position = position.unwrap_or(Position { cursor: None, registered: now });
    register(tx, now, source, reference, Some(schedule), position)?;
    let workflow = tx
        .workflow(reference.as_str())?
        .ok_or_else(|| EngineError::UnknownWorkflow { reference: reference.to_string() })?;
    if let Some(cursor) = position.cursor {
        let progress = Progress { cursor: Some(cursor), ..workflow.progress };
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
