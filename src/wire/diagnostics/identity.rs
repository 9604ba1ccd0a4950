//! What makes a diagnostic the same one in the next run, when lines have moved.

use std::collections::HashMap;

use twox_hash::XxHash3_64;

use super::Diagnostic;

/// Fingerprints that depend on file, workflow, kind and pointer, never on the line, and stay the
/// same in every release. Two of the same are told apart by their order.
#[derive(Default)]
pub(super) struct Fingerprints {
    seen: HashMap<u64, u64>,
}

impl Fingerprints {
    pub(super) fn of(&mut self, diagnostic: &Diagnostic<'_>) -> String {
        let Diagnostic { source, workflow, code, pointer, .. } = diagnostic;
        // No part can hold a NUL of its own, but for a pointer, which comes last.
        let parts = [&path(source.file), workflow.unwrap_or(""), code.as_str(), pointer];
        let same = XxHash3_64::oneshot(parts.join("\0").as_bytes());
        let nth = self.seen.entry(same).or_default();
        *nth += 1;
        format!("{same:016x}{nth:04x}")
    }
}

/// The name of a file as the tools of a repository want it: forward slashes, no `./`.
pub(super) fn path(file: &str) -> String {
    let path = if cfg!(windows) { file.replace('\\', "/") } else { file.to_owned() };
    path.strip_prefix("./").map_or(path.clone(), str::to_owned)
}
