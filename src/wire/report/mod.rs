//! Reports of what a check found, in the forms that people, programs and pipelines read.

mod diagnostic;
mod excerpt;
mod human;
mod json;

use std::io;

pub use diagnostic::Diagnostic;
pub use excerpt::Excerpt;
pub use human::{Human, Style, render};
pub use json::{Json, JsonLines};

/// How much was checked, and how much was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Files that were read.
    pub files: u64,
    /// Workflows, also those with an error.
    pub workflows: u64,
    /// Errors found.
    pub errors: u64,
    /// Warnings found.
    pub warnings: u64,
    /// Notes made.
    pub notes: u64,
}

/// A form of report, which is written as the check goes on.
pub trait Report {
    /// Takes the next thing that was found, and the part of the source that it is about.
    ///
    /// # Errors
    /// As the output reports; so do all methods.
    fn found(&mut self, found: &Diagnostic, excerpt: &Excerpt) -> io::Result<()>;

    /// Ends the report.
    fn end(&mut self, counts: &Counts) -> io::Result<()>;
}
