//! Names and texts that try to be something else: a command of the pipeline, a sequence of the
//! terminal, another element of the report.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::validate;

const FORMS: [&str; 7] = ["human", "json", "jsonl", "sarif", "github", "gitlab", "junit"];

/// A folder whose files and documents are named by somebody who means harm.
fn hostile() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a\n::error::forged,%:.json", r#"{"ref": "a", "schedule": {"every": "7m"}}"#);
    write("b\u{1b}]0;title\u{7}.json", r#"{"ref": "b", "schedule": {"every": "7m"}}"#);
    write("c.json", "{\"ref\": \"\u{9b}31m\u{202e}desrever\", \"schedule\": {\"every\": \"7m\"}}");
    write("d.json", "{\"ref\": \"\u{1b}[2J\u{0}\", \"schedule\": 1}");
    let escaped = r#"{"workflows": {"\n::error::forged\u001b[2J\u0085\u2028": {"schedule":
        {"\r\n##[error]forged]]>": "<&\"'>", "every": "\u001b[31m", "timezone": "\n::stop-commands::x"}}}}"#;
    write("e.json", escaped);
    write("f]]><b>&amp;.json", r#"{"ref": "<a b='c'>", "schedule": {"every": "]]>&"}}"#);
    folder
}

/// What a form prints, on both outputs.
fn printed(folder: &Path, form: &str) -> String {
    let output = validate(folder, &format!(". --format {form}"));
    let printed = [output.stdout, output.stderr].concat();
    String::from_utf8(printed).unwrap()
}

#[test]
fn no_report_has_a_character_that_acts_on_a_terminal() {
    let folder = hostile();
    for form in FORMS {
        let printed = printed(folder.path(), form);
        let acts = |char: &char| char.is_control() && *char != '\n';
        assert_eq!(printed.chars().find(acts), None, "{form}: {printed:?}");
    }
    for form in ["human", "github"] {
        let printed = printed(folder.path(), form);
        assert!(!printed.contains(['\u{202e}', '\u{2028}']), "{form}: {printed:?}");
    }
}

#[test]
fn no_line_is_forged() {
    let folder = hostile();
    for form in FORMS {
        for line in printed(folder.path(), form).lines() {
            let is_ours = form == "github" && line.contains(",title=windowpane ");
            assert!(is_ours || !line.trim_start().starts_with("::"), "{form}: {line}");
            assert!(!line.trim_start().starts_with("##["), "{form}: {line}");
        }
    }
    let commands = printed(folder.path(), "github");
    let command = commands.lines().find(|line| line.contains("forged%2C%25%3A")).unwrap();
    assert!(
        command.starts_with("::error file=a\\n%3A%3Aerror%3A%3Aforged%2C%25%3A.json,"),
        "{command}"
    );
}

#[test]
fn xml_stays_xml() {
    let printed = printed(hostile().path(), "junit");
    let report = printed.split("</testsuites>").next().unwrap();
    for element in report.split('<').skip(1) {
        let name = element.trim_start_matches('/');
        let known = ["?xml ", "testsuite", "testcase", "failure", "system-out"];
        assert!(known.iter().any(|known| name.starts_with(known)), "<{element}");
        assert_eq!(element.matches('>').count(), 1, "<{element}");
    }
    for (at, _) in report.match_indices('&') {
        let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"];
        assert!(
            entities.iter().any(|entity| report[at..].starts_with(entity)),
            "{}",
            &report[at..]
        );
    }
}
