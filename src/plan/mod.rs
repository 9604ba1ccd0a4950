//! What is owed, what is skipped and why, and when to look again. Values in, value out.

mod cover;
mod cut;
mod owed;
mod queue;
mod run;
mod runs;
mod share;
mod timeline;

pub use cover::Cover;
pub use cut::{Cut, cut};
pub use owed::{Owed, Plan, Position, backlog, owed, pass_over, unsettled_due, unsettled_until};
pub use queue::{Turn, next_due, turn};
pub use run::{PlanError, Run, Skip, SkipReason};
pub use runs::Runs;
pub use share::{Claimant, shares};
pub use timeline::{Revision, Timeline};
