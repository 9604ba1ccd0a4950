//! Reading and checking one document, against serde_json with a JSON Schema.

use std::hint::black_box;

use windowpane::schedule::{Form, read_documents};

use crate::contest::{self, Contender, Target};
use crate::paths::DOCUMENT;

const BATCH: u64 = 256;

/// Which `at` is a time and which name a zone only windowpane knows, so each takes what is right.
pub fn run() {
    let schema = include_str!("../../../schemas/workflow.schema.json");
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let is_valid = |text: &str| {
        let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
        validator.is_valid(&document)
    };
    let is_clean = |text: &str| read_documents(text, Form::Line, None).is_clean();
    let wrong = DOCUMENT.replace("\"delay\"", "\"dlay\"");
    assert!(is_valid(DOCUMENT) && is_clean(DOCUMENT) && !is_valid(&wrong) && !is_clean(&wrong));

    let batch = |name, check: &dyn Fn(&str) -> bool| {
        let checked = (0..BATCH).filter(|_| check(black_box(DOCUMENT))).count();
        assert_eq!(checked as u64, BATCH, "{name}");
        BATCH
    };
    let others = vec![
        (
            Contender::new("serde_json and jsonschema", || batch("jsonschema", &is_valid)),
            Target::Times(2.0),
        ),
        (
            Contender::new("serde_json alone, unchecked", || {
                batch("serde_json", &|text| serde_json::from_str::<serde_json::Value>(text).is_ok())
            }),
            Target::None,
        ),
    ];
    contest::run(
        "read and check a document, zone included",
        Contender::new("windowpane", || batch("windowpane", &is_clean)),
        others,
    );
}
