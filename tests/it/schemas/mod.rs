//! The JSON Schemas of every form that enters or leaves the process.

mod documents;
mod rows;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn schema(name: &str) -> Value {
    let text = fs::read_to_string(root(&format!("schemas/{name}.schema.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}
