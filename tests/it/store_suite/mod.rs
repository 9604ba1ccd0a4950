//! The one suite that every store passes, and what only files can go through.

mod copying;
mod decisions;
mod differential;
mod files;
mod formats;
mod queue;
mod runs;
pub(crate) mod sample;
mod sharing;
#[cfg(feature = "postgres")]
mod sharing_postgres;
mod size;
mod skips;
mod verify;
mod views;
mod workflows;

/// Makes a test of each function for every kind of store. A function takes a new, empty store.
macro_rules! on_every_store {
    ($($check:ident),+ $(,)?) => {
        mod on_model {
            $(#[test]
            fn $check() {
                super::$check(&mut windowpane::store::model::ModelStore::new());
            })+
        }

        mod on_sqlite {
            $(#[test]
            fn $check() {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("store.db");
                super::$check(&mut windowpane::store::sqlite::SqliteStore::open(&path).unwrap());
            })+
        }

        #[cfg(feature = "postgres")]
        mod on_postgres {
            $(#[test]
            fn $check() {
                let Some(schema) = crate::postgres::scratch() else { return };
                super::$check(&mut schema.open());
            })+
        }
    };
}
use on_every_store;
