//! `list`: where each workflow stands.

use clap::Args;

use crate::engine::{self, Standing};
use crate::wire::StandingRow;

use super::args::Db;
use super::context::Context;
use super::failure::{Exit, Failure};
use super::pattern::Pattern;
use super::store::{self, Access};

#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    db: Db,

    /// Only workflows whose ref matches; `*` crosses `/`
    #[arg(long = "ref", value_name = "GLOB")]
    pattern: Option<Pattern>,
}

pub(super) fn list(args: List, context: &Context) -> Result<Exit, Failure> {
    let mut store = store::open(&args.db.url, Access::Existing, context)?;
    let pattern = Pattern::known_if_any(args.pattern, &mut *store.begin_read()?)?;
    let standings = engine::list(&mut *store, &*context.clock)?;
    let mut sheet = context.console.sheet()?;
    let mut rows = sheet.list::<StandingRow<'_>>("workflows")?;
    let is_wanted = |standing: &&Standing| {
        let reference = &standing.workflow.reference;
        pattern.as_ref().is_none_or(|pattern| pattern.matches(reference))
    };
    for standing in standings.iter().filter(is_wanted) {
        rows.row(&row(standing))?;
    }
    rows.end()?;
    sheet.end()?;
    Ok(Exit::Done)
}

fn row(standing: &Standing) -> StandingRow<'_> {
    StandingRow {
        workflow: &standing.workflow,
        revision: standing.revision,
        schedule: standing.schedule.as_deref().unwrap_or("false"),
        next_due: standing.next_due,
        lag_ms: standing.lag_ms,
        live_claims: standing.live_claims,
        incidents: &standing.incidents,
    }
}
