//! A disk that is told what a process did, and the states that a power cut may leave it in.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use fastrand::Rng;

/// What reaches the disk at once, whatever is torn around it.
const SECTOR_BYTES: usize = 512;

/// One thing that the process did to a file, which it calls by name.
#[derive(Debug, Clone)]
pub(in crate::faults) struct Event {
    name: String,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Create,
    Change(Change),
    Sync,
    Remove,
    SyncFolder,
}

/// A change of what a file holds.
#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, data: Vec<u8> },
    Truncate { length: usize },
}

/// Whether what was synced is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    Kept,
    Broken,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.what {
            What::Create => "create",
            What::Change(Change::Write { .. }) => "write",
            What::Change(Change::Truncate { .. }) => "truncate",
            What::Sync => "sync",
            What::Remove => "remove",
            What::SyncFolder => "sync folder",
        };
        write!(f, "{what} {}", self.name)
    }
}

/// Reads the log of the shim, which says how it is written.
pub(in crate::faults) fn read_log(mut log: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    while let [kind, rest @ ..] = log {
        let (name_length, rest) = number::<2>(rest);
        let (offset, rest) = number::<8>(rest);
        let (length, rest) = number::<8>(rest);
        let (name, rest) = rest.split_at(name_length);
        let (data, rest) = rest.split_at(length);
        let what = match kind {
            b'c' => What::Create,
            b'w' => What::Change(Change::Write { offset, data: data.to_vec() }),
            b't' => What::Change(Change::Truncate { length: offset }),
            b's' => What::Sync,
            b'r' => What::Remove,
            b'f' => What::SyncFolder,
            other => panic!("an entry of the kind `{other}`"),
        };
        events.push(Event { name: String::from_utf8(name.to_vec()).unwrap(), what });
        log = rest;
    }
    events
}

fn number<const BYTES: usize>(log: &[u8]) -> (usize, &[u8]) {
    let (bytes, rest) = log.split_at(BYTES);
    let number = bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte));
    (number, rest)
}

/// A file apart from its name.
#[derive(Debug, Clone, Default)]
struct File {
    synced: Vec<u8>,
    /// Since then, in their order.
    changes: Vec<Change>,
}

/// Names and what they stand for, as numbers of files.
type Names = BTreeMap<String, usize>;

#[derive(Debug)]
pub(super) struct Disk {
    promise: Promise,
    files: Vec<File>,
    /// As the process sees them.
    names: Names,
    synced_names: Names,
    /// Since the folder was synced: a name, and what it stands for from then on.
    name_changes: Vec<(String, Option<usize>)>,
}

impl Disk {
    pub(super) fn new(promise: Promise) -> Disk {
        let (names, synced_names) = (Names::new(), Names::new());
        Disk { promise, files: Vec::new(), names, synced_names, name_changes: Vec::new() }
    }

    pub(super) fn apply(&mut self, event: &Event) {
        if event.name.ends_with("-shm") {
            return; // Shared memory: a restarted machine makes it anew.
        }
        match &event.what {
            What::Create => {
                self.files.push(File::default());
                self.rename(&event.name, Some(self.files.len() - 1));
            }
            What::Remove => self.rename(&event.name, None),
            What::Change(change) => self.file(&event.name).changes.push(change.clone()),
            What::Sync if self.promise == Promise::Kept => {
                let file = self.file(&event.name);
                let changes = std::mem::take(&mut file.changes);
                changes.iter().for_each(|change| change.apply(&mut file.synced));
            }
            What::SyncFolder if self.promise == Promise::Kept => {
                self.name_changes.clear();
                self.synced_names = self.names.clone();
            }
            What::Sync | What::SyncFolder => {}
        }
    }

    fn rename(&mut self, name: &str, file: Option<usize>) {
        set(&mut self.names, name, file);
        self.name_changes.push((name.to_owned(), file));
    }

    fn file(&mut self, name: &str) -> &mut File {
        &mut self.files[self.names[name]]
    }

    /// What the process has written to a file, as everybody could read it before the cut.
    pub(super) fn said(&self, name: &str) -> Vec<u8> {
        let Some(&file) = self.names.get(name) else { return Vec::new() };
        let mut content = self.files[file].synced.clone();
        self.files[file].changes.iter().for_each(|change| change.apply(&mut content));
        content
    }

    /// Leaves in `folder` what a power cut may leave on the disk, and returns the path of the store.
    pub(super) fn leave(&self, folder: &Path, rng: &mut Rng) -> PathBuf {
        for entry in std::fs::read_dir(folder).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        let luck = Luck::any(rng);
        let mut names = self.synced_names.clone();
        for (name, file) in &self.name_changes {
            if luck.keeps(rng) {
                set(&mut names, name, *file);
            }
        }
        for (name, file) in names {
            std::fs::write(folder.join(name), self.files[file].after_a_cut(luck, rng)).unwrap();
        }
        folder.join("store.db")
    }
}

fn set(names: &mut Names, name: &str, file: Option<usize>) {
    match file {
        Some(file) => names.insert(name.to_owned(), file),
        None => names.remove(name),
    };
}

/// How much of what was not synced is on the disk all the same.
#[derive(Debug, Clone, Copy)]
enum Luck {
    All,
    Nothing,
    /// Each change on its own.
    Some,
    /// Each change on its own, and each sector of it.
    Torn,
}

impl Luck {
    fn any(rng: &mut Rng) -> Luck {
        [Luck::All, Luck::Nothing, Luck::Some, Luck::Some, Luck::Torn, Luck::Torn][rng.usize(..6)]
    }

    fn keeps(self, rng: &mut Rng) -> bool {
        match self {
            Luck::All => true,
            Luck::Nothing => false,
            Luck::Some | Luck::Torn => rng.bool(),
        }
    }
}

impl File {
    fn after_a_cut(&self, luck: Luck, rng: &mut Rng) -> Vec<u8> {
        let mut content = self.synced.clone();
        for change in &self.changes {
            match change {
                Change::Write { offset, data } if matches!(luck, Luck::Torn) => {
                    tear(*offset, data, rng).iter().for_each(|part| part.apply(&mut content));
                }
                change if luck.keeps(rng) => change.apply(&mut content),
                _ => {}
            }
        }
        content
    }
}

/// Some of the sectors of a write.
fn tear(offset: usize, data: &[u8], rng: &mut Rng) -> Vec<Change> {
    let mut parts = Vec::new();
    let (mut from, end) = (offset, offset + data.len());
    while from < end {
        let to = (from / SECTOR_BYTES + 1) * SECTOR_BYTES;
        let to = to.min(end);
        if rng.bool() {
            let data = data[from - offset..to - offset].to_vec();
            parts.push(Change::Write { offset: from, data });
        }
        from = to;
    }
    parts
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Change::Truncate { length } => content.resize(*length, 0),
            Change::Write { offset, data } => {
                let end = offset + data.len();
                content.resize(content.len().max(end), 0);
                content[*offset..end].copy_from_slice(data);
            }
        }
    }
}
