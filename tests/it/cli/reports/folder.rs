//! The folder of `fixtures/validate`: its files, and where the marks in them say the faults are.

use std::fs;

use tempfile::TempDir;

/// Where a fault is: lines and columns from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Marked {
    pub(super) file: String,
    pub(super) start: (u64, u64),
    pub(super) end: (u64, u64),
    pub(super) code: String,
}

/// Writes the files of the folder, and gives back the faults that are marked in them, sorted.
pub(super) fn faulty() -> (TempDir, Vec<Marked>) {
    let folder = tempfile::tempdir().unwrap();
    let mut marked = Vec::new();
    let write = |file: &str, content: &[u8]| {
        fs::write(folder.path().join(file), content).unwrap();
    };
    for block in include_str!("../../../../fixtures/validate/faulty.folder").split("\n\n") {
        let mut lines = block.lines().filter(|line| !line.starts_with('#'));
        let Some(file) = lines.next().and_then(|line| line.strip_prefix("file ")) else { continue };
        let lines: Vec<&str> =
            lines.map(|line| line.strip_prefix("| ").unwrap_or_default()).collect();
        let (content, faults) = unmarked(file, &lines.join("\n"));
        write(file, content.as_bytes());
        marked.extend(faults);
    }
    // What no text file can show.
    let at = |file: &str, column: u64, length: u64, code: &str| Marked {
        file: file.to_owned(),
        start: (1, column),
        end: (1, column + length),
        code: code.to_owned(),
    };
    write("k-bytes.json", b"{\"ref\": \"caf\xe9\", \"schedule\": false}");
    marked.push(at("k-bytes.json", 13, 1, "not-utf8"));
    write("l-mark.json", b"\xef\xbb\xbf{\"ref\": \"mark\", \"schedule\": false}");
    marked.push(at("l-mark.json", 1, 1, "syntax"));
    write("m-empty.json", b"");
    marked.push(at("m-empty.json", 1, 0, "syntax"));
    marked.sort();
    (folder, marked)
}

/// A text without its marks, and what they mark.
fn unmarked(file: &str, text: &str) -> (String, Vec<Marked>) {
    let (mut content, mut marked) = (String::new(), Vec::new());
    let (mut line, mut column) = (1, 1);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '⟦' => {
                let code: String = chars.by_ref().take_while(|&char| char != ':').collect();
                let start = (line, column);
                marked.push(Marked { file: file.to_owned(), start, end: (0, 0), code });
            }
            '⟧' => marked.last_mut().unwrap().end = (line, column),
            _ => {
                content.push(char);
                (line, column) = if char == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
        }
    }
    (content, marked)
}
