//! `copy`: moves all records from one store to another.

use clap::Args;

use crate::engine;

use super::context::Context;
use super::failure::{Exit, Failure};
use super::progress::Progress;
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Copy {
    /// The store to read: a SQLite file, or postgres://USER:PASSWORD@HOST/DATABASE?schema=NAME
    #[arg(long, value_name = "URL")]
    from: String,

    /// The store to write, which must be empty; it is made where there is none
    #[arg(long, value_name = "URL")]
    to: String,
}

pub(super) fn copy(args: Copy, context: &Context) -> Result<Exit, Failure> {
    let mut from = store::open(&args.from, Access::Existing, context)?;
    let mut to = store::open(&args.to, Access::Create, context)?;
    let mut progress = Progress::default();
    let mut before = 0;
    let copied = engine::copy(&mut *from, &mut *to, &mut |done, all| {
        progress.show(done - before, done as f64 / all as f64);
        before = done;
    });
    progress.clear();
    let copied = copied?;
    let said = format!("copied (workflows: {}, runs: {})", copied.workflows, copied.runs);
    context.console.note(&said);
    Ok(Exit::Done)
}
