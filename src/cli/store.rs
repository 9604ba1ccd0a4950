//! Opening the store that `--db` names.

use std::path::Path;

use crate::clock::wait_for;
use crate::store::model::ModelStore;
use crate::store::sqlite::{Missing, Options, SqliteStore};
use crate::store::{Store, StoreError};
use crate::time::tzdb_version;
use crate::wire::Problem;

use super::console::Console;
use super::failure::Failure;

/// What a command wants of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Use the one that is there.
    Existing,
    /// Make one where there is none.
    Create,
    /// Use the one that is there, or an empty one that is kept nowhere.
    Imagine,
}

/// Opens a store, and warns when another tz database version wrote it last.
pub(super) fn open(
    url: &str,
    access: Access,
    console: &Console,
) -> Result<Box<dyn Store>, Failure> {
    let path = sqlite_path(url)?;
    let mut store = open_sqlite(path, access)?;
    let info = store.begin_read()?.info()?;
    if let Some(info) = info.filter(|info| info.tzdb != tzdb_version()) {
        console.warn(&Problem {
            code: "other_tzdb",
            message: format!(
                "this store was last written under tz database {}, and this program has {}",
                info.tzdb,
                tzdb_version()
            ),
            hint: Some("instants of local times may differ between the two".to_owned()),
        });
    }
    Ok(store)
}

/// Opens the file of a SQLite store that is there.
pub(super) fn open_file(url: &str) -> Result<SqliteStore, Failure> {
    Ok(open_path(Path::new(sqlite_path(url)?), Missing::Refuse)?)
}

/// The file that a URL names: a path, or one behind `sqlite:`.
fn sqlite_path(url: &str) -> Result<&str, Failure> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Err(Failure::failed(
            "no_postgres",
            "this build has no PostgreSQL".to_owned(),
            Some("name a SQLite file"),
        ));
    }
    let path = match url.split_once(':') {
        Some(("sqlite", path)) => path.strip_prefix("//").unwrap_or(path),
        // The rest of an unknown URL may hold a password.
        Some((scheme, rest)) if rest.starts_with("//") => {
            return Err(Failure::failed(
                "unknown_store",
                format!("`{scheme}://` names no kind of store"),
                Some("name a SQLite file"),
            ));
        }
        _ => url,
    };
    if path == ":memory:" || path.starts_with("file:") {
        return Err(Failure::failed(
            "unknown_store",
            format!("`{path}` names no file"),
            Some("name a SQLite file by its path"),
        ));
    }
    if path.is_empty() {
        return Err(Failure::failed("unknown_store", "--db names no file".to_owned(), None));
    }
    Ok(path)
}

fn open_path(path: &Path, missing: Missing) -> Result<SqliteStore, StoreError> {
    let options = Options { missing, wait: Some(wait_for), ..Options::default() };
    SqliteStore::open_with(path, &options)
}

fn open_sqlite(path: &str, access: Access) -> Result<Box<dyn Store>, Failure> {
    let path = Path::new(path);
    Ok(Box::new(match access {
        Access::Existing => open_path(path, Missing::Refuse)?,
        Access::Create => open_path(path, Missing::Create)?,
        Access::Imagine => match open_path(path, Missing::Refuse) {
            Err(StoreError::NoStore { .. }) => return Ok(Box::new(ModelStore::default())),
            store => store?,
        },
    }))
}
