//! Where a fault stands in its text: from pointers to spans, lines and columns.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

use super::fault::{Fault, Part};

/// A place in a text, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Finds the positions of byte offsets in one text. Cheap for offsets in rising order.
#[derive(Debug, Clone, Copy)]
pub struct LineIndex<'a> {
    text: &'a str,
    line: usize,
    line_at: usize,
}

impl<'a> LineIndex<'a> {
    /// The index of a text whose first line is the line `first_line` of its file.
    pub fn new(text: &'a str, first_line: usize) -> LineIndex<'a> {
        LineIndex { text, line: first_line, line_at: 0 }
    }

    /// The position of a byte offset, which is that of its character.
    pub fn position(&mut self, offset: usize) -> Position {
        let offset = floor_char(self.text, offset);
        if offset < self.line_at {
            let lines = self.text[offset..self.line_at].matches('\n').count();
            self.line -= lines;
        } else {
            self.line += self.text[self.line_at..offset].matches('\n').count();
        }
        self.line_at = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let column = self.text[self.line_at..offset].chars().count() + 1;
        Position { line: self.line, column }
    }
}

/// The byte span of each fault in the JSON text that holds it, found in one pass over the text. A
/// fault whose pointer leads nowhere spans the whole text.
///
/// The text must be valid JSON, as it is wherever a fault has a pointer.
pub fn spans<'f>(text: &str, faults: impl IntoIterator<Item = &'f Fault>) -> Vec<Range<usize>> {
    let mut wanted = Wanted { nodes: vec![Node::default()] };
    let mut spans = Vec::new();
    for fault in faults {
        wanted.add(fault, spans.len());
        spans.push(whole(text));
    }
    let mut walk = Walk { wanted: &wanted, frames: Vec::new(), next: Some(0), spans };
    let options = ScannerOptions::default();
    let mut scanner = Scanner::new(text, &options);
    while let Ok(Some(token)) = scanner.scan() {
        walk.token(token, scanner.token_start()..scanner.token_end());
    }
    walk.spans
}

/// The last place at or before `offset` at which a character begins, or the end of the text.
fn floor_char(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn whole(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..text.trim_end().len().max(start)
}

/// The pointers that are looked for, as a tree.
struct Wanted {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    /// By key or index, and how many equal keys come before it.
    children: HashMap<(String, usize), usize>,
    /// Those keys of which some member is looked for.
    keys: HashSet<String>,
    /// The faults of the key and of the value.
    key_faults: Vec<usize>,
    value_faults: Vec<usize>,
}

impl Wanted {
    fn add(&mut self, fault: &Fault, number: usize) {
        let mut at = 0;
        for (step, key) in fault.pointer.split('/').skip(1).enumerate() {
            let key = key.replace("~1", "/").replace("~0", "~");
            let repeat = fault.repeats.iter().find(|repeat| repeat.step == step);
            let earlier = repeat.map_or(0, |repeat| repeat.earlier);
            let next = self.nodes.len();
            let node = &mut self.nodes[at];
            node.keys.insert(key.clone());
            at = *node.children.entry((key, earlier)).or_insert(next);
            if at == next {
                self.nodes.push(Node::default());
            }
        }
        match fault.part {
            Part::Key => self.nodes[at].key_faults.push(number),
            Part::Value => self.nodes[at].value_faults.push(number),
        }
    }
}

/// One pass over the tokens of a text. `next` is the node of the value that comes next.
struct Walk<'w> {
    wanted: &'w Wanted,
    frames: Vec<Frame>,
    next: Option<usize>,
    spans: Vec<Range<usize>>,
}

/// An object or array that is open.
struct Frame {
    node: Option<usize>,
    start: usize,
    inside: Inside,
}

enum Inside {
    Object { seen: HashMap<String, usize>, awaits_key: bool },
    Array { index: usize },
}

impl Walk<'_> {
    fn token(&mut self, token: Token<'_>, range: Range<usize>) {
        match token {
            Token::OpenBrace => {
                let inside = Inside::Object { seen: HashMap::new(), awaits_key: true };
                self.open(inside, range.start);
            }
            Token::OpenBracket => {
                self.open(Inside::Array { index: 0 }, range.start);
                self.next_item();
            }
            Token::CloseBrace | Token::CloseBracket => {
                if let Some(frame) = self.frames.pop() {
                    self.found(frame.node, frame.start..range.end);
                }
            }
            Token::Comma => match self.frames.last_mut().map(|frame| &mut frame.inside) {
                Some(Inside::Object { awaits_key, .. }) => *awaits_key = true,
                Some(Inside::Array { index }) => {
                    *index += 1;
                    self.next_item();
                }
                None => {}
            },
            Token::String(text) => {
                if !self.key(&text, &range) {
                    self.found(self.next, range);
                }
            }
            Token::Colon | Token::CommentLine(_) | Token::CommentBlock(_) => {}
            Token::Word(_) | Token::Boolean(_) | Token::Number(_) | Token::Null => {
                self.found(self.next, range);
            }
        }
    }

    fn open(&mut self, inside: Inside, start: usize) {
        self.frames.push(Frame { node: self.next.take(), start, inside });
    }

    /// Takes a string for a key, if a key is what comes next.
    fn key(&mut self, key: &str, range: &Range<usize>) -> bool {
        let Some(Frame { node, inside: Inside::Object { seen, awaits_key }, .. }) =
            self.frames.last_mut()
        else {
            return false;
        };
        if !std::mem::take(awaits_key) {
            return false;
        }
        let node = node.map(|node| &self.wanted.nodes[node]);
        self.next = node.filter(|node| node.keys.contains(key)).and_then(|node| {
            let earlier = seen.entry(key.to_string()).or_default();
            *earlier += 1;
            node.children.get(&(key.to_string(), *earlier - 1)).copied()
        });
        if let Some(next) = self.next {
            for &fault in &self.wanted.nodes[next].key_faults {
                self.spans[fault] = range.clone();
            }
        }
        true
    }

    /// Makes ready for the next item of the array that is open.
    fn next_item(&mut self) {
        if let Some(Frame { node, inside: Inside::Array { index }, .. }) = self.frames.last() {
            let node = node.map(|node| &self.wanted.nodes[node]);
            self.next = node.and_then(|node| node.children.get(&(index.to_string(), 0)).copied());
        }
    }

    fn found(&mut self, node: Option<usize>, range: Range<usize>) {
        for &fault in node.iter().flat_map(|&node| &self.wanted.nodes[node].value_faults) {
            self.spans[fault] = range.clone();
        }
    }
}
