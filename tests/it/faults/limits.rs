//! Disks that are full, files that may not grow, files and folders that may only be read.

use std::path::{Path, PathBuf};
use std::process::Command;

use windowpane::store::sqlite::{Durability, Missing, Options, SqliteStore};
use windowpane::store::{Store, StoreError};

use crate::store_suite::sample::{everything, with_history};

use super::workload::{Workload, claim_and_finish, losses, this_test};
use crate::setting;

/// The limits of the size of a file are this far apart, in units of `ulimit -f` (512 bytes).
const LIMIT_STEP_BLOCKS: u32 = 16;
const LIMITS: u32 = 64;
/// More than fit into the largest limit.
const RUNS: i64 = 3_000;

const INSIDE: &str = "WINDOWPANE_FAULT_INSIDE";

/// Wherever the limit strikes, with an error or with the end of the process: what was said to be
/// done is done, the store is sound, and it goes on once it may grow.
#[test]
fn a_limit_of_the_file_size_loses_nothing() {
    let (mut stopped, mut killed, mut said) = (0, 0, 0);
    for limit in 1..=LIMITS {
        let folder = tempfile::tempdir().unwrap();
        let (path, acks) = (folder.path().join("store.db"), folder.path().join("acks"));
        let workload =
            Workload { store: &path, acks: &acks, runs: RUNS, durability: Durability::Full };
        let blocks = limit * LIMIT_STEP_BLOCKS;
        // With the signal ignored a write fails; else the process ends.
        let trap = if limit % 2 == 0 { "trap '' XFSZ;" } else { "" };
        let shell = format!("{trap} ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let output = workload.command(&shell).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match text.lines().find_map(|line| line.strip_prefix("stopped: ")) {
            Some(error) => {
                assert!(error.contains("reading or writing failed"), "{blocks}: {error}");
                assert!(error.contains(&*path.to_string_lossy()), "{blocks}: {error}");
                stopped += 1;
            }
            None => {
                assert!(!output.status.success(), "{blocks} blocks hold everything: {text}");
                killed += 1;
            }
        }
        let acks = std::fs::read(&acks).unwrap();
        said += acks.iter().filter(|&&byte| byte == b'\n').count();
        check_goes_on(&path, &acks);
    }
    println!("{LIMITS} limits: {stopped} errors, {killed} ends, {said} steps done and none lost");
    assert!(stopped >= 20 && killed >= 20 && said > 1_000);
}

#[track_caller]
fn check_goes_on(path: &Path, acks: &[u8]) {
    let mut store = SqliteStore::open(path).unwrap();
    assert_eq!(losses(&mut store, acks), [""; 0]);
    assert_eq!(store.verify().unwrap(), []);
    drop(store);
    claim_and_finish(path, &Options::default(), 7, |_| ()).unwrap();
    assert_eq!(SqliteStore::open(path).unwrap().verify().unwrap(), []);
}

/// Runs a test of this program again, inside a name space in which `folder` can be mounted on.
/// False where the machine does not allow that.
fn run_inside(folder: &Path, mount: &str, test: &str) -> bool {
    let probe = Command::new("unshare").args(["-rm", "true"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        println!("skipped: `unshare -rm` does not work here");
        return false;
    }
    let shell =
        format!("exec unshare -rm sh -c '{mount} || exit 77; exec \"$0\" \"$@\"' \"$0\" \"$@\"");
    let output = this_test(&shell, test).env(INSIDE, folder).output().unwrap();
    if output.status.code() == Some(77) {
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return false;
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    print!("{text}");
    true
}

fn inside() -> Option<PathBuf> {
    setting(INSIDE).map(PathBuf::from)
}

#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=1m tmpfs \"${INSIDE}\"");
    run_inside(folder.path(), &mount, "faults::limits::fill_the_disk");
}

/// Inside the name space: the folder is a disk of 1 MiB.
#[test]
fn fill_the_disk() {
    let Some(folder) = inside() else { return };
    let (path, ballast) = (folder.join("store.db"), folder.join("ballast"));
    std::fs::write(&ballast, [7; 400 << 10]).unwrap();
    let mut acks = String::new();
    let error = claim_and_finish(&path, &Options::default(), 100_000, |line| acks.push_str(line))
        .unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    println!("{} steps until: {error}", acks.lines().count());
    assert!(acks.lines().count() > 50);
    std::fs::remove_file(ballast).unwrap();
    check_goes_on(&path, acks.as_bytes());
}

#[test]
fn a_read_only_disk_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    with_history(&mut SqliteStore::open(&folder.path().join("store.db")).unwrap());
    let mount = format!(
        "mount --bind \"${INSIDE}\" \"${INSIDE}\" && mount -o remount,bind,ro \"${INSIDE}\""
    );
    run_inside(folder.path(), &mount, "faults::limits::use_a_read_only_disk");
}

/// Inside the name space: the folder can only be read.
#[test]
fn use_a_read_only_disk() {
    let Some(folder) = inside() else { return };
    let path = folder.join("store.db");
    let before = std::fs::read(&path).unwrap();
    for missing in [Missing::Create, Missing::Refuse] {
        let options = Options { missing, ..Options::default() };
        let error = SqliteStore::open_with(&path, &options).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        println!("{error}");
    }
    let error = SqliteStore::open(&folder.join("new.db")).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    println!("{error}");
    assert!(std::fs::read(&path).unwrap() == before);
}

/// A file that may only be read, in a folder that may be written, as a user without special
/// rights: it can be read, and a write is an error.
#[test]
fn a_read_only_file_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    with_history(&mut SqliteStore::open(&path).unwrap());
    let shell = format!(
        "chmod 777 \"${INSIDE}\" && chmod 444 \"${INSIDE}\"/store.db || exit 77
        if [ \"$(id -u)\" = 0 ]; then
            setpriv --reuid 65534 --regid 65534 --clear-groups test -x \"$0\" || exit 77
            exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" \"$@\"
        fi
        exec \"$0\" \"$@\""
    );
    let test = "faults::limits::use_a_read_only_file";
    let output = this_test(&shell, test).env(INSIDE, folder.path()).output().unwrap();
    if output.status.code() == Some(77) {
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    print!("{text}");
}

/// As a user without special rights: the file can only be read.
#[test]
fn use_a_read_only_file() {
    let Some(folder) = inside() else { return };
    let path = folder.join("store.db");
    let mut store = SqliteStore::open_existing(&path).unwrap();
    println!("read {} bytes", everything(&mut store).unwrap().len());
    let error = store.begin_write().err().unwrap();
    assert!(error.to_string().contains("it can only be read"), "{error}");
    println!("{error}");
}
