//! `schema`: the JSON Schemas of what enters and leaves the program.

use std::io::{self, Write};

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::console::Console;
use super::failure::{Exit, Failure};

/// The schemas by name: of documents, of rows (a line under `--format jsonl`), and of whole
/// answers (`--format json`).
const SCHEMAS: &[(&str, &str)] = &[
    ("workflow", include_str!("../../schemas/workflow.schema.json")),
    ("project", include_str!("../../schemas/project.schema.json")),
    ("schedule", include_str!("../../schemas/schedule.schema.json")),
    ("plan", include_str!("../../schemas/rows/plan.schema.json")),
    ("plan-row", include_str!("../../schemas/rows/plan-row.schema.json")),
    ("due", include_str!("../../schemas/rows/due.schema.json")),
    ("due-row", include_str!("../../schemas/rows/due-row.schema.json")),
    ("claim", include_str!("../../schemas/rows/claim.schema.json")),
    ("claim-row", include_str!("../../schemas/rows/claim-row.schema.json")),
    ("answer", include_str!("../../schemas/rows/answer.schema.json")),
    ("answer-row", include_str!("../../schemas/rows/answer-row.schema.json")),
    ("sync", include_str!("../../schemas/rows/sync.schema.json")),
    ("sync-row", include_str!("../../schemas/rows/sync-row.schema.json")),
    ("import", include_str!("../../schemas/rows/import.schema.json")),
    ("import-row", include_str!("../../schemas/rows/import-row.schema.json")),
    ("list", include_str!("../../schemas/rows/list.schema.json")),
    ("list-row", include_str!("../../schemas/rows/list-row.schema.json")),
    ("runs", include_str!("../../schemas/rows/runs.schema.json")),
    ("run-row", include_str!("../../schemas/rows/run-row.schema.json")),
    ("skips", include_str!("../../schemas/rows/skips.schema.json")),
    ("skip-row", include_str!("../../schemas/rows/skip-row.schema.json")),
    ("skipped-row", include_str!("../../schemas/rows/skipped-row.schema.json")),
    ("explain", include_str!("../../schemas/rows/explain.schema.json")),
    ("explain-row", include_str!("../../schemas/rows/explain-row.schema.json")),
    ("coverage", include_str!("../../schemas/rows/coverage.schema.json")),
    ("coverage-row", include_str!("../../schemas/rows/coverage-row.schema.json")),
    ("request", include_str!("../../schemas/rows/request.schema.json")),
    ("request-row", include_str!("../../schemas/rows/request-row.schema.json")),
    ("pause", include_str!("../../schemas/rows/pause.schema.json")),
    ("pause-row", include_str!("../../schemas/rows/pause-row.schema.json")),
    ("cursor", include_str!("../../schemas/rows/cursor.schema.json")),
    ("cursor-row", include_str!("../../schemas/rows/cursor-row.schema.json")),
    ("prune", include_str!("../../schemas/rows/prune.schema.json")),
    ("prune-row", include_str!("../../schemas/rows/prune-row.schema.json")),
    ("findings", include_str!("../../schemas/rows/findings.schema.json")),
    ("finding-row", include_str!("../../schemas/rows/finding-row.schema.json")),
    ("diagnostics", include_str!("../../schemas/rows/diagnostics.schema.json")),
    ("diagnostic", include_str!("../../schemas/rows/diagnostic.schema.json")),
    ("error", include_str!("../../schemas/rows/error.schema.json")),
];

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Of what: a document, an answer (`--format json`) or a row of one (`--format jsonl`)
    #[arg(value_name = "NAME", default_value = "workflow", value_parser = names())]
    name: String,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(SCHEMAS.iter().map(|(name, _)| *name))
}

/// Runs `schema`.
pub(super) fn schema(args: &Schema) -> Exit {
    let found = SCHEMAS.iter().find(|(name, _)| *name == args.name);
    let text = found.map_or("", |(_, text)| *text);
    match io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => Exit::Done,
        Err(error) => Failure::from(error).report(&Console::new(None)),
    }
}
