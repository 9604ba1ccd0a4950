//! What `heartbeat`, `finish` and `release` share: a claimed run, and how it stands afterwards.

use clap::Args;

use crate::store::RunId;
use crate::store::record::RunRecord;
use crate::wire::AnswerRow;

use super::context::Context;
use super::failure::{Exit, Failure};

/// A run and the proof that it is held.
#[derive(Debug, Args)]
pub(super) struct Held {
    /// The id of the run, as `claim` printed it
    #[arg(value_name = "RUN_ID")]
    pub(super) id: RunId,

    /// The token of the claim
    #[arg(long, value_name = "T")]
    pub(super) token: i64,
}

/// Prints how a run stands now.
pub(super) fn print(run: &RunRecord, context: &Context) -> Result<Exit, Failure> {
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<AnswerRow<'_>>("runs")?;
    rows.row(&AnswerRow(run))?;
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}
