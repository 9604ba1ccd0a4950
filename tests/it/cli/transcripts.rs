//! Transcripts: `fixtures/commands/*.transcript`, each played in a folder of its own.
//!
//! A line that begins with `$ ` is given to a shell; the indented lines below it are the answer:
//! stdout, then stderr with `! ` before each line, then the exit status where it is not 0. A line
//! that begins with `file ` names a file that is made of the lines with `| ` below it. Lines that
//! begin with `#` tell what the transcript is about. `UPDATE_FIXTURES=1 cargo test` rewrites the
//! answers.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Output;

use super::shell;

/// Plays a transcript and gives it back with the answers that the command gave.
fn play(text: &str, folder: &Path) -> String {
    let mut played = String::new();
    let mut lines = text.lines().filter(|line| !line.starts_with(' ')).peekable();
    while let Some(line) = lines.next() {
        writeln!(played, "{line}").unwrap();
        if let Some(command) = line.strip_prefix("$ ") {
            played.push_str(&answer(&shell(folder, command).output().unwrap()));
        } else if let Some(name) = line.strip_prefix("file ") {
            let mut content = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                writeln!(played, "{line}").unwrap();
                writeln!(content, "{}", line.strip_prefix("| ").unwrap_or("")).unwrap();
            }
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "there is no step `{line}`");
        }
    }
    played
}

fn answer(output: &Output) -> String {
    let mut answer = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        writeln!(answer, "  {line}").unwrap();
    }
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        writeln!(answer, "  ! {line}").unwrap();
    }
    if !output.status.success() {
        writeln!(answer, "  {}", output.status).unwrap();
    }
    answer
}

#[test]
fn every_transcript_plays_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/commands");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let mut wrong = Vec::new();
    for path in paths {
        let written = fs::read_to_string(&path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let played = play(&written, folder.path());
        if played == written {
            continue;
        }
        if crate::setting("UPDATE_FIXTURES").is_some() {
            fs::write(&path, played).unwrap();
        } else {
            wrong.push(format!("{}:\n{}", path.display(), difference(&written, &played)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines from the first that differs.
fn difference(written: &str, played: &str) -> String {
    let same = written.lines().zip(played.lines()).take_while(|(one, other)| one == other).count();
    let rest = |text: &str| text.lines().skip(same).take(12).collect::<Vec<_>>().join("\n");
    format!("--- written, from line {}\n{}\n--- played\n{}", same + 1, rest(written), rest(played))
}
