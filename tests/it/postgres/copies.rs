//! `copy` between a file and a server, both ways.

use windowpane::store::Store;
use windowpane::store::sqlite::SqliteStore;

use crate::cli::{output, shell};
use crate::store_suite::sample::{everything, with_history};

use super::proxy::{Cut, Proxy};
use super::scratch;

#[test]
fn a_store_moves_to_a_server_and_back() {
    let (Some(scratch), folder) = (scratch(), tempfile::tempdir().unwrap()) else { return };
    let path = |name| folder.path().join(name);
    with_history(&mut SqliteStore::open(&path("first.db")).unwrap());
    let url = scratch.url();
    output(folder.path(), &format!("windowpane copy --from first.db --to '{url}'"));
    output(folder.path(), &format!("windowpane copy --from '{url}' --to back.db"));
    let expected = everything(&mut SqliteStore::open(&path("first.db")).unwrap()).unwrap();
    assert_eq!(everything(&mut scratch.open()).unwrap(), expected);
    assert_eq!(everything(&mut SqliteStore::open(&path("back.db")).unwrap()).unwrap(), expected);
    for command in ["list", "runs", "skips", "explain alpha --from 2025-12-31 --to 2026-01-02"] {
        let rows = |db: &str| {
            let line = format!("windowpane {command} --db '{db}' --now 2026-01-02 --format jsonl");
            output(folder.path(), &line)
        };
        assert_eq!(rows("first.db"), rows(&url), "{command}");
        assert_eq!(rows("first.db"), rows("back.db"), "{command}");
    }
    assert_eq!(scratch.open().verify().unwrap(), []);
    assert_eq!(SqliteStore::open(&path("back.db")).unwrap().verify().unwrap(), []);
}

/// The way to the server is cut where runs are written, and where the commit notifies others.
#[test]
fn a_copy_that_is_cut_leaves_the_target_empty() {
    let Some(scratch) = scratch() else { return };
    let folder = tempfile::tempdir().unwrap();
    with_history(&mut SqliteStore::open(&folder.path().join("first.db")).unwrap());
    let nothing = everything(&mut scratch.open()).unwrap();
    let proxy = Proxy::to(&scratch.address());
    let line =
        format!("windowpane copy --from first.db --to '{}'", scratch.url_by(&proxy.address()));
    for text in ["INSERT INTO run", "pg_notify"] {
        proxy.cut_at(text, Cut::Before);
        let output = shell(folder.path(), &line).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!proxy.disarm(), "{text} is never sent");
        assert_eq!(output.status.code(), Some(2), "{text}: {said}");
        assert_eq!(everything(&mut scratch.open()).unwrap(), nothing, "after a cut at {text}");
    }
    output(folder.path(), &line);
    assert_eq!(scratch.open().begin_read().unwrap().counts().unwrap().workflows, 4);
}
