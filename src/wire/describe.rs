//! The rows of a schedule that is explained: its sentence, and what it names next.

use crate::time::{Authored, Instant, LocalTime, Resolution};

use super::row::row;

/// One of the next occurrences of a schedule, with the sentence that says it. A schedule without
/// any has one row with the sentence alone.
#[derive(Debug, Clone, Copy)]
pub struct DescribeRow<'a> {
    /// The workflow; `None` where a document names none.
    pub reference: Option<&'a str>,
    /// The schedule in one sentence.
    pub description: &'a str,
    /// What it names.
    pub named: Option<&'a Named>,
}

/// One occurrence, with what its zone's clocks show.
#[derive(Debug, Clone)]
pub struct Named {
    /// The occurrence.
    pub occurrence: Instant,
    /// The weekday there.
    pub weekday: &'static str,
    /// The local time with its offset.
    pub local: String,
    /// How the authored local time became the occurrence.
    pub resolution: Resolution,
    /// What a clock change does to it, in words; empty where there is none.
    pub note: String,
}

impl Named {
    /// The occurrence that `authored` became, after a gap that swallowed `left_out`.
    pub fn new(
        occurrence: Instant,
        local: LocalTime,
        authored: Authored,
        left_out: Option<Authored>,
    ) -> Named {
        Named {
            occurrence,
            weekday: local.weekday().as_str(),
            local: local.to_string(),
            resolution: authored.resolution,
            note: note(authored, left_out),
        }
    }
}

fn note(authored: Authored, left_out: Option<Authored>) -> String {
    let own = match authored.resolution {
        Resolution::Exact => None,
        Resolution::GapShifted | Resolution::GapNext => {
            Some(format!("gap: {authored} does not exist"))
        }
        Resolution::FoldFirst => Some(format!("fold: {authored} for the first time")),
        Resolution::FoldLast => Some(format!("fold: {authored} for the second time")),
    };
    let before =
        left_out.map(|authored| format!("gap before: {authored} does not exist and is left out"));
    let notes: Vec<String> = [before, own].into_iter().flatten().collect();
    notes.join("; ")
}

row!(DescribeRow<'_>: row => {
    data "ref" = row.reference,
    data "description" = row.description,
    shown "weekday" = row.named.map(|named| named.weekday),
    shown "local" = row.named.map(|named| named.local.as_str()),
    shown "occurrence" = row.named.map(|named| named.occurrence),
    data "resolution" = row.named.map(|named| named.resolution.as_str()),
    shown "note" = row.named.map(|named| named.note.as_str()),
});
