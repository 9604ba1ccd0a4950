//! What is owed, what is skipped and why, and when to look again. Values in, value out.

mod cut;
mod run;
mod timeline;

pub use cut::Cut;
pub use run::{PlanError, Run, Skip, SkipReason};
pub use timeline::{Revision, Timeline};
