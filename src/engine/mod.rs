//! Read, plan, write: what may happen to the records, written once for every store.

mod again;
mod batch;
mod claim;
mod compare;
mod copy;
mod coverage;
mod cursor;
mod due;
mod error;
mod explain;
mod import;
mod incidents;
mod lease;
mod list;
mod mode;
mod overlap;
mod pages;
mod pause;
mod prune;
mod queue;
mod register;
mod request;
#[cfg(feature = "cli")]
pub mod runner;
mod store_info;
mod sweep;
mod sync;
mod tz_change;
mod verify;
mod workflow;

pub use claim::{ClaimRequest, Claimed, DEFAULT_LEASE_MS, claim};
pub use copy::copy;
pub use coverage::{Coverage, coverage};
pub use cursor::{Moved, set_cursor, set_cursors_back};
pub use due::{Due, DueRun, due};
pub use error::EngineError;
pub use explain::explain;
pub use import::{Import, Imported, import};
pub use lease::{
    Heartbeat, Held, finish, finish_all, heartbeat, heartbeat_all, release, release_all,
};
pub use list::{Standing, list};
pub use mode::Mode;
pub use pause::{Note, Paused, pause, resume};
pub use prune::{Pruned, prune};
pub use request::{
    Only, REQUEST_ID_AT_MOST, REQUESTED_AT_MOST, Requested, RunRequest, Selection, Windows, cancel,
    cancel_request, request,
};
pub use sync::{Absent, Change, SyncOptions, SyncReport, Synced, sync};
pub use tz_change::accept_older_tzdb;
pub use verify::verify;
