//! `copy` between a file and a server, both ways.

use std::path::Path;

use windowpane::store::Store;
use windowpane::store::sqlite::SqliteStore;

use crate::cli::{output, shell};
use crate::store_suite::sample::{everything, with_history};

use super::proxy::{Cut, Proxy};
use super::scratch;

/// Some days of a store in a file, by the command.
fn live_through(folder: &Path) {
    let now = |day| format!("--now 2026-01-0{day} --format csv");
    for line in [
        format!("windowpane sync $EXAMPLES --db first.db {}", now(1)),
        format!("windowpane claim --worker w --limit 9 --db first.db {}", now(2)),
        format!("windowpane run --once --exec 'exit 1' --db first.db {}", now(3)),
        format!("windowpane pause 'slo/*' --by me --db first.db {}", now(3)),
        format!(
            "windowpane request slo/checkout-availability --latest --id again --db first.db {}",
            now(4)
        ),
        format!("windowpane run --once --exec true --db first.db {}", now(4)),
    ] {
        output(folder, &line);
    }
}

#[test]
fn a_store_moves_to_a_server_and_back() {
    let Some(scratch) = scratch() else { return };
    let folder = tempfile::tempdir().unwrap();
    live_through(folder.path());
    let url = scratch.url();
    output(folder.path(), &format!("windowpane copy --from first.db --to '{url}'"));
    output(folder.path(), &format!("windowpane copy --from '{url}' --to back.db"));
    let in_file =
        |name| everything(&mut SqliteStore::open(&folder.path().join(name)).unwrap()).unwrap();
    let expected = in_file("first.db");
    assert_eq!(everything(&mut scratch.open()).unwrap(), expected);
    assert_eq!(in_file("back.db"), expected);
    let explain = "explain slo/checkout-availability --from 2025-12-31 --to 2026-01-04";
    for command in ["list", "runs", "skips", explain] {
        let rows = |db: &str| {
            let line = format!("windowpane {command} --db '{db}' --now 2026-01-05 --format jsonl");
            output(folder.path(), &line)
        };
        assert!(!rows("first.db").is_empty(), "{command}");
        assert_eq!(rows("first.db"), rows(&url), "{command}");
        assert_eq!(rows("first.db"), rows("back.db"), "{command}");
    }
    for db in [&url, "back.db"] {
        output(folder.path(), &format!("windowpane verify --db '{db}' --now 2026-01-05"));
    }
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
