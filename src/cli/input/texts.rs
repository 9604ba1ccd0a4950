//! The JSON texts of a file, one at a time.

use std::borrow::Cow;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use serde::de::IgnoredAny;
use tempfile::SpooledTempFile;

use crate::schedule::{Code, Fault, Form, Part};

use super::files::{Content, File, FileForm};

/// The longest JSON text, in bytes: 16 MiB. Lines of JSON Lines are texts of their own.
const TEXT_BYTES_AT_MOST: u64 = 16 * 1024 * 1024;

/// So much of what can be read only once is kept in memory, and more of it on disk.
const KEPT_BYTES: usize = 4 * 1024 * 1024;

/// One JSON text of a file, before it is read.
pub(super) struct RawText<'t> {
    /// The text, or why it is none.
    pub(super) content: Result<&'t str, Fault>,
    /// The text, as far as it can be shown.
    pub(super) shown: &'t str,
    pub(super) form: Form,
    /// The line on which it begins, from 1.
    pub(super) first_line: u64,
    /// How much of the file comes before it, from 0 to 1.
    pub(super) part: f64,
}

/// Why the texts of a file were not read to the end.
pub(super) enum Stop<E> {
    /// Whoever was told of them wants no more.
    Told(E),
    /// The file cannot be read.
    Unreadable(io::Error),
}

impl<E> From<io::Error> for Stop<E> {
    fn from(error: io::Error) -> Stop<E> {
        Stop::Unreadable(error)
    }
}

/// What takes texts.
type Each<'e, E> = dyn FnMut(RawText<'_>) -> Result<ControlFlow<()>, E> + 'e;

/// Gives every JSON text of a file to `each`, until it breaks. What cannot be read twice is kept,
/// because a ref that is declared twice is looked up again.
pub(super) fn texts<E>(
    file: &mut File,
    stdin: &mut dyn Read,
    each: &mut Each<'_, E>,
) -> Result<(), Stop<E>> {
    if let Content::Stdin = file.content {
        file.content = Content::Kept(kept(stdin)?);
    }
    if let Content::Path(path) = &file.content {
        let mut opened = fs::File::open(path)?;
        let metadata = opened.metadata()?;
        if metadata.is_file() {
            let reader = BufReader::with_capacity(64 * 1024, opened);
            return Walk { reader, size: metadata.len(), line: 1, read: 0, each }.walk(file.form);
        }
        file.content = Content::Kept(kept(&mut opened)?);
    }
    let Content::Kept(content) = &mut file.content else { return Ok(()) };
    let size = content.seek(SeekFrom::End(0))?;
    content.rewind()?;
    Walk { reader: BufReader::new(content), size, line: 1, read: 0, each }.walk(file.form)
}

fn kept(from: &mut dyn Read) -> io::Result<SpooledTempFile> {
    let mut kept = SpooledTempFile::new(KEPT_BYTES);
    io::copy(from, &mut kept)?;
    Ok(kept)
}

/// A walk over the texts of a file.
struct Walk<'w, 'e, R, E> {
    reader: R,
    /// The size of the file in bytes, 0 where it has none.
    size: u64,
    /// The line that comes next.
    line: u64,
    /// How many bytes were read.
    read: u64,
    each: &'w mut Each<'e, E>,
}

/// The bytes of a text, as far as they were taken in.
#[derive(Default)]
struct Bytes {
    bytes: Vec<u8>,
    is_too_large: bool,
}

impl<R: BufRead, E> Walk<'_, '_, R, E> {
    fn walk(mut self, form: FileForm) -> Result<(), Stop<E>> {
        match form {
            FileForm::Lines => self.lines(Bytes::default(), 1),
            FileForm::Json => self.whole(Bytes::default(), 1),
            FileForm::Unknown => self.unknown(),
        }
    }

    /// JSON Lines, if the first line is a JSON value and not the last, else one JSON text.
    fn unknown(&mut self) -> Result<(), Stop<E>> {
        let mut first = Bytes::default();
        while is_blank(&first.bytes) {
            if !self.read_line(&mut first)? {
                return Ok(());
            }
        }
        // Before the blank lines that follow are read over.
        let line = self.line - 1;
        // One that is too large hides nothing behind it.
        let is_value =
            first.is_too_large || serde_json::from_slice::<IgnoredAny>(&first.bytes).is_ok();
        if is_value && self.has_more()? {
            return self.lines(first, line);
        }
        self.whole(first, line)
    }

    /// Reads all that is left as one JSON text, which began with `bytes`.
    fn whole(&mut self, mut bytes: Bytes, first_line: u64) -> Result<(), Stop<E>> {
        let left = (TEXT_BYTES_AT_MOST + 1).saturating_sub(bytes.bytes.len() as u64);
        bytes.bytes.reserve(self.size.min(left) as usize);
        (&mut self.reader).take(left).read_to_end(&mut bytes.bytes)?;
        bytes.is_too_large |= bytes.bytes.len() as u64 > TEXT_BYTES_AT_MOST;
        self.tell(&bytes, Form::Json, first_line, 0.0).map(drop)
    }

    /// Reads line after line; the first, which is line `line`, was taken in already if there is
    /// anything in it.
    fn lines(&mut self, mut bytes: Bytes, mut line: u64) -> Result<(), Stop<E>> {
        let mut has_line = !bytes.bytes.is_empty() || self.read_line(&mut bytes)?;
        while has_line {
            if !is_blank(&bytes.bytes) {
                let before = self.read.saturating_sub(bytes.bytes.len() as u64);
                let part = before as f64 / self.size.max(1) as f64;
                if self.tell(&bytes, Form::Line, line, part)?.is_break() {
                    return Ok(());
                }
            }
            line = self.line;
            has_line = self.read_line(&mut bytes)?;
        }
        Ok(())
    }

    /// Takes in the next line without its end. `false` at the end of the file.
    fn read_line(&mut self, into: &mut Bytes) -> io::Result<bool> {
        into.bytes.clear();
        into.is_too_large = false;
        let mut limited = (&mut self.reader).take(TEXT_BYTES_AT_MOST + 1);
        let count = limited.read_until(b'\n', &mut into.bytes)? as u64;
        self.read += count;
        if count == 0 {
            return Ok(false);
        }
        self.line += 1;
        if into.bytes.pop_if(|byte| *byte == b'\n').is_none() && count > TEXT_BYTES_AT_MOST {
            into.is_too_large = true;
            self.skip_line()?;
        }
        into.bytes.pop_if(|byte| *byte == b'\r');
        Ok(true)
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(());
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(buffer.len(), |at| at + 1);
            self.reader.consume(count);
            self.read += count as u64;
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// Whether anything but blanks follows. Blank lines are read over.
    fn has_more(&mut self) -> io::Result<bool> {
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let blank = buffer.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
            if blank < buffer.len() {
                // What stands before the next value on its own line stays there.
                let lines = buffer[..blank].iter().rposition(|byte| *byte == b'\n');
                let over = lines.map_or(0, |at| at + 1);
                self.line += buffer[..over].iter().filter(|byte| **byte == b'\n').count() as u64;
                self.read += over as u64;
                self.reader.consume(over);
                return Ok(true);
            }
            self.line += buffer.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.read += blank as u64;
            self.reader.consume(blank);
        }
    }

    fn tell(
        &mut self,
        Bytes { bytes, is_too_large }: &Bytes,
        form: Form,
        first_line: u64,
        part: f64,
    ) -> Result<ControlFlow<()>, Stop<E>> {
        let (content, shown) = match std::str::from_utf8(bytes) {
            _ if *is_too_large => (Err(too_large()), Cow::Borrowed("")),
            Ok(text) => (Ok(text), Cow::Borrowed(text)),
            Err(error) => {
                (Err(not_utf8(bytes, error.valid_up_to())), String::from_utf8_lossy(bytes))
            }
        };
        let text = RawText { content, shown: &shown, form, first_line, part };
        (self.each)(text).map_err(Stop::Told)
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| b" \t\r\n".contains(byte))
}

fn too_large() -> Fault {
    let message = format!("one JSON text is at most {} MiB long", TEXT_BYTES_AT_MOST >> 20);
    fault(Code::TooLarge, 0, message, "split it, for example into JSON Lines")
}

fn not_utf8(bytes: &[u8], at: usize) -> Fault {
    let hint = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it looks like UTF-16: save it as UTF-8",
        _ => "save the file as UTF-8",
    };
    let message = format!("the byte 0x{:02x} is not UTF-8", bytes.get(at).copied().unwrap_or(0));
    fault(Code::NotUtf8, at, message, hint)
}

fn fault(code: Code, at: usize, message: String, hint: &str) -> Fault {
    let (pointer, hint) = (String::new(), Some(hint.to_owned()));
    Fault { code, pointer, part: Part::Byte { at }, message, hint }
}
