//! What the holder of a lease may do with its run.

use crate::clock::Clock;
use crate::store::lifecycle::Finish;
use crate::store::record::RunRecord;
use crate::store::{RunId, Store};

use super::EngineError;

/// Extends the lease of a run to now + `lease_ms`, or revives it after expiry.
pub fn heartbeat(
    store: &mut dyn Store,
    clock: &dyn Clock,
    id: &RunId,
    token: i64,
    lease_ms: i64,
    output: Option<&str>,
) -> Result<RunRecord, EngineError> {
    let _ = (store, clock, id, token, lease_ms, output);
    todo!()
}

/// Ends the present attempt of a run.
pub fn finish(
    store: &mut dyn Store,
    clock: &dyn Clock,
    id: &RunId,
    token: i64,
    finish: &Finish<'_>,
) -> Result<RunRecord, EngineError> {
    let _ = (store, clock, id, token, finish);
    todo!()
}

/// Gives a run back; the attempt does not count.
pub fn release(
    store: &mut dyn Store,
    clock: &dyn Clock,
    id: &RunId,
    token: i64,
) -> Result<RunRecord, EngineError> {
    let _ = (store, clock, id, token);
    todo!()
}
