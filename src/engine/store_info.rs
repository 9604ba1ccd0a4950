//! The store's own row: whose clock it lives by, and what it remembers of its last write.

use crate::clock::Clock;
use crate::store::Transaction;
use crate::store::record::StoreInfo;
use crate::time::{Instant, tzdb_version};

use super::{EngineError, tz_change};

/// The row for a write under `clock`. A store that was last written under an older tz database
/// follows this program's first, unless others write beside this transaction.
///
/// # Errors
/// [`EngineError::OtherClock`] where the store lives by the other kind of clock: a test's instants
/// among real ones would settle what never was due. [`EngineError::OlderTzdb`].
pub(super) fn for_write(
    tx: &mut dyn Transaction,
    clock: &dyn Clock,
) -> Result<StoreInfo, EngineError> {
    match tx.info()? {
        None => {
            let info = StoreInfo {
                clock: clock.kind(),
                tzdb: tzdb_version().to_owned(),
                definition_writes: 0,
                last_planned: None,
                set_ahead: None,
            };
            tx.set_info(&info)?;
            Ok(info)
        }
        Some(info) if info.clock != clock.kind() => {
            Err(EngineError::OtherClock { store: info.clock })
        }
        Some(info) if tz_change::is_other(&info) => {
            tz_change::refuse_older(tx, &info)?;
            match info.tzdb.as_str() < tzdb_version() && tx.is_alone() {
                true => tz_change::follow(tx, info, clock.now()),
                false => Ok(info),
            }
        }
        Some(info) => Ok(info),
    }
}

/// Whether the store must follow this program's tz database before others write beside.
pub(super) fn must_be_alone(tx: &dyn Transaction, info: &StoreInfo) -> bool {
    !tx.is_alone() && info.tzdb.as_str() < tzdb_version()
}

/// Refuses to tell of calendar cadences with an older tz database than the store has seen.
///
/// # Errors
/// [`EngineError::OlderTzdb`], [`EngineError::Store`].
pub(super) fn for_read(tx: &mut dyn Transaction) -> Result<(), EngineError> {
    match tx.info()? {
        Some(info) => tz_change::refuse_older(tx, &info),
        None => Ok(()),
    }
}

/// Notes that workflows were given their places in the queue at `now`.
pub(super) fn note_planned(
    tx: &mut dyn Transaction,
    info: &StoreInfo,
    now: Instant,
) -> Result<(), EngineError> {
    if info.last_planned < Some(now) {
        tx.set_info(&StoreInfo { last_planned: Some(now), ..info.clone() })?;
    }
    Ok(())
}

/// Notes that workflows were registered, changed or retired, and given their places in the queue at
/// `now`.
pub(super) fn note_definitions(
    tx: &mut dyn Transaction,
    info: StoreInfo,
    now: Instant,
) -> Result<(), EngineError> {
    let definition_writes = info.definition_writes + 1;
    let last_planned = info.last_planned.max(Some(now));
    Ok(tx.set_info(&StoreInfo { definition_writes, last_planned, ..info })?)
}
