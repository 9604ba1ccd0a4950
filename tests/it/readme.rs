//! What the README promises: its page of codes is the one in the program.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use windowpane::schedule::Code;

const BEGIN: &str = "<!-- codes: written by a test, see tests/it/readme.rs -->\n";
const END: &str = "<!-- end of codes -->";

/// The page of codes: a row for each, errors first.
fn page() -> String {
    let mut page =
        "| code | severity | what is wrong | for example | remedy |\n|---|---|---|---|---|\n"
            .to_owned();
    for code in Code::ALL {
        let example = code.example().replace('|', "\\|");
        let (word, severity) = (code.as_str(), code.severity().as_str());
        writeln!(
            page,
            "| `{word}` | {severity} | {} | `{example}` | {} |",
            code.title(),
            code.remedy()
        )
        .unwrap();
    }
    page
}

#[test]
fn the_page_of_codes_is_complete() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once(BEGIN).unwrap();
    let (written, tail) = rest.split_once(END).unwrap();
    if crate::setting("UPDATE_FIXTURES").is_some() {
        fs::write(&path, format!("{head}{BEGIN}{}{END}{tail}", page())).unwrap();
    } else {
        assert_eq!(written, page(), "UPDATE_FIXTURES=1 cargo test writes it anew");
    }
}
