//! Which records to print: what `runs` and `skips` share.

use clap::Args;

use crate::store::Transaction;
use crate::store::record::WorkflowId;
use crate::time::Instant;

use super::args::Db;
use super::failure::Failure;
use super::pattern::Pattern;

/// Records are read so many at a time.
pub(super) const PAGE: usize = 1_000;

#[derive(Debug, Args)]
pub(super) struct Records {
    #[command(flatten)]
    pub(super) db: Db,

    /// Only workflows whose ref matches; `*` crosses `/`
    #[arg(long = "ref", value_name = "GLOB")]
    pub(super) pattern: Option<Pattern>,

    /// Occurrences at or after T
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    pub(super) from: Option<Instant>,

    /// Occurrences before T
    #[arg(long, value_name = "T", value_parser = Instant::parse_with_date)]
    pub(super) to: Option<Instant>,

    /// At most K records, the oldest first
    #[arg(long, value_name = "K")]
    limit: Option<u32>,
}

impl Records {
    /// Takes the pattern as the store knows it.
    pub(super) fn look_up(&mut self, transaction: &mut dyn Transaction) -> Result<(), Failure> {
        self.pattern = Pattern::known_if_any(self.pattern.take(), transaction)?;
        Ok(())
    }

    /// The one workflow that is asked for, where the pattern is a name.
    pub(super) fn workflow(
        &self,
        transaction: &mut dyn Transaction,
    ) -> Result<Option<WorkflowId>, Failure> {
        let Some(Pattern::Exact(name)) = &self.pattern else { return Ok(None) };
        Ok(transaction.workflow(name)?.map(|workflow| workflow.id))
    }

    /// Whether records of a workflow are wanted.
    pub(super) fn matches(&self, reference: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(reference))
    }

    /// How many records to print at most.
    pub(super) fn limit(&self) -> usize {
        self.limit.map_or(usize::MAX, |limit| limit as usize)
    }
}
