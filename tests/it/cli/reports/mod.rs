//! `validate` in every form: a folder of many faults, each of them at its place in each report.

mod folder;
mod forgery;
mod places;
mod schemas;

use std::path::Path;
use std::process::Output;

use super::shell;

/// Checks the documents in `folder` as of a fixed day.
fn validate(folder: &Path, options: &str) -> Output {
    let line = format!("windowpane validate {options} --now 2026-12-01");
    shell(folder, &line).output().unwrap()
}

/// The report on the documents in `folder`, which have faults.
#[track_caller]
fn report(folder: &Path, form: &str) -> String {
    let output = validate(folder, &format!(". --format {form}"));
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
