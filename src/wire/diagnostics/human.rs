//! Diagnostics for people: the line at fault with a caret below it, as rustc shows it.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use annotate_snippets::renderer::DEFAULT_LINE_NUM_STYLE as ARROW;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Message, Renderer, Snippet};

use crate::schedule::{Severity, is_deceptive};

use super::super::text::escape_controls;
use super::{Case, Diagnostic, Reporter, Source, Summary};

/// Whether the text has colours. Nothing depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// It has none.
    Plain,
    /// It has.
    Coloured,
}

/// So many bytes of a line are shown on either side of a fault.
const CONTEXT_BYTES: usize = 120;

/// So many bytes of a fault are shown.
const FAULT_BYTES: usize = 160;

pub(super) struct Human<W: Write> {
    out: W,
    renderer: Renderer,
    style: Style,
}

impl<W: Write> Human<W> {
    pub(super) fn new(style: Style, out: W) -> Human<W> {
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Coloured => Renderer::styled(),
        };
        Human { out, renderer, style }
    }
}

impl<W: Write> Reporter for Human<W> {
    fn case(&mut self, case: &Case<'_>) -> io::Result<()> {
        for diagnostic in &case.diagnostics {
            writeln!(self.out, "{}\n", rendered(diagnostic, &self.renderer, self.style))?;
        }
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        self.out.flush()
    }
}

fn rendered(diagnostic: &Diagnostic<'_>, renderer: &Renderer, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let hint =
        diagnostic.hint.map(|hint| Level::HELP.with_name("hint").message(escape_controls(hint)));
    let excerpt = Group::with_level(level.clone()).elements(snippet(diagnostic));
    let excerpt = excerpt.elements(pointer(diagnostic)).elements(hint);
    let title = level.primary_title(escape_controls(diagnostic.message));
    let title = Group::with_title(title.id(diagnostic.code.as_str()));
    let place = place(diagnostic, style);
    let parts = [renderer.render(&[title]), place, renderer.render(&[excerpt])];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The line with file, line and column. annotate-snippets would count the column from where the
/// excerpt begins, which in a long line is not where the line does.
fn place(diagnostic: &Diagnostic<'_>, style: Style) -> String {
    let (line, column) = (diagnostic.span.line, diagnostic.span.column);
    // Without an excerpt there is no line number to make room for.
    let is_bare = diagnostic.source.text.is_empty();
    let indent = " ".repeat(if is_bare { 1 } else { line.to_string().len() });
    let arrow = match style {
        Style::Plain => format!("{indent}-->"),
        Style::Coloured => format!("{ARROW}{indent}-->{ARROW:#}"),
    };
    format!("{arrow} {}:{line}:{column}", escape_controls(diagnostic.source.file))
}

/// The line at fault, where there is one.
fn snippet<'a>(diagnostic: &Diagnostic<'a>) -> Option<Snippet<'a, Annotation<'a>>> {
    let Source { text, .. } = diagnostic.source;
    let Excerpt { text, mark } =
        (!text.is_empty()).then(|| Excerpt::of(text, &diagnostic.range))?;
    let line = usize::try_from(diagnostic.span.line).unwrap_or(usize::MAX);
    let mark = AnnotationKind::Primary.span(mark);
    Some(Snippet::source(text).line_start(line).annotation(mark))
}

/// The longest pointer that is shown.
const POINTER_BYTES: usize = 200;

/// A line with the pointer, which the root of a text does not need.
fn pointer<'a>(diagnostic: &Diagnostic<'a>) -> Option<Message<'a>> {
    let pointer = diagnostic.pointer;
    let cut = &pointer[..floor(pointer, POINTER_BYTES)];
    let more = if cut.len() < pointer.len() { "…" } else { "" };
    let text = format!("{}{more}", escape_controls(cut));
    (!pointer.is_empty()).then(|| Level::NOTE.with_name("at").message(text))
}

/// The line at fault, or the part of it around the fault.
struct Excerpt<'a> {
    text: Cow<'a, str>,
    /// The fault in it, to the end of the line at most.
    mark: Range<usize>,
}

impl Excerpt<'_> {
    fn of<'a>(text: &'a str, range: &Range<usize>) -> Excerpt<'a> {
        // Only the neighbourhood is looked at: a line may be as long as the text.
        let window_end = floor(text, range.start + FAULT_BYTES + CONTEXT_BYTES);
        let line_end = text[range.start..window_end].find('\n');
        let line_end = line_end.map_or(window_end, |at| range.start + at);
        let end = range.end.min(line_end).min(floor(text, range.start + FAULT_BYTES));
        let from = floor(text, range.start.saturating_sub(CONTEXT_BYTES));
        let from = text[from..range.start].rfind('\n').map_or(from, |at| from + at + 1);
        let to = floor(text, end + CONTEXT_BYTES).min(line_end);
        let is_cut_before = from > 0 && !text[..from].ends_with('\n');
        let is_cut_after = to < text.len() && !text[to..].starts_with('\n');
        let shown = text[from..to].trim_end_matches('\r');
        let (before, after) =
            (if is_cut_before { "…" } else { "" }, if is_cut_after { "…" } else { "" });
        let mark_start = range.start - from + before.len();
        let mark_end = (end - from).min(shown.len()) + before.len();
        let mark = mark_start.min(mark_end)..mark_end;
        let text = match (before, after) {
            ("", "") => Cow::Borrowed(shown),
            _ => Cow::Owned(format!("{before}{shown}{after}")),
        };
        let (text, mark) = pictured(text, mark);
        Excerpt { text, mark }
    }
}

/// A text with a picture for each character that would act on a terminal, so that columns stay
/// what they are, and the mark in it.
fn pictured(text: Cow<'_, str>, mark: Range<usize>) -> (Cow<'_, str>, Range<usize>) {
    if !text.chars().any(is_deceptive) {
        return (text, mark);
    }
    let parts = [&text[..mark.start], &text[mark.clone()], &text[mark.end..]];
    let [before, marked, after] = parts.map(|part| part.chars().map(picture).collect::<String>());
    let mark = before.len()..before.len() + marked.len();
    (Cow::Owned([before, marked, after].concat()), mark)
}

fn picture(char: char) -> char {
    match char {
        '\t' => ' ',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ if is_deceptive(char) => '\u{fffd}',
        _ => char,
    }
}

/// The nearest boundary of a character at or before an offset.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
