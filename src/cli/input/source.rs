//! One source of documents: a file, standard input or an argument, as the texts that it holds.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tempfile::NamedTempFile;

use crate::schedule::{Code, Form};
use crate::wire::Problem;

/// The longest JSON text: a document, or a line of JSON Lines. 64 MiB.
const TEXT_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// How a source came to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was named on the command line.
    Named,
    /// It was found in a folder that was named.
    Folder,
}

/// One source of documents.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    form: Form,
    pub(super) origin: Origin,
    /// What cannot be read twice is kept in a file while the command runs.
    spool: Option<NamedTempFile>,
}

impl Source {
    /// The value of `--schedule`.
    pub(super) fn argument() -> Source {
        let path = PathBuf::from("--schedule");
        Source { path, form: Form::Json, origin: Origin::Named, spool: None }
    }

    /// A file of a folder, if its name is that of a document.
    pub(super) fn in_folder(path: &Path) -> Option<Source> {
        let form = form_of(path)?;
        Some(Source { path: path.to_owned(), form, origin: Origin::Folder, spool: None })
    }

    /// A path from the command line that is no folder; `-` is standard input.
    ///
    /// # Errors
    /// As the file or standard input reports.
    pub(super) fn named(path: &Path) -> io::Result<Source> {
        let spool = match path.as_os_str() == "-" {
            true => Some(spool(&mut io::stdin().lock())?),
            // A pipe gives its content once.
            false if !path.metadata()?.is_file() => Some(spool(&mut File::open(path)?)?),
            false => None,
        };
        let readable = spool.as_ref().map_or(path, |spool| spool.path());
        let form = match form_of(path) {
            Some(form) => form,
            None => sniff(&mut BufReader::new(File::open(readable)?))?,
        };
        Ok(Source { path: path.to_owned(), form, origin: Origin::Named, spool })
    }

    /// Its name in messages, as it was given.
    pub(super) fn name(&self) -> Rc<str> {
        self.path.to_string_lossy().into()
    }

    /// Its texts, from the first.
    ///
    /// # Errors
    /// As the file reports.
    pub(super) fn texts(&self) -> io::Result<Texts> {
        let path = self.spool.as_ref().map_or(&*self.path, |spool| spool.path());
        let reader = BufReader::new(File::open(path)?);
        Ok(Texts { reader, form: self.form, buffer: Vec::new(), line: 1 })
    }

    /// What to say where it cannot be read.
    pub(super) fn problem(&self, error: &io::Error) -> Problem {
        unreadable(&self.path, error)
    }
}

/// What to say of a path that cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Problem {
    let message = format!("{}: {error}", path.display());
    Problem { code: "unreadable", message, hint: None }
}

fn form_of(path: &Path) -> Option<Form> {
    match path.extension()?.to_str()? {
        "json" => Some(Form::Json),
        "jsonl" | "ndjson" => Some(Form::JsonLines),
        _ => None,
    }
}

fn spool(reader: &mut impl Read) -> io::Result<NamedTempFile> {
    let mut spool = NamedTempFile::new()?;
    io::copy(reader, &mut spool)?;
    Ok(spool)
}

/// Tells JSON Lines from one document: its first line is JSON by itself, and others follow.
fn sniff(reader: &mut impl BufRead) -> io::Result<Form> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.take(TEXT_LIMIT_BYTES as u64).read_until(b'\n', &mut line)? == 0 {
            return Ok(Form::Json);
        }
        if !is_blank(&line) {
            break;
        }
    }
    if serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_err() {
        return Ok(Form::Json);
    }
    loop {
        let more = reader.fill_buf()?;
        match more.len() {
            0 => return Ok(Form::Json),
            length if is_blank(more) => reader.consume(length),
            _ => return Ok(Form::JsonLines),
        }
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// The texts of one source, one at a time.
pub(super) struct Texts {
    reader: BufReader<File>,
    form: Form,
    buffer: Vec<u8>,
    line: usize,
}

/// One JSON text.
pub(super) struct Text<'t> {
    /// The line of the source at which it begins, counted from 1.
    pub(super) first_line: usize,
    pub(super) form: Form,
    /// The text, or something like it where it is not UTF-8.
    pub(super) content: Cow<'t, str>,
    /// Why no more of it can be read.
    pub(super) broken: Option<Broken>,
}

/// Why a text cannot be read.
pub(super) struct Broken {
    /// The byte of the text at which it is broken.
    pub(super) at: usize,
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

impl Texts {
    /// The next text; of JSON Lines, the next line that is not blank.
    ///
    /// # Errors
    /// As the file reports.
    pub(super) fn next(&mut self) -> io::Result<Option<Text<'_>>> {
        loop {
            self.buffer.clear();
            let first_line = self.line;
            let mut limited = (&mut self.reader).take(TEXT_LIMIT_BYTES as u64 + 1);
            let read = match self.form {
                Form::Json => limited.read_to_end(&mut self.buffer)?,
                Form::JsonLines => limited.read_until(b'\n', &mut self.buffer)?,
            };
            let is_too_long = self.buffer.len() > TEXT_LIMIT_BYTES;
            if is_too_long {
                self.skip()?;
            }
            self.line += 1;
            let is_end = read == 0 && (self.form == Form::JsonLines || first_line > 1);
            if is_end {
                return Ok(None);
            }
            if self.form == Form::Json || !is_blank(&self.buffer) {
                return Ok(Some(text(&self.buffer, first_line, self.form, is_too_long)));
            }
        }
    }

    /// Passes over the rest of a text.
    fn skip(&mut self) -> io::Result<()> {
        match self.form {
            // What is not read is not there.
            Form::Json => Ok(()),
            Form::JsonLines if self.buffer.last() == Some(&b'\n') => Ok(()),
            Form::JsonLines => self.reader.skip_until(b'\n').map(drop),
        }
    }
}

fn text(bytes: &[u8], first_line: usize, form: Form, is_too_long: bool) -> Text<'_> {
    let bytes = match form {
        Form::Json => bytes,
        Form::JsonLines => trim_line_end(bytes),
    };
    if is_too_long {
        let message = format!("a JSON text is at most {TEXT_LIMIT_BYTES} bytes long");
        let hint = "write JSON Lines, one workflow document a line";
        let broken = Some(Broken { at: 0, code: Code::TooLong, message, hint });
        return Text { first_line, form, content: Cow::Borrowed(""), broken };
    }
    match str::from_utf8(bytes) {
        Ok(text) => Text { first_line, form, content: Cow::Borrowed(text), broken: None },
        Err(error) => {
            let at = error.valid_up_to();
            let message = match bytes.get(at) {
                Some(byte) => format!("the byte `0x{byte:02x}` is not UTF-8"),
                None => "the text is not UTF-8".to_owned(),
            };
            let hint = "save the file as UTF-8";
            let broken = Some(Broken { at, code: Code::NotUtf8, message, hint });
            Text { first_line, form, content: String::from_utf8_lossy(bytes), broken }
        }
    }
}

fn trim_line_end(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}
