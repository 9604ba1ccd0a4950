//! Diagnostics as JUnit XML: a suite for each file, a test case for each workflow. A file of many
//! workflows has several suites, so that none has to be kept whole.

use std::io::{self, Write};

use super::super::text::escape_controls;
use super::{Case, Diagnostic, Reporter, Strictness, Summary};

/// A suite of more bytes ends, and another one begins.
const SUITE_BYTES: usize = 1024 * 1024;

pub(super) struct Junit<W: Write> {
    out: W,
    strictness: Strictness,
    /// The suite that is being gathered; its counts stand before its cases.
    suite: Option<Suite>,
    has_begun: bool,
}

#[derive(Default)]
struct Suite {
    file: String,
    tests: u64,
    failures: u64,
    cases: String,
}

impl<W: Write> Junit<W> {
    pub(super) fn new(strictness: Strictness, out: W) -> Junit<W> {
        Junit { out, strictness, suite: None, has_begun: false }
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.has_begun {
            return Ok(());
        }
        self.has_begun = true;
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"windowpane\">\n";
        self.out.write_all(head.as_bytes())
    }

    fn end_suite(&mut self) -> io::Result<()> {
        let Some(Suite { file, tests, failures, cases }) = self.suite.take() else { return Ok(()) };
        let name = escaped(&file);
        writeln!(
            self.out,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n\
             {cases}  </testsuite>"
        )
    }
}

impl<W: Write> Reporter for Junit<W> {
    fn case(&mut self, case: &Case<'_>) -> io::Result<()> {
        self.begin()?;
        let is_over = |suite: &Suite| suite.file != case.file || suite.cases.len() > SUITE_BYTES;
        if self.suite.as_ref().is_none_or(is_over) {
            self.end_suite()?;
            self.suite = Some(Suite { file: case.file.to_owned(), ..Suite::default() });
        }
        let Some(suite) = &mut self.suite else { return Ok(()) };
        let fails = |diagnostic: &&Diagnostic<'_>| self.strictness.fails(diagnostic.severity);
        let failures: Vec<_> = case.diagnostics.iter().filter(fails).collect();
        let others: Vec<_> = case.diagnostics.iter().filter(|one| !fails(one)).collect();
        suite.tests += 1;
        suite.failures += u64::from(!failures.is_empty());
        let name = escaped(case.name.unwrap_or("(the file)"));
        let class = escaped(case.file);
        suite.cases += &format!("    <testcase classname=\"{class}\" name=\"{name}\"");
        if failures.is_empty() && others.is_empty() {
            suite.cases += "/>\n";
            return Ok(());
        }
        suite.cases += ">\n";
        if let Some(first) = failures.first() {
            // A test case has one failure; its text tells them all.
            suite.cases += &format!(
                "      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                first.code.as_str(),
                escaped(first.message),
                told(&failures)
            );
        }
        if !others.is_empty() {
            suite.cases += &format!("      <system-out>{}</system-out>\n", told(&others));
        }
        suite.cases += "    </testcase>\n";
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        self.begin()?;
        self.end_suite()?;
        self.out.write_all(b"</testsuites>\n")?;
        self.out.flush()
    }
}

/// Diagnostics as lines of text.
fn told(diagnostics: &[&Diagnostic<'_>]) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        let (severity, code) = (diagnostic.severity.as_str(), diagnostic.code.as_str());
        let (file, span) = (diagnostic.source.file, diagnostic.span);
        let hint = diagnostic.hint.map_or(String::new(), |hint| format!(" ({hint})"));
        let line = format!(
            "{severity}[{code}] at {file}:{}:{}: {}{hint}, pointer `{}`",
            span.line, span.column, diagnostic.message, diagnostic.pointer
        );
        text += &escaped(&line);
        text.push('\n');
    }
    text
}

/// Text for XML, which has no way to write most control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in escape_controls(text).chars() {
        match char {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&apos;",
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(char),
        }
    }
    escaped
}
