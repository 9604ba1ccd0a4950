//! Diagnostics as one JSON object, and as JSON Lines.

use std::io::{self, Write};

use super::super::json::write_row;
use super::{Case, Reporter, Summary};

/// One object: the diagnostics, then the counts.
pub(super) struct Json<W: Write> {
    out: W,
    buffer: Vec<u8>,
    is_empty: bool,
}

impl<W: Write> Json<W> {
    pub(super) fn new(out: W) -> Json<W> {
        Json { out, buffer: b"{\"diagnostics\":[".to_vec(), is_empty: true }
    }
}

impl<W: Write> Reporter for Json<W> {
    fn case(&mut self, case: &Case<'_>) -> io::Result<()> {
        for diagnostic in &case.diagnostics {
            let before: &[u8] = if self.is_empty { b"\n" } else { b",\n" };
            self.is_empty = false;
            self.buffer.extend_from_slice(before);
            write_row(&mut self.buffer, diagnostic);
        }
        send(&mut self.out, &mut self.buffer)
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let Summary { files, workflows, errors, warnings, .. } = summary;
        let before = if self.is_empty { "" } else { "\n" };
        let counts = format!(
            "{before}],\"files\":{files},\"workflows\":{workflows},\"errors\":{errors},\
             \"warnings\":{warnings}}}\n"
        );
        self.buffer.extend_from_slice(counts.as_bytes());
        send(&mut self.out, &mut self.buffer)?;
        self.out.flush()
    }
}

/// One object for each diagnostic.
pub(super) struct Jsonl<W: Write> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Jsonl<W> {
    pub(super) fn new(out: W) -> Jsonl<W> {
        Jsonl { out, buffer: Vec::new() }
    }
}

impl<W: Write> Reporter for Jsonl<W> {
    fn case(&mut self, case: &Case<'_>) -> io::Result<()> {
        for diagnostic in &case.diagnostics {
            write_row(&mut self.buffer, diagnostic);
            self.buffer.push(b'\n');
        }
        send(&mut self.out, &mut self.buffer)
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes what is in a buffer, and empties it.
fn send(out: &mut impl Write, buffer: &mut Vec<u8>) -> io::Result<()> {
    out.write_all(buffer)?;
    buffer.clear();
    Ok(())
}
