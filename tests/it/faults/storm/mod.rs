//! A storm of `kill -9`: eight processes on one store, each killed at a random instant and replaced,
//! over and over; then an audit in columns, of which every column on the right must be zero.
//!
//! `WINDOWPANE_STORM_KILLS=20000 cargo test storm -- --nocapture` is a longer one.

mod audit;
mod worker;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};

use fastrand::Rng;
use windowpane::clock::{Clock, Moment, SystemClock, wait_until};

use super::count;
use super::workload::this_test;

use worker::Place;

const PROCESSES: usize = 8;
/// So many steps of any processes pass between two kills, on average.
const STEPS_PER_KILL: u64 = 16;
/// After so many steps, a kill waits at most so long, that it may strike anywhere in a step.
const KILL_WITHIN_MS: i64 = 4;
/// Longer than any step takes: if nobody says anything for so long, they all hang.
const SILENCE_AT_MOST_MS: i64 = 60_000;
const SIGKILL: i32 = 9;

struct Storm {
    place: Place,
    rng: Rng,
    /// A byte for each step of any process.
    steps: Receiver<u8>,
    said: std::io::PipeWriter,
    children: Vec<Child>,
    started: u64,
    kills: u64,
    /// Processes that ended by themselves, and how.
    ended: Vec<String>,
}

impl Storm {
    fn new(folder: &Path, seed: u64) -> Storm {
        fs::create_dir_all(folder.join("acks")).unwrap();
        let (mut heard, said) = std::io::pipe().unwrap();
        let (tell, steps) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 64];
            while let Ok(length @ 1..) = heard.read(&mut bytes) {
                if bytes[..length].iter().any(|&byte| tell.send(byte).is_err()) {
                    return;
                }
            }
        });
        let place = Place { folder: folder.to_owned(), begun: SystemClock.now(), seed };
        worker::register(&place);
        let rng = Rng::with_seed(seed);
        let (children, ended) = (Vec::new(), Vec::new());
        Storm { place, rng, steps, said, children, started: 0, kills: 0, ended }
    }

    fn start(&mut self) -> Child {
        let mut command = this_test("exec \"$0\" \"$@\"", "faults::storm::worker::work");
        self.place.tell(&mut command, self.started);
        let errors = File::create(self.place.errors_of(self.started)).unwrap();
        self.started += 1;
        let said = self.said.try_clone().unwrap();
        command.stdin(Stdio::null()).stdout(said).stderr(errors).spawn().unwrap()
    }

    /// Kills a process at a random instant, and starts another in its place.
    fn strike(&mut self) {
        for _ in 0..self.rng.u64(1..2 * STEPS_PER_KILL) {
            let silence = Moment::now().after_ms(SILENCE_AT_MOST_MS);
            assert!(wait_until(&self.steps, silence).is_some(), "all processes hang");
        }
        let instant = Moment::now().after_ms(self.rng.i64(0..=KILL_WITHIN_MS));
        while wait_until(&self.steps, instant).is_some() {}
        let victim = self.rng.usize(..PROCESSES);
        let next = self.start();
        let child = std::mem::replace(&mut self.children[victim], next);
        self.kill(child);
    }

    fn kill(&mut self, mut child: Child) {
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.signal() == Some(SIGKILL) {
            self.kills += 1;
        } else {
            self.ended.push(format!("a process ended by itself: {status}"));
        }
    }

    fn rage(&mut self, kills: u64) {
        self.children = (0..PROCESSES).map(|_| self.start()).collect();
        for _ in 0..kills - PROCESSES as u64 {
            self.strike();
        }
        for child in std::mem::take(&mut self.children) {
            self.kill(child);
        }
        for number in 0..self.started {
            let errors = fs::read_to_string(self.place.errors_of(number)).unwrap();
            if !errors.is_empty() {
                self.ended.push(format!("process {number}: {errors}"));
            }
        }
    }
}

#[test]
fn a_storm_of_kills_loses_nothing_and_hands_nothing_out_twice() {
    let (seed, kills) = (count("WINDOWPANE_STORM_SEED", 1), count("WINDOWPANE_STORM_KILLS", 1_000));
    let folder = tempfile::tempdir().unwrap();
    let mut storm = Storm::new(folder.path(), seed);
    let begun = SystemClock.now();
    storm.rage(kills);
    let seconds = SystemClock.now().ms_since(begun) / 1_000;
    println!("seed {seed}: {} kills of {PROCESSES} processes in {seconds} s", storm.kills);
    let table = audit::audit(&storm.place);
    println!("{table}");
    assert_eq!(storm.ended.join("\n"), "");
    assert_eq!(storm.kills, kills);
    table.check();
}
