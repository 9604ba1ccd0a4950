//! The command `windowpane-apiary`: `windowpane poll`, for hosts that pass no arguments.

use std::process::ExitCode;

fn main() -> ExitCode {
    let command = ["windowpane", "poll"].map(Into::into);
    windowpane::cli::main(command.into_iter().chain(std::env::args_os().skip(1)))
}
