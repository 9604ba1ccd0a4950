//! The progress bar of `validate`: on a terminal, where a run takes long.

use std::fs;

use tempfile::TempDir;

use super::shell;

/// A folder with a file of many workflows, one of them faulty in the middle.
fn many() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let line = |number: usize| {
        let every = if number == 30_000 { "7m" } else { "5m" };
        format!("{{\"ref\": \"{number}\", \"schedule\": {{\"every\": \"{every}\"}}}}\n")
    };
    fs::write(folder.path().join("many.jsonl"), (0..40_000).map(line).collect::<String>()).unwrap();
    fs::write(folder.path().join("few.jsonl"), (0..10).map(line).collect::<String>()).unwrap();
    folder
}

/// All that a command writes to a terminal.
#[track_caller]
fn on_terminal(folder: &TempDir, line: &str) -> String {
    let output = shell(folder.path(), &format!("script -qc '{line}' typescript")).output().unwrap();
    assert!(output.status.success(), "script: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_long_run_shows_a_bar_on_a_terminal() {
    let folder = many();
    let shown = on_terminal(&folder, "windowpane validate many.jsonl");
    assert!(shown.contains("\r[####################                    ]  50 %"), "{shown:?}");
    // Nothing is told beside the bar, and nothing of it is left behind.
    let told = shown.split_once("error[bad-interval]").unwrap();
    assert!(told.0.ends_with(&format!("\r{:48}\r", "")), "{shown:?}");
    assert!(told.1.contains("\r[##############################          ]  75 %"), "{shown:?}");
    let summary = shown.lines().last().unwrap();
    assert!(
        summary.ends_with(&format!("\r{:48}\r40000 workflows in 1 file: 1 error", "")),
        "{shown:?}"
    );
}

#[test]
fn no_bar_where_it_would_be_in_the_way() {
    let folder = many();
    for line in [
        "windowpane validate few.jsonl",
        "windowpane validate many.jsonl --quiet",
        "windowpane validate many.jsonl --format junit",
        "windowpane validate many.jsonl > report 2> talk",
    ] {
        let shown = on_terminal(&folder, line);
        assert!(!shown.contains(" %"), "{line}: {shown:?}");
    }
    for file in ["report", "talk"] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(!text.contains(" %"), "{file}: {text}");
    }
    // A report in a file leaves the terminal to the bar.
    let shown = on_terminal(&folder, "windowpane validate many.jsonl --format junit > report");
    assert!(shown.contains(" 50 %"), "{shown:?}");
}
