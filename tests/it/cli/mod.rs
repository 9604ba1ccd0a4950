//! The command, through the real binary.

mod golden;
mod signals;
mod transcripts;

use std::path::Path;
use std::process::Command;

/// A shell in `folder` that finds the command, and nothing else in its environment.
pub(crate) fn shell(folder: &Path, line: &str) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_windowpane"));
    let binaries = binary.parent().unwrap().to_str().unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(folder)
        .env_clear()
        .env("PATH", format!("{binaries}:/usr/local/bin:/usr/bin:/bin"));
    command
}
