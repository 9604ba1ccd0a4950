//! Apiary's plugin protocol, version 1: routines as a source of work items.
//!
//! The host starts one process for each call, gives it one JSON request and takes one JSON
//! response; [`exchange`] is that call. A routine is a cron schedule under one fixed rule: gaps are
//! closed, folds occur both times, nothing from before it was first seen is due, and of what was
//! missed either the newest is emitted or all of it, oldest first. How far each has come stands in
//! a state file, which is on the disk before anything is emitted: a death in between skips, and
//! never doubles.

mod config;
mod envelope;
mod files;
mod item;
#[cfg(feature = "cli")]
mod plugin;
mod poll;
mod state;
mod turns;

pub use config::{Config, ConfigError, Missed, Routine};
pub use envelope::{REQUEST_LIMIT_BYTES, RESPONSE_LIMIT_BYTES, TransportFault};
pub use files::{StateFault, read_state};
#[cfg(feature = "cli")]
pub use plugin::{InstallError, PluginId, PluginIdError, install};
pub use state::{Entry, State};

use crate::clock::Clock;
use envelope::{Answer, Code, Method, Refusal, Request};

/// How long a poll waits for another one on the same state file, in milliseconds. The host ends
/// a call after 10 s.
pub const LOCK_PATIENCE_MS: i64 = 5_000;

/// Answers one request: the bytes of the response, which end with a line feed.
///
/// What is wrong with a request that can be answered is said in the response. Of a poll, the state
/// file is written before this returns.
///
/// # Errors
/// [`TransportFault`] for what is no request: there is nobody to answer.
pub fn exchange(
    request: &[u8],
    clock: &dyn Clock,
    lock_patience_ms: i64,
) -> Result<Vec<u8>, TransportFault> {
    let request = Request::decode(request)?;
    let outcome = request.method().and_then(|method| match method {
        Method::Acknowledge => Ok(Answer::Taken),
        Method::Poll => {
            let json = request.config.ok_or(ConfigError::Missing);
            let config = json.and_then(|json| Config::from_json(json.get())).map_err(|error| {
                Refusal { code: Code::InvalidConfig, message: error.to_string() }
            })?;
            let room_bytes = request.room_bytes();
            poll::poll(&config, clock, lock_patience_ms, room_bytes)
                .map(Answer::Items)
                .map_err(|error| Refusal { code: Code::PollFailed, message: error.to_string() })
        }
    });
    Ok(request.response(&outcome))
}
