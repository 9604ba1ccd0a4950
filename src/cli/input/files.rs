//! Which files some paths mean.

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ignore::WalkBuilder;
use tempfile::SpooledTempFile;

use super::InputError;

/// The names that end in these hold documents.
const EXTENSIONS: [&str; 3] = ["json", "jsonl", "ndjson"];

/// The files of all paths, in order.
#[derive(Default)]
pub(super) struct Files {
    pub(super) all: Vec<File>,
    /// Where the files of each path lie in `all`.
    arguments: Vec<Range<usize>>,
    /// The paths all of whose files were found before.
    repeats: HashSet<usize>,
    /// What ignore files kept from being found.
    pub(super) ignored: Vec<String>,
}

/// One file.
pub(super) struct File {
    /// Its name, as people know it.
    pub(super) name: String,
    pub(super) content: Content,
    pub(super) form: FileForm,
    pub(super) origin: Origin,
}

/// Where the bytes of a file are.
pub(super) enum Content {
    /// Standard input, not read yet.
    Stdin,
    /// On the file system.
    Path(PathBuf),
    /// Read from where nothing can be read twice, and kept.
    Kept(SpooledTempFile),
}

/// How a file holds its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileForm {
    /// One JSON text.
    Json,
    /// One JSON text on each line.
    Lines,
    /// That shows when it is read.
    Unknown,
}

/// How a file came to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was named.
    Named,
    /// It was found in a folder.
    InFolder,
}

impl Files {
    /// Finds the files of some paths, and says of each path why it has none. A file that several of
    /// them mean counts once.
    pub(super) fn find(paths: &[PathBuf]) -> (Files, Vec<Option<InputError>>) {
        let mut files = Files::default();
        let mut errors = Vec::with_capacity(paths.len());
        for path in paths {
            let start = files.all.len();
            errors.push(files.add(path).err());
            files.arguments.push(start..files.all.len());
        }
        if paths.len() > 1 {
            files.keep_first_of_each();
            files.ignored.sort_unstable();
            files.ignored.dedup();
        }
        (files, errors)
    }

    /// The indices of the files of a path.
    pub(super) fn of_argument(&self, argument: usize) -> Range<usize> {
        self.arguments.get(argument).cloned().unwrap_or_default()
    }

    /// Whether other paths mean all files of a path, too.
    pub(super) fn is_repeat(&self, argument: usize) -> bool {
        self.repeats.contains(&argument)
    }

    fn add(&mut self, path: &Path) -> Result<(), InputError> {
        if path.as_os_str() == "-" {
            let (content, form) = (Content::Stdin, FileForm::Unknown);
            self.all.push(File { name: "-".to_owned(), content, form, origin: Origin::Named });
            return Ok(());
        }
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.add_folder(path),
            Ok(_) => {
                self.push(path.to_owned(), Origin::Named);
                Ok(())
            }
            Err(_) if is_glob(path) => self.add_glob(path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(InputError::Missing(shown(path)))
            }
            Err(error) => {
                Err(InputError::Unreadable { file: shown(path), error: error.to_string() })
            }
        }
    }

    fn push(&mut self, path: PathBuf, origin: Origin) {
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        let form = match extension.as_deref().and_then(|extension| extension.to_str()) {
            Some("json") => FileForm::Json,
            Some("jsonl" | "ndjson") => FileForm::Lines,
            _ => FileForm::Unknown,
        };
        self.all.push(File { name: shown(&path), content: Content::Path(path), form, origin });
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), InputError> {
        let mut walk = WalkBuilder::new(folder);
        // The user's own ignore file is no part of the project: two users read the same set.
        walk.git_global(false).require_git(false);
        let mut found = walked(&walk, folder)?;
        self.note_ignored(&found);
        found.files.retain(|path| is_document(path));
        found.files.into_iter().for_each(|path| self.push(path, Origin::InFolder));
        Ok(())
    }

    fn add_glob(&mut self, pattern: &Path) -> Result<(), InputError> {
        let text = pattern.to_string_lossy();
        let glob = GlobBuilder::new(&text).literal_separator(true).build();
        let glob = glob.map_err(|error| InputError::BadGlob {
            pattern: text.clone().into_owned(),
            error: error.kind().to_string(),
        })?;
        let matcher = glob.compile_matcher();
        let base: PathBuf =
            pattern.components().take_while(|part| !has_meta(part.as_ref())).collect();
        let here = base.as_os_str().is_empty();
        let folder = if here { Path::new(".") } else { &base };
        if !folder.is_dir() {
            return Err(InputError::Missing(shown(pattern)));
        }
        let mut walk = WalkBuilder::new(folder);
        walk.standard_filters(false).hidden(true);
        for path in walked(&walk, folder)?.files {
            let path = if here { path.strip_prefix(".").unwrap_or(&path).to_owned() } else { path };
            if matcher.is_match(&path) {
                self.push(path, Origin::Named);
            }
        }
        Ok(())
    }

    /// What stands in the folders that were walked and was not found is ignored.
    fn note_ignored(&mut self, found: &Walked) {
        let known: HashSet<&Path> =
            found.files.iter().chain(&found.folders).map(PathBuf::as_path).collect();
        let mut ignored = Vec::new();
        for entry in found.folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten() {
            let Ok(entry) = entry else { continue };
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let path = entry.path();
            if is_hidden || known.contains(&*path) {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                ignored.push(format!("{}/", shown(&path)));
            } else if is_document(&path) && path.is_file() {
                ignored.push(shown(&path));
            }
        }
        ignored.sort_unstable();
        self.ignored.extend(ignored);
    }

    fn keep_first_of_each(&mut self) {
        let mut seen = HashSet::new();
        let is_first: Vec<bool> = self
            .all
            .iter()
            .map(|file| match &file.content {
                Content::Path(path) => {
                    fs::canonicalize(path).map_or(true, |path| seen.insert(path))
                }
                Content::Stdin => seen.insert(PathBuf::from("-")),
                Content::Kept(_) => true,
            })
            .collect();
        let kept_before = |index: usize| is_first[..index].iter().filter(|first| **first).count();
        for (argument, range) in self.arguments.iter_mut().enumerate() {
            let kept = kept_before(range.start)..kept_before(range.end);
            if kept.start == kept.end && range.start < range.end {
                self.repeats.insert(argument);
            }
            *range = kept;
        }
        let mut is_first = is_first.into_iter();
        self.all.retain(|_| is_first.next().unwrap_or(true));
    }
}

/// What lies in a folder and below it, sorted.
#[derive(Default)]
struct Walked {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

fn walked(walk: &WalkBuilder, folder: &Path) -> Result<Walked, InputError> {
    let mut found = Walked::default();
    for entry in walk.build() {
        let entry = entry.map_err(|error| InputError::Unreadable {
            file: shown(folder),
            error: error.to_string(),
        })?;
        let kind = entry.file_type();
        let path = entry.into_path();
        match kind {
            Some(kind) if kind.is_dir() => found.folders.push(path),
            Some(kind) if kind.is_symlink() && !path.is_file() => {}
            _ => found.files.push(path),
        }
    }
    found.files.sort_unstable();
    Ok(found)
}

fn is_document(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))
    })
}

fn is_glob(path: &Path) -> bool {
    path.components().any(|part| has_meta(part.as_ref()))
}

fn has_meta(part: &Path) -> bool {
    part.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[{".contains(byte))
}

/// A path as people know it.
pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
