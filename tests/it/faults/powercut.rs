//! Power cuts: every state that a disk may be left in, as far as syncs allow it.
//!
//! A process claims and finishes runs while a shim (`tests/faults/watch_writes.c`) logs what it
//! writes and syncs. A power cut is then a place in that log: what was synced before it is on the
//! disk; each write since then is kept, lost or torn between sectors, on its own; files whose folder
//! was not synced since they were made may be gone. From each state the store is opened as a
//! restarted process would, and everything acknowledged before the cut must be there.

pub(super) mod disk;

use std::path::Path;
use std::process::Command;

use fastrand::Rng;
use windowpane::store::sqlite::{Durability, Options, SqliteStore};

use disk::{Disk, Event, Promise};

use super::count;
use super::workload::{Workload, losses};

const ACKS: &str = "acks";
/// Runs that the process claims; each is two commits.
const RUNS: i64 = 150;

/// What came of the states of one series.
#[derive(Debug, Default)]
struct Tally {
    states: u64,
    /// States in which something acknowledged is gone.
    lost: u64,
    /// States that cannot be opened, or in which the check finds something.
    broken: u64,
    /// What went wrong first.
    first: Option<String>,
}

impl Tally {
    fn lost(&mut self, what: String) {
        self.lost += 1;
        self.first.get_or_insert(what);
    }

    fn broken(&mut self, what: String) {
        self.broken += 1;
        self.first.get_or_insert(what);
    }
}

/// The log of one process, or `None` where it cannot be made.
fn log(durability: Durability) -> Option<Vec<Event>> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (shim, watched, log) = (root.join("shim.so"), root.join("store"), root.join("log"));
    if !build(&shim) {
        return None;
    }
    std::fs::create_dir(&watched).unwrap();
    let (store, acks) = (watched.join("store.db"), watched.join(ACKS));
    let workload = Workload { store: &store, acks: &acks, runs: RUNS, durability };
    let shell = "LD_PRELOAD=\"$WATCH_SHIM\" exec \"$0\" \"$@\"";
    let mut command = workload.command(shell);
    command.env("WATCH_SHIM", shim).env("WATCH_FOLDER", watched).env("WATCH_LOG", &log);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("\ndone\n"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(disk::read_log(&std::fs::read(log).unwrap()))
}

/// Builds the shim; false where the machine cannot.
pub(super) fn build(shim: &Path) -> bool {
    if !cfg!(target_os = "linux") {
        println!("skipped: the shim is written for Linux");
        return false;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/watch_writes.c");
    let flags = ["-O1", "-shared", "-fPIC", "-o"];
    let built = Command::new("cc").args(flags).arg(shim).arg(source).arg("-ldl").output();
    match built {
        Ok(output) if output.status.success() => true,
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            println!("skipped: the shim needs the C compiler `cc`: {error}");
            false
        }
    }
}

/// Cuts the power at `states` random places of the log.
fn cut(events: &[Event], promise: Promise, states: u64, seed: u64) -> Tally {
    let mut rng = Rng::with_seed(seed);
    let mut places: Vec<usize> = (0..states).map(|_| rng.usize(..=events.len())).collect();
    places.sort_unstable();
    let folder = tempfile::tempdir().unwrap();
    let (mut disk, mut done, mut tally) = (Disk::new(promise), 0, Tally::default());
    for place in places {
        events[done..place].iter().for_each(|event| disk.apply(event));
        done = place;
        tally.states += 1;
        let path = disk.leave(folder.path(), &mut rng);
        let acks = disk.said(ACKS);
        match open_again(&path) {
            Err(problem) => tally.broken(format!("place {place}: {problem}")),
            Ok(mut store) => {
                if let Some(loss) = losses(&mut store, &acks).first() {
                    tally.lost(format!("place {place}: {loss}"));
                }
            }
        }
    }
    tally
}

/// Opens the store as a process would that was started again, and checks it.
fn open_again(path: &Path) -> Result<SqliteStore, String> {
    let options = Options { durability: Durability::Process, ..Options::default() };
    let mut store = SqliteStore::open_with(path, &options).map_err(|error| error.to_string())?;
    let findings = store.verify().map_err(|error| error.to_string())?;
    match findings.first() {
        None => Ok(store),
        Some(finding) => Err(finding.to_string()),
    }
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let seed = count("WINDOWPANE_POWERCUT_SEED", 1);
    let states = count("WINDOWPANE_POWERCUTS", 2_000);
    let Some(events) = log(Durability::Full) else { return };
    let tally = cut(&events, Promise::Kept, states, seed);
    println!("full, {} events, seed {seed}: {tally:?}", events.len());
    assert_eq!((tally.lost, tally.broken), (0, 0), "{tally:?}");

    // Without its promise the test would show nothing: these controls must lose something.
    let lying = cut(&events, Promise::Broken, states / 8, seed);
    println!("full on a disk that only says it synced: {lying:?}");
    assert!(lying.lost > 0, "a disk that lies goes unnoticed");
    let Some(events) = log(Durability::Process) else { return };
    let tally = cut(&events, Promise::Kept, states / 8, seed);
    println!("process, {} events: {tally:?}", events.len());
    assert!(tally.lost > 0, "the lower durability goes unnoticed");
    assert_eq!(tally.broken, 0, "it loses the last commits, and never harms the file: {tally:?}");
}
