//! What disks and machines do to a store: flipped bits, full disks, files cut short, power cuts.
//!
//! The long form of each is one line of `tests/faults/run`.

mod flips;
mod limits;
mod powercut;
mod storm;
mod truncated;
mod workload;

use std::path::Path;

use windowpane::store::StoreError;
use windowpane::store::sqlite::SqliteStore;

use crate::store_suite::sample::everything;

/// The number that the environment gives for `name`, else `default`.
fn count(name: &str, default: u64) -> u64 {
    crate::setting(name).map_or(default, |text| text.parse().expect(name))
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
