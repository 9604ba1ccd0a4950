//! Lines and columns of byte ranges.

use std::ops::Range;

/// A half-open place in a file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The line of the first character.
    pub line: u64,
    /// Its column.
    pub column: u64,
    /// The line of the first character behind it.
    pub end_line: u64,
    /// Its column.
    pub end_column: u64,
}

/// The places of byte ranges in a text that begins on line `first_line` of its file, found in one
/// pass over the text.
pub(super) fn spans(text: &str, first_line: u64, ranges: &[Range<usize>]) -> Vec<Span> {
    let mut offsets: Vec<usize> =
        ranges.iter().flat_map(|range| [range.start, range.end]).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let places = places(text, first_line, &offsets);
    let place = |offset: usize| match offsets.binary_search(&offset) {
        Ok(index) => places[index],
        Err(_) => (first_line, 1),
    };
    ranges
        .iter()
        .map(|range| {
            let ((line, column), (end_line, end_column)) = (place(range.start), place(range.end));
            Span { line, column, end_line, end_column }
        })
        .collect()
}

/// Line and column of each of some ascending offsets.
fn places(text: &str, first_line: u64, offsets: &[usize]) -> Vec<(u64, u64)> {
    let (mut line, mut column, mut at) = (first_line, 1, 0);
    offsets
        .iter()
        .map(|&offset| {
            for &byte in &text.as_bytes()[at..offset] {
                match byte {
                    b'\n' => (line, column) = (line + 1, 1),
                    // The bytes of a character after its first count for nothing.
                    0x80..=0xbf => {}
                    _ => column += 1,
                }
            }
            at = offset;
            (line, column)
        })
        .collect()
}
