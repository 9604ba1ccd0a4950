//! A build without PostgreSQL says that its tests did not run.

#[test]
fn the_postgresql_tests_did_not_run() {
    use std::io::Write as _;
    // Not by `println!`, which is heard only of tests that fail.
    let _ = std::io::stderr()
        .write_all(b"the PostgreSQL tests did not run: they need --features postgres\n");
}
