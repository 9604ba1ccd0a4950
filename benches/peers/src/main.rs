//! windowpane and its peers in one process: first they must agree where they mean the same, then
//! their times are set side by side as ratios, which mean the same on any machine.

// It measures, so it reads the clock.
#![allow(clippy::disallowed_methods)]

mod cadences;
mod checks;
mod commands;
mod contest;
mod documents;
mod now;
#[path = "../../paths/mod.rs"]
#[allow(dead_code)]
mod paths;
mod stores;
mod windows;

/// What is measured, by the name that chooses it.
const PARTS: [(&str, fn()); 8] = [
    // First: what this program takes by then would count as the command's.
    ("memory", checks::memory),
    ("cadences", cadences::run),
    ("windows", windows::run),
    ("now", now::run),
    ("documents", documents::run),
    ("commands", commands::run),
    ("checks", checks::run),
    ("stores", stores::run),
];

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    match chosen.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // One of several processes that `stores` starts.
        ["claiming", path] => return stores::claiming(path),
        ["growth"] => {
            contest::head();
            return stores::growth();
        }
        _ => contest::head(),
    }
    for (name, run) in PARTS {
        if chosen.is_empty() || chosen.iter().any(|one| one == name) {
            run();
        }
    }
}
