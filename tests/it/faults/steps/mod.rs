//! A crash at each step of each command: every call of the store, the instant between a commit and
//! its answer, and every write and sync that SQLite makes on the way.
//!
//! A process carries one command out and kills itself at step 1, another at step 2, and so on until
//! one comes to its end. After each crash the store is sound and holds all of the command or nothing
//! of it; the command is given again, everything is drained, and nothing is lost or done twice.

mod commands;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use windowpane::clock::FixedClock;
use windowpane::engine;
use windowpane::store::sqlite::{Durability, Options, SqliteStore};
use windowpane::time::Instant;

use crate::account::{self, Act, Fault, Snapshot};
use crate::watched::COMMITTED;

use super::drain;
use super::powercut::{build, disk};
use super::workload::this_test;

use commands::{COMMANDS, NOW, Named};

const SIGKILL: i32 = 9;
/// More than any command takes.
const STEPS_AT_MOST: usize = 300;

/// Where a process is killed.
#[derive(Clone, Copy)]
enum Killer<'a> {
    /// Before a call of the store, or after a commit.
    Itself,
    /// After a write or a sync; the shim.
    Shim(&'a Path),
}

/// A store in which every command has something to do, and one command on copies of it.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(&folder.path().join("before.db")).unwrap();
        commands::prepare(&mut store);
        Scene { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// A process that carries the command out on a fresh copy of the store and is killed at `step`;
    /// the name of that step, or `None` when it came to its end before.
    fn crash(&self, command: Named, killer: Killer<'_>, step: u32) -> Option<String> {
        let (watched, log) = (self.root().join("store"), self.root().join("log"));
        let _ = (fs::remove_dir_all(&watched), fs::remove_file(&log));
        fs::create_dir(&watched).unwrap();
        fs::copy(self.root().join("before.db"), watched.join("store.db")).unwrap();
        let mut process = commands::process(command, &watched.join("store.db"));
        match killer {
            Killer::Itself => process.env(commands::STEP, step.to_string()),
            Killer::Shim(shim) => process
                .env("LD_PRELOAD", shim)
                .env("WATCH_FOLDER", &watched)
                .env("WATCH_LOG", &log)
                .env("WATCH_KILL", step.to_string()),
        };
        let output = process.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        if output.status.signal() != Some(SIGKILL) {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(text.contains("\ndone\n"), "{}: {text}{errors}", command.name);
            return None;
        }
        Some(match killer {
            Killer::Itself => text.lines().last().unwrap().to_owned(),
            Killer::Shim(_) => disk::read_log(&fs::read(log).unwrap()).last().unwrap().to_string(),
        })
    }

    /// What the crash left is sound, and goes on.
    fn check(&self, command: Named, step: &str) {
        let at = |what: &str| format!("{} at {step}: {what}", command.name);
        let none = Snapshot::default();
        let mut before = SqliteStore::open(&self.root().join("before.db")).unwrap();
        let before = Snapshot::read(&mut before, &none);
        // What the process left needs no power cut to be told from what follows.
        let options = Options { durability: Durability::Process, ..Options::default() };
        let path = self.root().join("store/store.db");
        let mut store = SqliteStore::open_with(&path, &options).unwrap();
        check_store(&mut store, NOW(), &at("the check"));
        let left = Snapshot::read(&mut store, &none);
        let nothing = account::changes(&before, &left, Act::Nothing, NOW());
        let all = account::changes(&before, &left, command.act, NOW());
        // A commit that was made is there; one that was not, is not. Inside it, it is one of them.
        let faults: Vec<Fault> = match step {
            COMMITTED => all,
            _ if step.contains(" store.db") && !nothing.is_empty() => all,
            _ => nothing,
        };
        assert!(faults.is_empty(), "{}", at(&faults[0].to_string()));
        check_sound(&left, &at("left"));
        commands::carry_out(command, &mut store);
        let end = NOW().checked_add_ms(3 * 3_600_000).unwrap();
        drain(&mut store, end);
        let drained = Snapshot::read(&mut store, &left);
        check_sound(&drained, &at("drained"));
        for kept in drained.workflows.values() {
            let settled = account::still_to_come(kept, NOW());
            settled.unwrap_or_else(|fault| panic!("{}", at(&fault.to_string())));
        }
        let open = drained.runs().find(|run| run.available.is_some());
        assert_eq!(open, None, "{}", at("still open"));
        check_store(&mut store, end, &at("the check at the end"));
    }
}

fn check_store(store: &mut SqliteStore, now: Instant, at: &str) {
    assert_eq!(store.verify().unwrap(), [], "{at}");
    assert_eq!(engine::verify(store, &FixedClock(now)).unwrap(), [], "{at}");
}

fn check_sound(snapshot: &Snapshot, at: &str) {
    let faults = account::faults(snapshot);
    assert!(faults.is_empty(), "{at}: {}", faults[0]);
}

/// Kills a process at each step of each of the commands.
fn crash_everywhere(commands: &[Named], killer: Killer<'_>) {
    let (scene, mut crashes) = (Scene::new(), 0);
    for &command in commands {
        let mut steps = Vec::new();
        while let Some(step) = scene.crash(command, killer, steps.len() as u32 + 1) {
            scene.check(command, &step);
            steps.push(step);
            assert!(steps.len() < STEPS_AT_MOST, "{} does not end", command.name);
        }
        assert!(steps.len() > 3, "{}: {steps:?}", command.name);
        println!("{}, {} crashes: {}", command.name, steps.len(), in_groups(&steps));
        crashes += steps.len();
    }
    println!("{crashes} crashes in {} commands, nothing lost and nothing twice", commands.len());
}

/// The steps, each that follows itself as one.
fn in_groups(steps: &[String]) -> String {
    let groups = steps.chunk_by(|one, next| one == next).map(|group| match group.len() {
        1 => group[0].clone(),
        count => format!("{} ({count} times)", group[0]),
    });
    groups.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_crash_at_any_call_of_the_store_leaves_all_or_nothing() {
    crash_everywhere(COMMANDS, Killer::Itself);
}

/// Those that write the most kinds of rows stand for the others.
#[test]
fn a_crash_at_any_write_or_sync_leaves_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let shim = folder.path().join("shim.so");
    if build(&shim) {
        let wanted = ["claim", "finish", "sync of a new one", "edit"];
        let mut commands = COMMANDS.to_vec();
        commands.retain(|command| wanted.contains(&command.name));
        assert_eq!(commands.len(), wanted.len());
        crash_everywhere(&commands, Killer::Shim(&shim));
    }
}

/// The program again, to carry a command out.
fn this_program() -> Command {
    this_test("exec \"$0\" \"$@\"", "faults::steps::commands::carry_out_and_die")
}
