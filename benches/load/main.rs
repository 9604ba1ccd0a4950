//! Many processes claim and finish 100,000 due schedules, from a file and from a server that is killed
//! twice on the way. `benches/load/run` starts it; its arguments are how many processes at a time, how
//! many schedules, the address of the server, and the command that kills and starts it.

mod audit;
mod worker;

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use windowpane::clock::{Clock, SystemClock};
use windowpane::engine::{Absent, Mode, SyncOptions, sync};
use windowpane::schedule::{Reference, Schedule};
use windowpane::store::Store;

/// Owes one run at once, and no more for a year.
const SCHEDULE: &str = r#"{"every": "365d", "phase": {"fixed": "0s"}}"#;

/// The server is killed when so many of so many runs are handed out.
const KILLED_AT: [(usize, usize); 2] = [(1, 3), (2, 3)];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["worker", url, name] => worker::work(url, name),
        [processes, schedules, server, restart] => {
            let processes = processes.parse().expect("a number of processes");
            let schedules = schedules.parse().expect("a number of schedules");
            compare(processes, schedules, server, restart);
        }
        // `cargo test --benches` gives none.
        _ => println!("benches/load/run measures this"),
    }
}

fn compare(processes: usize, schedules: usize, server: &str, restart: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("runs.db").display().to_string();
    let calm = format!("{server}&schema=calm");
    let killed = format!("{server}&schema=killed");
    println!("{schedules} due schedules, {processes} processes, 100 runs a transaction");
    for (name, url, restart) in [
        ("SQLite", &file, None),
        ("PostgreSQL", &calm, None),
        ("PostgreSQL, killed twice", &killed, Some(restart)),
    ] {
        let mut store = worker::open(url);
        let begun = SystemClock.now();
        register(&mut *store, schedules);
        let registered = SystemClock.now();
        let handed = drive(url, processes, schedules, restart);
        let drained = SystemClock.now();
        audit::check(&mut *store, schedules, &handed);
        let registered_s = registered.ms_since(begun) as f64 / 1_000.0;
        let drained_s = drained.ms_since(registered) as f64 / 1_000.0;
        println!(
            "{name:<25} sync {registered_s:5.1} s, then {:6.0} runs a second, claimed and finished; \
             each exactly once",
            schedules as f64 / drained_s
        );
    }
}

fn register(store: &mut dyn Store, schedules: usize) {
    let documents: Vec<_> = (0..schedules)
        .map(|number| {
            let reference = Reference::new(&format!("tenant-{number:06}")).expect("a ref");
            (reference, Some(Schedule::from_json(SCHEDULE).expect("a schedule")))
        })
        .collect();
    let options = SyncOptions { source: "load", mode: Mode::Write, absent: Absent::Keep };
    sync(store, &SystemClock, &documents, &options).expect("a sync");
}

/// Starts the processes and waits for them; how often each run was handed out.
fn drive(
    url: &str,
    processes: usize,
    schedules: usize,
    restart: Option<&str>,
) -> HashMap<String, u32> {
    let (tells, told) = mpsc::channel();
    let children: Vec<Child> =
        (0..processes).map(|number| start(url, &format!("worker-{number}"), &tells)).collect();
    drop(tells);
    let mut handed = HashMap::new();
    for (count, id) in (1..).zip(told) {
        *handed.entry(id).or_default() += 1;
        let is_time = KILLED_AT.iter().any(|(part, parts)| count == schedules * part / parts);
        if let (Some(restart), true) = (restart, is_time) {
            let done = Command::new("sh").args(["-c", restart]).stdout(Stdio::null()).status();
            assert!(done.expect("a shell").success(), "the server cannot be started again");
        }
    }
    for mut child in children {
        assert!(child.wait().expect("a process").success(), "a process failed");
    }
    handed
}

/// Starts one process; the ids that it prints are passed on.
fn start(url: &str, name: &str, tells: &mpsc::Sender<String>) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args(["worker", url, name])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let tells = tells.clone();
    thread::spawn(move || {
        lines.map_while(Result::ok).for_each(|id| tells.send(id).expect("somebody who listens"));
    });
    child
}
