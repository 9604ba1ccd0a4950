//! An error or a warning as it leaves the process.

use super::row::row;
use super::text::escape_controls;

/// What went wrong, for people as `error:` and `hint:`, for programs as one JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A stable word, such as `lost_lease`.
    pub code: &'static str,
    /// What happened, with the offending value.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

row!(Problem: problem => {
    shown "code" = problem.code,
    shown "message" = problem.message.as_str(),
    shown "hint" = problem.hint.as_deref(),
});

/// A problem that did not keep the command from doing its job.
#[derive(Debug, Clone, Copy)]
pub struct Warning<'a>(pub &'a Problem);

row!(Warning<'_>: row => {
    ..Problem = row.0, tables show ["code", "message", "hint"],
    data "severity" = "warning",
});

/// What a command says that is worth knowing and no fault.
#[derive(Debug, Clone, Copy)]
pub struct Remark<'a>(pub &'a Problem);

row!(Remark<'_>: row => {
    ..Problem = row.0, tables show ["code", "message", "hint"],
    data "severity" = "note",
});

impl Problem {
    /// The text for people, `severity` being `error`, `warning` or `note`: one line, and one more for the
    /// hint.
    pub fn to_text(&self, severity: &str) -> String {
        let mut text = format!("{severity}: {}\n", escape_controls(&self.message));
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {}\n", escape_controls(hint)));
        }
        text
    }
}
