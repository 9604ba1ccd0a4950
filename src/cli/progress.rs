//! A progress bar on a terminal, for work that takes long.

use std::io::{self, IsTerminal, Write};

/// So many texts or records are gone through before anything is shown: few take no time worth a bar.
const SILENT_STEPS: u64 = 20_000;

/// How many characters the bar is wide.
const WIDTH: usize = 40;

/// A bar on stderr, where that is a terminal; not shown until the work takes long.
#[derive(Default)]
pub(super) struct Progress {
    steps: u64,
    /// The percentage that stands there.
    shown: Option<u32>,
}

impl Progress {
    /// Says that so many more steps are done, and how much that makes, from 0 to 1.
    pub(super) fn show(&mut self, steps: u64, done: f64) {
        self.steps += steps;
        if self.steps < SILENT_STEPS || !io::stderr().is_terminal() {
            return;
        }
        let percent = (done * 100.0) as u32;
        if self.shown == Some(percent) {
            return;
        }
        self.shown = Some(percent);
        let filled = (done * WIDTH as f64) as usize;
        let bar = format!("{:<WIDTH$}", "#".repeat(filled.min(WIDTH)));
        say(&format!("\r[{bar}] {percent:3} %"));
    }

    /// Takes the bar away.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            say(&format!("\r{:1$}\r", "", WIDTH + 8));
        }
    }
}

fn say(text: &str) {
    // Where that fails there is nobody to see it.
    let _ = io::stderr().write_all(text.as_bytes()).and_then(|()| io::stderr().flush());
}
