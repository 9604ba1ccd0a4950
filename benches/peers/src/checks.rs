//! What `validate` costs: its time beside a bare parse and beside bare reading, and its memory for
//! each ref.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant as Moment;

use nix::sys::resource::{UsageWho, getrusage};

use crate::commands::windowpane;
use crate::contest::{self, median, time};
use crate::paths::DOCUMENT;

const ROUNDS: usize = 5;
const DOCUMENTS: usize = 100_000;

/// So many documents in a folder.
const IN_FOLDER: usize = 1_000;

fn document(index: usize) -> String {
    DOCUMENT.replace("availability", &format!("workflow-{index}"))
}

fn write_lines(path: &Path, count: usize) {
    let mut file = BufWriter::new(File::create(path).expect("a file"));
    for index in 0..count {
        writeln!(file, "{}", document(index)).expect("a document");
    }
    file.flush().expect("documents");
}

/// Has the documents at a path checked, and gives back how many nanoseconds that took.
fn validate_ns(path: &Path) -> f64 {
    let begun = Moment::now();
    let checked =
        windowpane().args(["validate", "--quiet"]).arg(path).output().expect("windowpane");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    begun.elapsed().as_nanos() as f64
}

/// Prints how many times as long as something simpler `validate` takes.
fn beside(job: &str, at_most: f64, path: &Path, other: &str, simpler: impl Fn()) {
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(validate_ns(path));
        let begun = Moment::now();
        simpler();
        others.push(begun.elapsed().as_nanos() as f64);
    }
    let ratio = median(ours.iter().zip(&others).map(|(ours, other)| ours / other).collect());
    contest::bound(
        job,
        &format!("{}, {ratio:.2} times as long", time(median(ours))),
        &format!("{other}, {}", time(median(others))),
        ratio <= at_most,
        &format!("≤ {at_most} times"),
    );
}

pub fn run() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = folder.path().join("workflows.jsonl");
    write_lines(&lines, DOCUMENTS);
    beside("`validate` of 100,000 lines", 2.0, &lines, "serde_json, into values", || {
        let text = fs::read_to_string(&lines).expect("documents");
        let values = text.lines().map(serde_json::from_str::<serde_json::Value>);
        assert_eq!(values.filter(|value| black_box(value).is_ok()).count(), DOCUMENTS);
    });

    let tree = folder.path().join("tree");
    for index in 0..DOCUMENTS {
        let inner = tree.join((index / IN_FOLDER).to_string());
        if index % IN_FOLDER == 0 {
            fs::create_dir_all(&inner).expect("a folder");
        }
        fs::write(inner.join(format!("{index}.json")), document(index)).expect("a document");
    }
    beside("`validate` of a folder of 100,000", 2.0, &tree, "reading them", || {
        let mut files = 0;
        for inner in fs::read_dir(&tree).expect("a folder") {
            for entry in fs::read_dir(inner.expect("a folder").path()).expect("a folder") {
                black_box(fs::read(entry.expect("a document").path()).expect("a document"));
                files += 1;
            }
        }
        assert_eq!(files, DOCUMENTS);
    });
}

/// The most memory that `validate` takes grows with the refs, which are compared with each other.
pub fn memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("workflows.jsonl");
    let [fewer, more] = [1_000_000, 3_000_000];
    // The system tells the most of all children, so the larger comes second.
    let [fewer_kib, more_kib] = [fewer, more].map(|count| {
        write_lines(&path, count);
        validate_ns(&path);
        getrusage(UsageWho::RUSAGE_CHILDREN).expect("its usage").max_rss()
    });
    let bytes = (more_kib - fewer_kib) as f64 * 1024.0 / (more - fewer) as f64;
    contest::bound(
        "memory of `validate` for each ref more",
        &format!("{bytes:.1} bytes"),
        &format!("{} MiB for a million", fewer_kib / 1024),
        bytes <= 16.0,
        "≤ 16 bytes",
    );
}
