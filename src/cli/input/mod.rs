//! The documents at some paths: files, folders, globs and standard input, one JSON text at a
//! time, so that no set of documents has to fit into memory.

mod files;
mod refs;
mod texts;

use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::schedule::{Code, Documents, Form, read_documents, read_schedule};
use crate::time::Instant;
use crate::wire::Source;

use files::{Files, Origin};
use refs::Refs;
use texts::{Stop, texts};

/// What to read.
pub(super) struct Request<'a> {
    /// Files, folders, globs, and `-` for standard input.
    pub(super) paths: &'a [PathBuf],
    /// A schedule by itself.
    pub(super) schedule: Option<&'a str>,
    /// The present, where what depends on today's date is wanted too.
    pub(super) today: Option<Instant>,
}

/// One JSON text, read.
pub(super) struct Text<'t> {
    /// The text and where it stands.
    pub(super) source: Source<'t>,
    /// What it holds.
    pub(super) documents: Documents,
    /// How much of everything was read before it, from 0 to 1.
    pub(super) progress: f64,
}

/// What is told while documents are read.
pub(super) enum Event<'t> {
    /// A JSON text with its workflows.
    Text(Text<'t>),
    /// A text of before once more, with refs that other documents declare too as its only faults;
    /// and an empty one last, where some of them are not told.
    Duplicates(Text<'t>),
    /// A path that cannot be read, or holds no document; the others are read all the same.
    Unreadable(InputError),
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// How many files.
    pub(super) files: u64,
    /// What ignore files kept from being read: files, and folders with a slash behind them.
    pub(super) ignored: Vec<String>,
}

/// Documents cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    /// There is no such file or folder.
    #[error("there is no `{0}`")]
    Missing(String),
    /// A file or folder cannot be read.
    #[error("`{file}` cannot be read: {error}")]
    Unreadable {
        /// Its name.
        file: String,
        /// Why.
        error: String,
    },
    /// A pattern of paths is not one.
    #[error("`{pattern}` is not a pattern of paths: {error}")]
    BadGlob {
        /// The pattern.
        pattern: String,
        /// Why.
        error: String,
    },
    /// A path holds no document.
    #[error("there is no document in `{0}`")]
    NoDocument(String),
}

impl InputError {
    /// The stable word for its kind.
    pub(super) fn code(&self) -> &'static str {
        match self {
            InputError::Missing(_) => "no_such_file",
            InputError::Unreadable { .. } => "unreadable",
            InputError::BadGlob { .. } => "bad_glob",
            InputError::NoDocument(_) => "no_document",
        }
    }

    /// The path, as people know it.
    pub(super) fn path(&self) -> &str {
        match self {
            InputError::Missing(path) | InputError::NoDocument(path) => path,
            InputError::Unreadable { file, .. } => file,
            InputError::BadGlob { pattern, .. } => pattern,
        }
    }

    /// What to do about it.
    pub(super) fn hint(&self) -> Option<&'static str> {
        match self {
            InputError::NoDocument(_) => {
                Some("documents are .json, .jsonl and .ndjson files with `ref` and `schedule`")
            }
            _ => None,
        }
    }
}

/// Reads all documents and tells `each` of every JSON text, in the order of the paths, folders
/// sorted by name; then of the refs that were declared twice.
///
/// # Errors
/// Whatever `each` returns.
pub(super) fn read<E>(
    request: &Request<'_>,
    stdin: &mut dyn Read,
    each: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
) -> Result<Tally, E> {
    if let Some(schedule) = request.schedule {
        each(Event::Text(schedule_text(schedule, request.today)))?;
        return Ok(Tally { files: 1, ignored: Vec::new() });
    }
    let mut reader =
        Reader { today: request.today, files: Files::default(), refs: Refs::default(), read: 0 };
    let (files, unfound) = Files::find(request.paths);
    reader.files = files;
    let mut unfound = unfound.into_iter();
    for (index, path) in request.paths.iter().enumerate() {
        match unfound.next().flatten() {
            Some(error) => each(Event::Unreadable(error))?,
            None => reader.read_path(index, path, stdin, each)?,
        }
    }
    reader.tell_duplicates(each)?;
    Ok(Tally { files: reader.read, ignored: reader.files.ignored })
}

fn schedule_text(schedule: &str, today: Option<Instant>) -> Text<'_> {
    let source = Source { file: "--schedule", text: schedule, first_line: 1 };
    let documents = vec![read_schedule(schedule, today)];
    Text { source, documents: Documents { documents, faults: Vec::new() }, progress: 0.0 }
}

struct Reader {
    today: Option<Instant>,
    files: Files,
    refs: Refs,
    /// How many files were read.
    read: u64,
}

impl Reader {
    /// Reads the files of one path.
    fn read_path<E>(
        &mut self,
        argument: usize,
        path: &Path,
        stdin: &mut dyn Read,
        each: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut holds = Holds::Nothing;
        for index in self.files.of_argument(argument) {
            let name = self.files.all[index].name.clone();
            match self.read_file(index, &name, stdin, &mut holds, each) {
                Ok(()) => self.read += 1,
                Err(Stop::Told(error)) => return Err(error),
                Err(Stop::Unreadable(error)) => {
                    holds = Holds::Something;
                    let error = error.to_string();
                    each(Event::Unreadable(InputError::Unreadable { file: name, error }))?;
                }
            }
        }
        match holds {
            Holds::Nothing if self.files.is_repeat(argument) => Ok(()),
            Holds::Nothing => each(Event::Unreadable(InputError::NoDocument(files::shown(path)))),
            Holds::Something => Ok(()),
        }
    }

    fn read_file<E>(
        &mut self,
        index: usize,
        file: &str,
        stdin: &mut dyn Read,
        holds: &mut Holds,
        each: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), Stop<E>> {
        let origin = self.files.all[index].origin;
        let (total, before) = (self.files.all.len() as f64, index as f64);
        let (today, refs) = (self.today, &mut self.refs);
        let mut is_first = true;
        refs.begin_file(index);
        texts(&mut self.files.all[index], stdin, &mut |raw| {
            let mut documents = match raw.content {
                Ok(text) => read_documents(text, raw.form, today),
                Err(fault) => Documents { documents: Vec::new(), faults: vec![fault] },
            };
            let is_foreign = origin == Origin::InFolder && is_foreign(&documents);
            if is_foreign {
                pass_over(&mut documents);
            } else if !documents.documents.is_empty() || !documents.faults.is_empty() {
                *holds = Holds::Something;
            }
            refs.note(&documents);
            let source = Source { file, text: raw.shown, first_line: raw.first_line };
            refs::add_first_places(&mut documents, source);
            let progress = (before + raw.part) / total;
            each(Event::Text(Text { source, documents, progress }))?;
            // Lines that begin with none of ours are somebody else's; the rest is not read.
            let is_over = is_foreign && raw.form == Form::Line && is_first;
            is_first = false;
            Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    /// Tells of refs that several documents declare, by reading their files once more.
    fn tell_duplicates<E>(
        &mut self,
        each: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut suspects = self.refs.suspects();
        while let Some(index) = suspects.begin_file() {
            let file = &mut self.files.all[index];
            let name = file.name.clone();
            let outcome = texts(file, &mut std::io::empty(), &mut |raw| {
                let Ok(text) = raw.content else { return Ok(ControlFlow::Continue(())) };
                let mut documents = read_documents(text, raw.form, None);
                let source = Source { file: &name, text, first_line: raw.first_line };
                suspects.keep_duplicates(&mut documents, source);
                if !documents.documents.is_empty() {
                    each(Event::Duplicates(Text { source, documents, progress: 1.0 }))?;
                }
                Ok(ControlFlow::Continue(()))
            });
            match outcome {
                Err(Stop::Told(error)) => return Err(error),
                // It was read a moment ago, and whatever has become of it, it was told once.
                Err(Stop::Unreadable(_)) | Ok(()) => {}
            }
        }
        let Some(untold) = suspects.into_untold() else { return Ok(()) };
        let documents = Documents { documents: Vec::new(), faults: vec![untold.fault()] };
        let source = Source { file: &untold.file, text: "", first_line: untold.line };
        each(Event::Duplicates(Text { source, documents, progress: 1.0 }))
    }
}

/// Whether a path holds anything: a document, or a fault.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    Something,
}

/// Whether a text is JSON, and nothing in it is ours.
fn is_foreign(documents: &Documents) -> bool {
    matches!(&*documents.faults, [fault] if fault.code == Code::NoWorkflow)
}

/// Makes a warning of the error that a text declares nothing.
fn pass_over(documents: &mut Documents) {
    for fault in &mut documents.faults {
        fault.code = Code::PassedOver;
        fault.message = format!("passed over: {}", fault.message);
        fault.hint = Some("list it in .ignore, if that is as it should be".to_owned());
    }
}
