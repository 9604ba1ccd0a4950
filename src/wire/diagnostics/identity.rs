//! What makes a diagnostic the same one in the next run, when lines have moved.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Diagnostic;

/// Fingerprints that depend on file, workflow, kind and pointer, never on the line. Two of the
/// same are told apart by their order.
#[derive(Default)]
pub(super) struct Fingerprints {
    seen: HashMap<u64, u64>,
}

impl Fingerprints {
    pub(super) fn of(&mut self, diagnostic: &Diagnostic<'_>) -> String {
        let mut hasher = DefaultHasher::new();
        path(diagnostic.source.file).hash(&mut hasher);
        diagnostic.workflow.hash(&mut hasher);
        diagnostic.code.as_str().hash(&mut hasher);
        diagnostic.pointer.hash(&mut hasher);
        let same = hasher.finish();
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
