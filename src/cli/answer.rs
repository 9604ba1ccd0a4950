//! The answer of `due` and `claim`: runs, what is skipped, and when to look again.

use crate::time::Instant;
use crate::wire::{Row, SkippedRow};

use super::console::Console;
use super::failure::{Exit, Failure};

/// What stands around the runs.
pub(super) struct Answer {
    /// The instant that was asked about.
    pub(super) now: Instant,
    /// The earliest instant after it at which anything becomes due or available.
    pub(super) next_due: Option<Instant>,
    /// How many ranges are skipped.
    pub(super) skipped: usize,
}

impl Answer {
    /// Prints the runs; as JSON, with everything around them. People who look at a table are told
    /// the rest.
    pub(super) fn print<'a, R: Row>(
        &self,
        console: &Console,
        runs: impl Iterator<Item = Result<R, Failure>>,
        skipped: impl Iterator<Item = SkippedRow<'a>>,
    ) -> Result<Exit, Failure> {
        let mut sheet = console.sheet()?;
        sheet.member("now", self.now)?;
        let mut list = sheet.list::<R>("runs")?;
        let mut count = 0_u64;
        for run in runs {
            list.row(&run?)?;
            count += 1;
        }
        list.end()?;
        sheet.aside("skipped", skipped)?;
        sheet.member("next_due", self.next_due)?;
        sheet.end()?;
        console.note(&self.summary(count));
        Ok(Exit::Done)
    }

    fn summary(&self, runs: u64) -> String {
        let runs = match runs {
            0 => "nothing is owed".to_owned(),
            1 => "1 run".to_owned(),
            many => format!("{many} runs"),
        };
        let skipped = match self.skipped {
            0 => String::new(),
            1 => "; 1 range skipped".to_owned(),
            many => format!("; {many} ranges skipped"),
        };
        let next = match self.next_due {
            Some(next) => format!("; the next is due at {next}"),
            None => String::new(),
        };
        format!("{runs} at {}{skipped}{next}", self.now)
    }
}
