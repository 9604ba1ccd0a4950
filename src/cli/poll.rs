//! `poll`: one call of Apiary's plugin protocol, from stdin to stdout.

use std::io::{self, Read, Write};

use clap::Args;

use crate::apiary::{self, LOCK_PATIENCE_MS, REQUEST_LIMIT_BYTES};

use super::context::Context;
use super::failure::{Exit, Failure};

#[derive(Debug, Args)]
pub(super) struct Poll {}

pub(super) fn poll(_: Poll, context: &Context) -> Result<Exit, Failure> {
    let mut request = Vec::new();
    // One byte more than may come says that too much came.
    let limit_bytes = REQUEST_LIMIT_BYTES as u64 + 1;
    io::stdin().lock().take(limit_bytes).read_to_end(&mut request).map_err(|error| {
        Failure::failed("unreadable", format!("standard input cannot be read: {error}"), None)
    })?;
    let response = apiary::exchange(&request, &*context.clock, LOCK_PATIENCE_MS)
        .map_err(|fault| Failure::failed("bad_request", fault.to_string(), None))?;
    // A host that has gone has not got its answer, unlike a reader of rows who has seen enough.
    let mut stdout = io::stdout().lock();
    stdout.write_all(&response).and_then(|()| stdout.flush()).map_err(|error| {
        Failure::failed("output_failed", format!("the response failed: {error}"), None)
    })?;
    Ok(Exit::Done)
}
