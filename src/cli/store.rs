//! Opening the store that `--db` names.

use std::path::Path;
#[cfg(feature = "postgres")]
use std::sync::Arc;

use crate::clock::wait_for;
use crate::engine;
use crate::store::model::ModelStore;
#[cfg(feature = "postgres")]
use crate::store::postgres::{self as pg, PostgresStore};
use crate::store::sqlite::{Missing, Options, SqliteStore};
use crate::store::{Finding, Store, StoreError};
use crate::time::tzdb_version;
use crate::wire::Problem;

use super::context::Context;
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

/// Opens a store, and says so when another tz database version wrote it last.
pub(super) fn open(
    url: &str,
    access: Access,
    context: &Context,
) -> Result<Box<dyn Store>, Failure> {
    let mut store = match is_postgres(url) {
        true => open_postgres(url, access, context)?,
        false => open_sqlite(sqlite_path(url)?, access)?,
    };
    let info = store.begin_read()?.info()?;
    match info.map(|info| info.tzdb) {
        Some(tzdb) if tzdb.as_str() < tzdb_version() => context.console.remark(&Problem {
            code: "older_store",
            message: format!("this store follows the tz database {tzdb} until the next write"),
            hint: Some(format!(
                "that write takes it to {}: what moves is skipped by local time, never run twice",
                tzdb_version()
            )),
        }),
        Some(tzdb) if tzdb.as_str() > tzdb_version() && context.accepts_older_tzdb => {
            engine::accept_older_tzdb(&mut *store, &*context.clock)?;
            context.console.warn(&Problem {
                code: "older_tzdb",
                message: format!(
                    "this store followed the tz database {tzdb}, and follows {} now",
                    tzdb_version()
                ),
                hint: Some("a program with a newer one takes it back at its next write".to_owned()),
            });
        }
        _ => {}
    }
    Ok(store)
}

/// Whether a URL names a PostgreSQL server.
pub(super) fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// Checks the whole store that a URL names.
#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "a file has no clock"))]
pub(super) fn verify(url: &str, context: &Context) -> Result<Vec<Finding>, Failure> {
    #[cfg(feature = "postgres")]
    if is_postgres(url) {
        return Ok(connect(url, Missing::Refuse, context)?.verify()?);
    }
    Ok(open_file(url)?.verify()?)
}

/// Connects to the store on a PostgreSQL server, whose clock is then that of the command.
#[cfg(feature = "postgres")]
fn connect(url: &str, missing: Missing, context: &Context) -> Result<PostgresStore, StoreError> {
    let clock = context.server_clock.clone();
    let hears_time = Some(Arc::new(move |now| clock.hear(now)) as pg::Hears);
    let options =
        pg::Options { missing, hears_time, wait: Some(wait_for), ..pg::Options::default() };
    PostgresStore::open_with(url, &options)
}

#[cfg(feature = "postgres")]
fn open_postgres(url: &str, access: Access, context: &Context) -> Result<Box<dyn Store>, Failure> {
    let missing = if access == Access::Create { Missing::Create } else { Missing::Refuse };
    match connect(url, missing, context) {
        Err(StoreError::NoStore { .. }) if access == Access::Imagine => {
            Ok(Box::new(ModelStore::default()))
        }
        store => Ok(Box::new(store?)),
    }
}

#[cfg(not(feature = "postgres"))]
fn open_postgres(_: &str, _: Access, _: &Context) -> Result<Box<dyn Store>, Failure> {
    Err(Failure::failed(
        "no_postgres",
        "this build has no PostgreSQL".to_owned(),
        Some("install it with `--features postgres`, or name a SQLite file"),
    ))
}

/// Opens the file of a SQLite store that is there.
pub(super) fn open_file(url: &str) -> Result<SqliteStore, Failure> {
    if is_postgres(url) {
        return Err(Failure::failed(
            "no_file",
            "a store on a PostgreSQL server is no file".to_owned(),
            Some("copy it with `pg_dump --schema`, or to a file with `windowpane copy`"),
        ));
    }
    Ok(open_path(Path::new(sqlite_path(url)?), Missing::Refuse)?)
}

/// The file that a URL names: a path, or one behind `sqlite:`.
fn sqlite_path(url: &str) -> Result<&str, Failure> {
    let path = match url.split_once(':') {
        Some(("sqlite", path)) => path.strip_prefix("//").unwrap_or(path),
        // The rest of an unknown URL may hold a password.
        Some((scheme, rest)) if rest.starts_with("//") => {
            return Err(Failure::failed(
                "unknown_store",
                format!("`{scheme}://` names no kind of store"),
                Some("name a SQLite file, or postgres://…"),
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
