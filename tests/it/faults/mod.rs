//! What disks and machines do to a store: flipped bits, full disks, files cut short, power cuts.
//!
//! The long form of each is one line of `tests/faults/run`.

mod flips;
mod limits;
mod powercut;
mod truncated;
mod workload;

use std::ffi::OsString;
use std::path::Path;

use windowpane::store::StoreError;
use windowpane::store::sqlite::SqliteStore;

use crate::store_suite::sample::everything;

/// What a process of these tests was told by the one that started it.
#[expect(clippy::disallowed_methods, reason = "a test that is a process of its own is told so")]
fn setting(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The number that the environment gives for `name`, else `default`.
fn count(name: &str, default: u64) -> u64 {
    setting(name).map_or(default, |text| text.to_str().unwrap().parse().expect(name))
}

/// What can be read from a file, and what the check of it finds: an error is a finding too.
fn examine(path: &Path) -> (Result<String, StoreError>, Vec<String>) {
    let mut store = match SqliteStore::open_existing(path) {
        Ok(store) => store,
        Err(error) => {
            let finding = error.to_string();
            return (Err(error), vec![finding]);
        }
    };
    let findings = match store.verify() {
        Ok(findings) => findings.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    };
    (everything(&mut store), findings)
}
