//! `verify` finds what was changed past the store.

use crate::store_suite::sample::with_history;

use super::scratch;

/// Changes something past the store, and checks what `verify` says of it.
#[track_caller]
fn check(change: &str, expected: &[&str]) {
    let Some(scratch) = scratch() else { return };
    let mut store = scratch.open();
    with_history(&mut store);
    assert_eq!(store.verify().unwrap(), [], "before the change");
    scratch.execute(change);
    let findings = store.verify().unwrap();
    let texts: Vec<String> =
        findings.iter().map(|found| format!("{}: {}", found.place, found.problem)).collect();
    for expected in expected {
        assert!(texts.iter().any(|text| text.contains(expected)), "{change}: {texts:?}");
    }
}

#[test]
fn a_changed_row_is_found() {
    check(
        "UPDATE run SET worker = 'somebody' WHERE ref = 'alpha' AND state = 1",
        &["run: `alpha@2026-01-01T12:20:00Z` does not match its checksum"],
    );
    check("UPDATE progress SET cursor_ms = 1 WHERE ref = 'Zeta'", &["workflow: `Zeta` does not"]);
    check("UPDATE skip SET count = count + 1", &["skip: `2026-01-01T12:00:00Z to"]);
    check("UPDATE pause SET reason = 'none'", &["pause: `from 2026-01-01T12:05:00Z` does not"]);
}

#[test]
fn a_row_that_is_gone_is_found() {
    check("DELETE FROM store_info", &["store_info: `store` is missing"]);
    check("DELETE FROM revision WHERE workflow_id = 1", &["workflow: `delta` has no revision"]);
    check(
        "DELETE FROM revision WHERE workflow_id = 2 AND number = 1",
        &["revision: `alpha` has revisions that do not count from 1 without a gap"],
    );
}
