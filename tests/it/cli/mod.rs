//! The command, through the real binary.

mod golden;
mod hostile;
mod pipelines;
mod progress;
mod reports;
mod sharing;
mod signals;
mod transcripts;
mod versions;
#[cfg(not(feature = "postgres"))]
mod without_postgres;

use std::path::Path;
use std::process::Command;

/// A shell in `folder` that finds the command and, in its environment, only where the example
/// documents are.
pub(crate) fn shell(folder: &Path, line: &str) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_windowpane"));
    let binaries = binary.parent().unwrap().to_str().unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(folder)
        .env_clear()
        .env("EXAMPLES", concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/examples"))
        .env("PATH", format!("{binaries}:/usr/local/bin:/usr/bin:/bin"));
    command
}

/// What a line that must succeed prints.
#[track_caller]
pub(crate) fn output(folder: &Path, line: &str) -> String {
    let output = shell(folder, line).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
