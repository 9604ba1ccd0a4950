//! The files of a folder, without those that its ignore files name.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::wire::Problem;

use super::source::{Source, unreadable};

/// What was passed over: hidden, or named by an ignore file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::cli) struct Ignored {
    /// Files with the name of a document.
    pub(in crate::cli) files: u64,
    /// Folders.
    pub(in crate::cli) folders: u64,
}

impl Ignored {
    /// What to say of it, if there is anything.
    pub(in crate::cli) fn note(self) -> Option<String> {
        let count = |count: u64, word: &str| match count {
            0 => None,
            1 => Some(format!("1 {word}")),
            many => Some(format!("{many} {word}s")),
        };
        let parts = [count(self.files, "file"), count(self.folders, "folder")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("ignored {}", parts.join(" and ")))
    }
}

/// Lists the sources at a path, sorted, and gives back what could not be listed.
pub(super) fn sources(
    path: &Path,
    sources: &mut Vec<Source>,
    ignored: &mut Ignored,
) -> Vec<Problem> {
    if path.as_os_str() == "-" || !path.is_dir() {
        return match Source::named(path) {
            Ok(source) => {
                sources.push(source);
                Vec::new()
            }
            Err(error) => vec![unreadable(path, &error)],
        };
    }
    let mut problems = Vec::new();
    let mut seen = HashSet::new();
    let mut folders = Vec::new();
    for entry in walk(path) {
        match entry {
            Ok(entry) => {
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                let path = entry.into_path();
                if is_folder {
                    folders.push(path.clone());
                    seen.insert(path);
                } else if let Some(source) = Source::in_folder(&path) {
                    sources.push(source);
                    seen.insert(path);
                }
            }
            Err(error) => {
                let (message, hint) = (error.to_string(), None);
                problems.push(Problem { code: "unreadable", message, hint });
            }
        }
    }
    for folder in &folders {
        count_ignored(folder, &seen, ignored);
    }
    problems
}

/// Only files beside the documents decide what is ignored, never the settings of a host or a user:
/// every machine reads the same set.
fn walk(path: &Path) -> ignore::Walk {
    WalkBuilder::new(path)
        .follow_links(true)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .sort_by_file_name(OsStr::cmp)
        .build()
}

fn count_ignored(folder: &Path, seen: &HashSet<PathBuf>, ignored: &mut Ignored) {
    // The walk has listed this folder, and has said so if it could not be read.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if seen.contains(&path) || entry.file_name() == ".git" {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            ignored.folders += 1;
        } else if Source::in_folder(&path).is_some() {
            ignored.files += 1;
        }
    }
}
