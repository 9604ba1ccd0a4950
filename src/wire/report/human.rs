//! Diagnostics for people: the line of the source with a caret below, as rustc prints them.

use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::schedule::Severity;
use crate::wire::text::escape_controls;

use super::{Counts, Diagnostic, Excerpt, Report};

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// It is not.
    Plain,
    /// It is, with the sequences of terminals.
    Coloured,
}

/// Diagnostics for people.
pub struct Human<W: Write> {
    out: W,
    style: Style,
}

impl<W: Write> Human<W> {
    /// A report to `out`.
    pub fn new(out: W, style: Style) -> Human<W> {
        Human { out, style }
    }
}

impl<W: Write> Report for Human<W> {
    fn found(&mut self, found: &Diagnostic, excerpt: &Excerpt) -> io::Result<()> {
        self.out.write_all(render(found, excerpt, self.style).as_bytes())
    }

    fn end(&mut self, _: &Counts) -> io::Result<()> {
        self.out.flush()
    }
}

/// The text of a diagnostic, lines and all.
pub fn render(found: &Diagnostic, excerpt: &Excerpt, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let level = match found.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let pointer = escape_controls(&found.pointer);
    let label = if pointer.is_empty() { None } else { Some(pointer) };
    let mark = AnnotationKind::Primary.span(excerpt.span.clone()).label(label);
    let snippet =
        Snippet::source(excerpt.source.as_str()).line_start(found.start.line).annotation(mark);
    let title = level.primary_title(escape_controls(&found.message)).id(found.code.as_str());
    let mut group: Group<'_> = title.element(snippet);
    if let Some(hint) = &found.hint {
        group = group.element(Level::HELP.message(escape_controls(hint)));
    }
    let mut text = renderer.render(&[group]);
    // The renderer would count columns from where the excerpt was cut.
    let below_title = text.find('\n').map_or(text.len(), |at| at + 1);
    text.insert_str(below_title, &origin(found, style));
    text.push_str("\n\n");
    text
}

fn origin(found: &Diagnostic, style: Style) -> String {
    let margin = " ".repeat(found.start.line.to_string().len());
    let arrow = match style {
        Style::Plain => "-->",
        Style::Coloured => "\u{1b}[1m\u{1b}[94m-->\u{1b}[0m",
    };
    format!("{margin}{arrow} {}:{}\n", escape_controls(&found.file), found.start)
}
