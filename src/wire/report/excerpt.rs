//! The part of a source that a diagnostic shows: one line, cut where it is long.

use std::ops::Range;

/// The most characters that are shown of a line before and behind what is at fault.
const CONTEXT_CHARS: usize = 60;

/// The part of a text that a diagnostic shows: one line, cut where it is long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub(super) source: String,
    pub(super) span: Range<usize>,
}

impl Excerpt {
    /// The part of `text` around the bytes `span`. Of several lines the first is shown.
    pub fn of(text: &str, span: &Range<usize>) -> Excerpt {
        let line_at = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let line_end =
            text[span.start..].find(['\n', '\r']).map_or(text.len(), |at| span.start + at);
        let end = span.end.min(line_end);
        let before = &text[line_at..span.start];
        let cut = before.char_indices().rev().nth(CONTEXT_CHARS).map_or(0, |(at, _)| at);
        let marked = first_chars(&text[span.start..end]);
        let rest = &text[span.start + marked.len()..line_end];
        let behind = first_chars(rest);
        let mut source = String::new();
        if cut > 0 {
            source.push('…');
        }
        source.extend(before[cut..].chars().map(visible));
        let start = source.len();
        source.extend(marked.chars().map(visible));
        let span = start..source.len();
        source.extend(behind.chars().map(visible));
        if behind.len() < rest.len() {
            source.push('…');
        }
        Excerpt { source, span }
    }
}

fn first_chars(text: &str) -> &str {
    &text[..text.char_indices().nth(CONTEXT_CHARS).map_or(text.len(), |(at, _)| at)]
}

/// A character as it may stand on a terminal, as one character: controls get the picture that
/// Unicode has for them.
fn visible(char: char) -> char {
    match char {
        '\t' => ' ',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ if char.is_control() => '\u{fffd}',
        _ => char,
    }
}
