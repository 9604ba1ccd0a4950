//! windowpane and its peers in one process: first they must agree where they mean the same, then
//! their times are set side by side as ratios, which mean the same on any machine.

// It measures, so it reads the clock.
#![allow(clippy::disallowed_methods)]

mod cadences;
mod contest;
mod documents;
mod now;
#[path = "../../paths/mod.rs"]
#[allow(dead_code)]
mod paths;
mod windows;

/// What is measured, by the name that chooses it.
const PARTS: [(&str, fn()); 4] = [
    ("cadences", cadences::run),
    ("windows", windows::run),
    ("now", now::run),
    ("documents", documents::run),
];

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    contest::head();
    for (name, run) in PARTS {
        if chosen.is_empty() || chosen.iter().any(|one| one == name) {
            run();
        }
    }
}
