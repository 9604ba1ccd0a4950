//! A copy of the store while it is in use.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::store::StoreError;

use super::fault::Fault;

/// Copies the store `name` to the new file `target`.
pub(super) fn backup(connection: &Connection, name: &str, target: &Path) -> Result<(), StoreError> {
    if target.exists() {
        let problem = "it exists already, and a backup replaces nothing".to_owned();
        return Err(StoreError::Unavailable { path: target.display().to_string(), problem });
    }
    // Under its own name it would look whole before it is.
    let partial = partial_path(target);
    let unavailable = |error: io::Error| StoreError::Unavailable {
        path: partial.display().to_string(),
        problem: error.to_string(),
    };
    File::create_new(&partial).map_err(unavailable)?;
    let copied =
        copy(connection, name, &partial).and_then(|()| keep(&partial, target).map_err(unavailable));
    if copied.is_err() {
        // What went wrong first is what to report.
        let _ = fs::remove_file(&partial);
    }
    copied
}

fn partial_path(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    target.with_file_name(name)
}

fn copy(connection: &Connection, name: &str, partial: &Path) -> Result<(), StoreError> {
    let unavailable = |problem: &str| StoreError::Unavailable {
        path: partial.display().to_string(),
        problem: problem.to_owned(),
    };
    // SQLite reads `:memory:` and `file:...` as more than file names.
    let path = Path::new(".").join(partial);
    let path = path.to_str().ok_or_else(|| unavailable("its name is no text"))?;
    let copied = connection.execute("VACUUM INTO ?1", [path]);
    match copied.map_err(|error| Fault::of_file(name, error)) {
        Ok(_) => Ok(()),
        // Whatever is not the fault of the store is one of its copy.
        Err(StoreError::Unavailable { problem, .. }) => Err(unavailable(&problem)),
        Err(error) => Err(error),
    }
}

/// Gives the copy its name once it is on the disk.
fn keep(partial: &Path, target: &Path) -> io::Result<()> {
    File::open(partial)?.sync_all()?;
    fs::rename(partial, target)?;
    match target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
