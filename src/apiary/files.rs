//! The state file and the lock beside it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use crate::clock::{self, Moment};

use super::state::State;
use super::turns::Turns;

/// The longest state file that is read, in bytes: 64 MiB.
const STATE_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// The state cannot be read or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateFault {
    /// The file system refuses.
    #[error("`{}` cannot be {action}: {source}", path.display())]
    Io {
        /// What was to be done: `read`, `locked` or `written`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another poll holds it.
    #[error("another poll has held `{}` for {patience_ms} ms", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
        /// How long this one waited, in milliseconds.
        patience_ms: i64,
    },
    /// It is no state file of this version. It is left as it is.
    #[error("`{}` is not a state file that can be read: {source}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// It is too long.
    #[error("`{}` is longer than {STATE_LIMIT_BYTES} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
}

/// The state file while nobody else has it.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    /// Locked by the operating system, which lets go of it whenever the process ends.
    lock: File,
}

/// Reads a state file. One that is not there is a fault.
///
/// # Errors
/// [`StateFault`] says why it cannot be read.
pub fn read_state(path: &Path) -> Result<State, StateFault> {
    let failed = |source| StateFault::Io { action: "read", path: path.to_owned(), source };
    let mut text = String::new();
    let read = File::open(path)
        .and_then(|file| file.take(STATE_LIMIT_BYTES + 1).read_to_string(&mut text));
    if read.map_err(failed)? as u64 > STATE_LIMIT_BYTES {
        return Err(StateFault::TooLong { path: path.to_owned() });
    }
    State::from_json(&text).map_err(|source| StateFault::Corrupt { path: path.to_owned(), source })
}

impl StateFile {
    /// Takes the lock, waiting for it at most `patience_ms`.
    pub(super) fn lock(path: &Path, patience_ms: i64) -> Result<StateFile, StateFault> {
        // Through links, so that one file has one lock under all of its names.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let lock_path = beside(&path, ".lock");
        let failed = |source| StateFault::Io { action: "locked", path: lock_path.clone(), source };
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&lock_path);
        let lock = wait_for(file.map_err(failed)?, patience_ms).map_err(failed)?;
        let locked = || StateFault::Locked { path: lock_path.clone(), patience_ms };
        lock.map(|lock| StateFile { path, lock }).ok_or_else(locked)
    }

    /// The state; the empty one where there is no file yet.
    pub(super) fn read(&self) -> Result<State, StateFault> {
        match read_state(&self.path) {
            Err(StateFault::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(State::default())
            }
            read => read,
        }
    }

    /// Replaces the state, all or nothing, and durably.
    pub(super) fn write(&self, state: &State) -> Result<(), StateFault> {
        let failed = |source| StateFault::Io { action: "written", path: self.path.clone(), source };
        let text = state.to_json().map_err(|error| failed(error.into()))?;
        self.replace(text.as_bytes()).map_err(failed)
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let temporary = beside(&self.path, ".tmp");
        // Whoever left one behind was killed; the lock says that nobody is writing it now.
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        if let Ok(before) = fs::metadata(&self.path) {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, &self.path)?;
        File::open(folder(&self.path))?.sync_all()
    }

    /// Whose turn it is, as the last poll left it.
    pub(super) fn turns(&mut self) -> Turns {
        let mut text = String::new();
        // Turns only make it fair. Where they cannot be read, the oldest go first.
        let read =
            self.lock.seek(SeekFrom::Start(0)).and_then(|_| self.lock.read_to_string(&mut text));
        read.ok().and_then(|_| Turns::from_json(&text)).unwrap_or_default()
    }

    /// Leaves to the next poll whose turn it is.
    pub(super) fn leave_turns(&mut self, turns: &Turns) {
        let written = self
            .lock
            .set_len(0)
            .and_then(|()| self.lock.seek(SeekFrom::Start(0)))
            .and_then(|_| self.lock.write_all(turns.to_json().as_bytes()));
        // The state stands already, and turns that are lost cost only fairness.
        drop(written);
    }
}

/// The file once it is locked; `None` where another process kept it too long.
fn wait_for(file: File, patience_ms: i64) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => return Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // The operating system says when it is free, but does not stop waiting by itself.
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Nobody listens any more once the patience is over; then the file is let go.
        let _ = sender.send(file.lock().map(|()| file));
    });
    clock::wait_until(&receiver, Moment::now().after_ms(patience_ms)).transpose()
}

/// A file beside another, named after it.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
