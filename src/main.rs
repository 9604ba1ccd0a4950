//! The command `windowpane`.

use std::process::ExitCode;

fn main() -> ExitCode {
    windowpane::cli::main(std::env::args_os())
}
