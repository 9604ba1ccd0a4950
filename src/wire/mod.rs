//! The rows that leave the process: each defined once, printed as JSON, JSON Lines, CSV or a
//! table. No rule lives here.

mod batch;
#[cfg(feature = "cli")]
mod csv;
mod decisions;
mod describe;
#[cfg(feature = "cli")]
mod diagnostics;
mod fates;
mod json;
mod plan;
mod problem;
mod records;
mod registry;
mod row;
#[cfg(feature = "cli")]
mod sheet;
#[cfg(feature = "cli")]
mod table;
mod text;

pub use batch::{BATCH_LIMIT, BatchError, Line, read_batch};
pub use decisions::{CursorRow, FindingRow, PauseRow};
pub use describe::{DescribeRow, Named};
#[cfg(feature = "cli")]
pub use diagnostics::{
    Case, Diagnostic, DiagnosticForm, Reporter, Source, Span, Strictness, Style, Summary, cases,
    reporter, spans,
};
pub use fates::{CoverageRow, ExplainRow};
pub use json::{OUTPUT_LIMIT_BYTES, OutputError, checked_output, to_json};
pub use plan::{ClaimRow, DueRow, PlanRow, SkippedRow};
pub use problem::{Problem, Remark, Warning};
pub use records::{AnswerRow, AttemptRow, RequestedRow, RunRow, SkipRow};
pub use registry::{ImportRow, PruneRow, StandingRow, SyncRow};
pub use row::{Cells, Column, IdParts, Json, Millis, Prose, Row, Shown, Value};
#[cfg(feature = "cli")]
pub use sheet::{Format, List, Sheet};
pub use text::escape_controls;
