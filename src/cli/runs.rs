//! `runs`: run records.

use clap::Args;

use crate::store::record::{RunFilter, RunState};
use crate::wire::RunRow;

use super::context::Context;
use super::failure::{Exit, Failure};
use super::records::{PAGE, Records};
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct Runs {
    #[command(flatten)]
    records: Records,

    /// Only runs in this state; several with commas between them
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',', value_parser = state)]
    states: Vec<RunState>,
}

fn state(word: &str) -> Result<RunState, String> {
    RunState::from_word(word).ok_or_else(|| {
        let words: Vec<_> = RunState::ALL.iter().map(|state| state.as_str()).collect();
        format!("it is none of {}", words.join(", "))
    })
}

pub(super) fn runs(mut args: Runs, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.records.db.url, Access::Existing, context)?;
    let mut transaction = store.begin_read()?;
    args.records.look_up(&mut *transaction)?;
    let records = &args.records;
    let mut filter = RunFilter {
        workflow: records.workflow(&mut *transaction)?,
        from: records.from,
        to: records.to,
        states: args.states.clone(),
        after: None,
        limit: Some(PAGE),
    };
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<RunRow<'_>>("runs")?;
    let mut left = records.limit();
    while left > 0 {
        let page = transaction.runs(&filter)?;
        for run in page.iter().filter(|run| records.matches(&run.reference)).take(left) {
            let past = transaction.past_attempts(&run.key)?;
            rows.row(&RunRow::of(run, &past))?;
            left -= 1;
        }
        match page.last() {
            Some(last) if page.len() == PAGE => filter = filter.page_after(Some(last), PAGE),
            _ => break,
        }
    }
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}
