//! The store's own row: whose clock it lives by, and what it remembers of its last write.

use crate::clock::Clock;
use crate::store::Transaction;
use crate::store::record::StoreInfo;
use crate::time::{Instant, tzdb_version};

use super::EngineError;

/// The row for a write under `clock`, refused where the store lives by the other kind of clock:
/// a test's instants among real ones would settle what never was due.
pub(super) fn for_write(
    tx: &mut dyn Transaction,
    clock: &dyn Clock,
) -> Result<StoreInfo, EngineError> {
    let tzdb = tzdb_version().to_owned();
    match tx.info()? {
        None => {
            let info = StoreInfo {
                clock: clock.kind(),
                tzdb,
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
        Some(info) if info.tzdb != tzdb => {
            let info = StoreInfo { tzdb, ..info };
            tx.set_info(&info)?;
            Ok(info)
        }
        Some(info) => Ok(info),
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
