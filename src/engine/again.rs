//! Trying again what the store undid because others were in its way.

use crate::clock::wait_for;
use crate::store::backoff::Backoff;
use crate::store::{Store, StoreError};

use super::EngineError;

/// So often a transaction is tried again. In the end its error stands.
const AGAIN_AT_MOST: u32 = 6;
const FIRST_WAIT_MS: u64 = 20;

/// Does `work`, which is one transaction, until the store lets it stand.
pub(super) fn again<T>(
    store: &mut dyn Store,
    mut work: impl FnMut(&mut dyn Store) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let mut backoff = Backoff::new(FIRST_WAIT_MS, AGAIN_AT_MOST);
    loop {
        let done = work(store);
        match (&done, backoff.next()) {
            (Err(EngineError::Store(StoreError::RolledBack { .. })), Some(span)) => wait_for(span),
            _ => return done,
        }
    }
}
