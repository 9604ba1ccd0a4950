//! Single bits that flip in a file at rest.

use std::path::Path;

use fastrand::Rng;
use windowpane::store::record::{RunKey, RunRecord};
use windowpane::store::sqlite::SqliteStore;

use crate::store_suite::sample::{everything, minute, plan, succeeded, with_history, write};

use super::{count, examine};

/// The share of flips that must hit a record, or the test proves nothing.
const CHANGES_AT_LEAST_PERCENT: u64 = 25;

/// A store without room to spare, so that most flips hit something.
fn dense_store(path: &Path) {
    let loose = path.with_extension("loose");
    let mut store = SqliteStore::open(&loose).unwrap();
    with_history(&mut store);
    let runs: Vec<RunRecord> = (100..600)
        .map(|occurrence| {
            let run = succeeded("alpha", 5, 1);
            let key = RunKey { occurrence: minute(occurrence), ..run.key.clone() };
            RunRecord { key, plan: plan(minute(occurrence)), ..run }
        })
        .collect();
    write(&mut store, |t| t.insert_runs(&runs)).unwrap();
    store.backup(path).unwrap();
    // Opened once, so that the log is on and no flip is undone by turning it on.
    drop(SqliteStore::open(path).unwrap());
}

/// Whatever bit flips: if the records read differently, or not at all, the check finds it.
#[test]
fn the_check_finds_every_flip_that_changes_a_record() {
    let (seed, flips) = (count("WINDOWPANE_FLIP_SEED", 1), count("WINDOWPANE_FLIPS", 2_000));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    dense_store(&path);
    let sound = std::fs::read(&path).unwrap();
    let expected = everything(&mut SqliteStore::open(&path).unwrap()).unwrap();

    let mut rng = Rng::with_seed(seed);
    let (mut changed, mut unreadable, mut reported) = (0, 0, 0);
    for flip in 0..flips {
        let bit = rng.usize(..sound.len() * 8);
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, bytes).unwrap();
        let (read, findings) = examine(&path);
        reported += u64::from(!findings.is_empty());
        match read {
            Ok(read) if read == expected => continue,
            Ok(_) => changed += 1,
            Err(_) => unreadable += 1,
        }
        assert!(!findings.is_empty(), "seed {seed}, flip {flip}: bit {bit} goes unnoticed");
    }
    let size = sound.len();
    println!(
        "seed {seed}: {flips} flips in {size} bytes: {unreadable} made records unreadable, \
        {changed} changed them, {reported} were found"
    );
    assert!((changed + unreadable) * 100 >= flips * CHANGES_AT_LEAST_PERCENT);
}
