//! The SQLite store beside a bare layout of as many rows, and beside the disk of the same run.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant as Moment;

use rusqlite::{Connection, params};
use windowpane::clock::{FixedClock, wait_for};
use windowpane::engine::{
    Absent, ClaimRequest, Claimed, DEFAULT_LEASE_MS, Mode, SyncOptions, claim, due, sync,
};
use windowpane::schedule::{Reference, Schedule};
use windowpane::store::sqlite::{Options, SqliteStore};

use crate::contest::{self, Target, median, time};
use crate::paths::instant;

/// Hourly, so that at one o'clock all become due within a quarter of an hour.
const SCHEDULE: &str = r#"{"every":"1h","first_run":"next"}"#;
const REGISTERED: &str = "2026-01-01T00:20:00Z";
const DUE: &str = "2026-01-01T01:00:00Z";
/// The spread of the phases of an hourly schedule, in milliseconds.
const SPREAD_MS: i64 = 900_000;
const BATCH: usize = 100;
const BATCHES: usize = 60;

pub fn run() {
    at(1_000_000);
    processes();
}

/// The lines of the growth table.
pub fn growth() {
    for workflows in [1_000, 100_000, 1_000_000] {
        at(workflows);
    }
}

/// What a store of so many workflows takes.
fn at(workflows: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.db");
    let registered: Vec<(Reference, Option<Schedule>)> = (0..workflows)
        .map(|index| {
            let reference = Reference::new(&format!("team-{:02}/workflow-{index:07}", index % 97));
            let schedule = Schedule::from_json(SCHEDULE).expect("a schedule");
            (reference.expect("a ref"), Some(schedule))
        })
        .collect();
    let mut store = open(&path);
    let of = |job: &str| format!("{job}, {workflows} workflows");

    let bare_s = bare_insert(&folder.path().join("bare.db"), workflows);
    for (job, most) in [("sync of new", 5.0), ("sync of unchanged", 2.0)] {
        let begun = Moment::now();
        register(&mut store, &registered);
        let ours_s = begun.elapsed().as_secs_f64();
        let other = format!("bare insert of as many rows {}", time(bare_s * 1e9));
        let wanted = format!("≤ {most}×");
        let ours = format!("{} ({:.1}×)", time(ours_s * 1e9), ours_s / bare_s);
        contest::bound(&of(job), &ours, &other, ours_s <= most * bare_s, &wanted);
    }
    drop(registered);

    let idle_ns = each_ns(400, || {
        assert_eq!(claimed(&mut store, "2026-01-01T00:30:00Z", BATCH).runs.len(), 0)
    });
    contest::bound(&of("idle poll"), &time(idle_ns), "", idle_ns <= 5_000.0, "≤ 5 µs");
    let now =
        instant(DUE).checked_add_ms(BATCH as i64 * SPREAD_MS / workflows as i64).expect("in range");
    let mut planned = 0;
    let due_ns = each_ns(50, || {
        planned = due(&mut store, &FixedClock(now)).expect("due").runs.len();
    });
    let each_100_ns = due_ns * 100.0 / planned as f64;
    contest::bound(
        &of("100 planned runs"),
        &time(each_100_ns),
        &format!("{planned} were due"),
        each_100_ns <= 150_000.0,
        "≤ 150 µs",
    );

    let batches = BATCHES.min(workflows / BATCH);
    let fdatasync_ns = fdatasync_ns(folder.path());
    let begun = Moment::now();
    for _ in 0..batches {
        assert_eq!(claimed(&mut store, "2026-01-01T01:15:00Z", BATCH).runs.len(), BATCH);
    }
    let ours = (batches * BATCH) as f64 / begun.elapsed().as_secs_f64();
    let bare = bare_claims(&folder.path().join("bare.db"), batches);
    contest::line(
        &of("claims, 100 a transaction"),
        &format!("{:.0} a second", ours),
        &format!("bare narrow layout {bare:.0} a second, fdatasync {}", time(fdatasync_ns)),
        ours / bare,
        Target::Times(0.5),
    );
}

fn open(path: &Path) -> SqliteStore {
    let options = Options { wait: Some(wait_for), ..Options::default() };
    SqliteStore::open_with(path, &options).expect("a store")
}

fn register(store: &mut SqliteStore, workflows: &[(Reference, Option<Schedule>)]) {
    let options = SyncOptions { source: "bench", mode: Mode::Write, absent: Absent::Keep };
    let clock = FixedClock(instant(REGISTERED));
    sync(store, &clock, workflows, &options).expect("a sync");
}

fn claimed(store: &mut SqliteStore, now: &str, limit: usize) -> Claimed {
    let request = ClaimRequest {
        worker: "bench",
        limit,
        lease_ms: DEFAULT_LEASE_MS,
        matches: &|_| true,
        trigger: None,
    };
    claim(store, &FixedClock(instant(now)), &request).expect("a claim")
}

/// The median of some times of a job, in nanoseconds.
fn each_ns(times: usize, mut job: impl FnMut()) -> f64 {
    let spent = (0..times).map(|_| {
        let begun = Moment::now();
        job();
        begun.elapsed().as_nanos() as f64
    });
    median(spent.collect())
}

/// The median of bringing one more page of a file to the disk.
fn fdatasync_ns(folder: &Path) -> f64 {
    let mut file = File::create(folder.join("probe")).expect("a file");
    each_ns(200, || {
        file.write_all(black_box(&[7; 4_096])).expect("a write");
        file.sync_data().expect("fdatasync");
    })
}

/// As many rows as a workflow has in the store, in tables without anything but what they are for:
/// names, progress, the queue and the schedule.
fn bare_insert(path: &Path, workflows: usize) -> f64 {
    let mut connection = bare(path);
    let begun = Moment::now();
    let transaction = connection.transaction().expect("a transaction");
    {
        let prepare = |sql| transaction.prepare(sql).expect("a statement");
        let mut workflow = prepare("INSERT INTO workflow VALUES (?1, ?2)");
        let mut progress = prepare("INSERT INTO progress VALUES (?1, ?2)");
        let mut queue = prepare("INSERT INTO queue VALUES (?1, ?2)");
        let mut revision = prepare("INSERT INTO revision VALUES (?1, 1, ?2)");
        for id in 0..workflows as i64 {
            let name = format!("team-{:02}/workflow-{id:07}", id % 97);
            workflow.execute(params![id, name]).expect("a row");
            progress.execute(params![id, 0]).expect("a row");
            queue.execute(params![due_ms(id), id]).expect("a row");
            revision.execute(params![id, SCHEDULE]).expect("a row");
        }
    }
    transaction.commit().expect("a commit");
    begun.elapsed().as_secs_f64()
}

/// Claims of 100 a transaction: a run, its lease, the progress and the place in the queue.
fn bare_claims(path: &Path, batches: usize) -> f64 {
    let mut connection = Connection::open(path).expect("a database");
    connection.pragma_update(None, "synchronous", "FULL").expect("a setting");
    let mut claimed = 0;
    let begun = Moment::now();
    for _ in 0..batches {
        let transaction = connection.transaction().expect("a transaction");
        {
            let prepare = |sql| transaction.prepare_cached(sql).expect("a statement");
            let mut first = prepare("SELECT due, id FROM queue ORDER BY due, id LIMIT 100");
            let rows = first.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
            let owed: Vec<(i64, i64)> = rows.map(|row| row.expect("a row")).collect();
            for (due, id) in owed {
                let row = params![due, id];
                prepare("INSERT INTO run VALUES (?1, ?2, 1)").execute(row).expect("a row");
                prepare("INSERT INTO lease VALUES (?1 + 300000, ?2)").execute(row).expect("a row");
                prepare("UPDATE progress SET cursor = ?1 WHERE id = ?2")
                    .execute(row)
                    .expect("a row");
                prepare("DELETE FROM queue WHERE due = ?1 AND id = ?2")
                    .execute(row)
                    .expect("a row");
                prepare("INSERT INTO queue VALUES (?1 + 3600000, ?2)").execute(row).expect("a row");
                claimed += 1;
            }
        }
        transaction.commit().expect("a commit");
    }
    f64::from(claimed) / begun.elapsed().as_secs_f64()
}

fn bare(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("a database");
    let set_up = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE workflow (id INTEGER PRIMARY KEY, ref TEXT NOT NULL UNIQUE);
        CREATE TABLE progress (id INTEGER PRIMARY KEY, cursor INTEGER NOT NULL);
        CREATE TABLE queue (due INTEGER, id INTEGER, PRIMARY KEY (due, id)) WITHOUT ROWID;
        CREATE TABLE revision (id INTEGER, number INTEGER, schedule TEXT, PRIMARY KEY (id, number)) WITHOUT ROWID;
        CREATE TABLE run (occurrence INTEGER, id INTEGER, state INTEGER, PRIMARY KEY (occurrence, id)) WITHOUT ROWID;
        CREATE TABLE lease (expires INTEGER, id INTEGER, PRIMARY KEY (expires, id)) WITHOUT ROWID;";
    connection.execute_batch(set_up).expect("a schema");
    connection
}

/// Any spread will do.
fn due_ms(id: i64) -> i64 {
    id.wrapping_mul(7_919).rem_euclid(SPREAD_MS)
}

/// Some processes claim one run at a time from one store: the longest wait of any claim.
fn processes() {
    for count in [2, 4] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runs.db");
        let many: Vec<_> = (0..50_000)
            .map(|index| {
                let schedule = Schedule::from_json(SCHEDULE).expect("a schedule");
                (Reference::new(&format!("workflow-{index}")).expect("a ref"), Some(schedule))
            })
            .collect();
        register(&mut open(&path), &many);
        let program = std::env::current_exe().expect("this program");
        let workers: Vec<_> = (0..count)
            .map(|_| {
                let mut worker = Command::new(&program);
                worker.arg("claiming").arg(&path).stdout(Stdio::piped());
                worker.spawn().expect("a process")
            })
            .collect();
        // While they claim, so that all of them meet the same disk.
        let fdatasync_ns = fdatasync_ns(folder.path());
        let reports = workers.into_iter().map(|worker| {
            let output = worker.wait_with_output().expect("its output");
            let report = String::from_utf8(output.stdout).expect("text");
            let mut numbers =
                report.split_whitespace().map(|word| word.parse::<f64>().expect("a number"));
            (numbers.next().expect("claims"), numbers.next().expect("a wait"))
        });
        let (claims, waits): (Vec<f64>, Vec<f64>) = reports.unzip();
        let worst_ns = waits.iter().copied().fold(0.0, f64::max);
        let ours = format!(
            "{} ({:.0}×), {:.0} claims a second",
            time(worst_ns),
            worst_ns / fdatasync_ns,
            claims.iter().sum::<f64>() / CLAIMING_S
        );
        contest::bound(
            &format!("worst wait of a claim, {count} processes"),
            &ours,
            &format!("fdatasync {}", time(fdatasync_ns)),
            worst_ns <= 50.0 * fdatasync_ns,
            "≤ 50×",
        );
    }
}

/// How long each process claims, in seconds.
const CLAIMING_S: f64 = 3.0;

/// Claims one run at a time, and prints how many, and the longest time that one took.
pub fn claiming(path: &str) {
    let mut store = open(Path::new(path));
    let (begun, mut claims, mut worst_ns) = (Moment::now(), 0, 0_f64);
    while begun.elapsed().as_secs_f64() < CLAIMING_S {
        let one = Moment::now();
        claims += claimed(&mut store, "2026-01-01T01:15:00Z", 1).runs.len();
        worst_ns = worst_ns.max(one.elapsed().as_nanos() as f64);
    }
    println!("{claims} {worst_ns}");
}
