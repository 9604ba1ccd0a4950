//! Read, plan, write: what may happen to the records, written once for every store.

mod claim;
mod due;
mod error;
mod lease;
mod list;
mod queue;
#[cfg(feature = "cli")]
pub mod runner;
mod store_info;
mod sync;
mod workflow;

pub use claim::{ClaimRequest, Claimed, DEFAULT_LEASE_MS, claim};
pub use due::{Due, DueRun, due};
pub use error::EngineError;
pub use lease::{finish, heartbeat, release};
pub use list::{Standing, list};
pub use sync::{Change, SyncMode, SyncOptions, SyncReport, Synced, sync};
