//! Reports for programs: one JSON object, or one for each diagnostic.

use std::io::{self, Write};

use crate::wire::json::write_row;

use super::{Counts, Diagnostic, Excerpt, Report};

/// One JSON object: the diagnostics, and how many there are.
pub struct Json<W: Write> {
    out: W,
    is_empty: bool,
}

impl<W: Write> Json<W> {
    /// A report to `out`.
    pub fn new(out: W) -> Json<W> {
        Json { out, is_empty: true }
    }
}

impl<W: Write> Report for Json<W> {
    fn found(&mut self, found: &Diagnostic, _: &Excerpt) -> io::Result<()> {
        let before = if self.is_empty { "{\"diagnostics\":[\n" } else { ",\n" };
        self.is_empty = false;
        let mut buffer = before.as_bytes().to_vec();
        write_row(&mut buffer, found);
        self.out.write_all(&buffer)
    }

    fn end(&mut self, counts: &Counts) -> io::Result<()> {
        let end = if self.is_empty { "{\"diagnostics\":[]" } else { "\n]" };
        let Counts { files, workflows, errors, warnings, .. } = counts;
        writeln!(
            self.out,
            "{end},\"files\":{files},\"workflows\":{workflows},\"errors\":{errors},\"warnings\":{warnings}}}"
        )?;
        self.out.flush()
    }
}

/// One JSON object for each diagnostic, one on a line.
pub struct JsonLines<W: Write> {
    out: W,
}

impl<W: Write> JsonLines<W> {
    /// A report to `out`.
    pub fn new(out: W) -> JsonLines<W> {
        JsonLines { out }
    }
}

impl<W: Write> Report for JsonLines<W> {
    fn found(&mut self, found: &Diagnostic, _: &Excerpt) -> io::Result<()> {
        let mut buffer = Vec::new();
        write_row(&mut buffer, found);
        buffer.push(b'\n');
        self.out.write_all(&buffer)
    }

    fn end(&mut self, _: &Counts) -> io::Result<()> {
        self.out.flush()
    }
}
