//! The manifest and the schema of the config: what a host checks before it runs anything.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windowpane::apiary::Config;

use crate::cli::output;

const FOLDER: &str = "plugins/dev.windowpane.routines";

/// The plugin as the command installs it, and where.
fn installed() -> (tempfile::TempDir, Value) {
    let folder = tempfile::tempdir().unwrap();
    output(folder.path(), "windowpane install-plugin plugins");
    let text = fs::read(folder.path().join(FOLDER).join("apiary-plugin.json")).unwrap();
    let manifest = serde_json::from_slice(&text).unwrap();
    (folder, manifest)
}

#[test]
fn the_host_takes_the_manifest() {
    let (folder, manifest) = installed();
    let keys: Vec<&str> = manifest.as_object().unwrap().keys().map(String::as_str).collect();
    let known = [
        "apiary",
        "capabilities",
        "checksum",
        "config_schema",
        "executable",
        "id",
        "protocol",
        "schema_version",
        "security",
        "version",
    ];
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, known);
    assert_eq!(manifest["schema_version"], 1);
    assert_eq!(manifest["protocol"], 1);
    assert_eq!(manifest["capabilities"], json!(["source"]));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["id"], "dev.windowpane.routines");
    assert_eq!(manifest["security"]["network"], false);

    let name = manifest["executable"].as_str().unwrap();
    let executable: PathBuf = folder.path().join(FOLDER).join(name);
    assert!(Path::new(name).components().count() == 1, "{name} is not inside the folder");
    let about = fs::symlink_metadata(&executable).unwrap();
    assert!(about.is_file() && about.permissions().mode() & 0o111 != 0);
    let sum = output(folder.path(), &format!("sha256sum < {FOLDER}/{name} | cut -d' ' -f1"));
    assert_eq!(manifest["checksum"], sum.trim_end());
    let names = output(folder.path(), &format!("ls -A {FOLDER}"));
    assert_eq!(names.lines().collect::<Vec<_>>(), ["apiary-plugin.json", name]);
}

/// The host starts it without arguments, in its own folder, with next to no environment.
#[test]
fn the_executable_answers_where_it_is_installed() {
    let (folder, _) = installed();
    let request = r#"{"protocol":1,"request_id":7,"capability":"source","method":"acknowledge"}"#;
    let answer = output(
        folder.path(),
        &format!("cd {FOLDER} && echo '{request}' | env -i ./windowpane-apiary"),
    );
    assert_eq!(answer, "{\"protocol\":1,\"request_id\":7,\"result\":{\"ok\":true}}\n");
}

/// The keywords that a host knows; any other invalidates the schema.
const KEYWORDS: [&str; 13] = [
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "enum",
    "items",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
];

fn check_keywords(schema: &Value, place: &str) {
    for (key, value) in schema.as_object().unwrap() {
        let is_known = KEYWORDS.contains(&key.as_str()) || key == "maxItems";
        assert!(is_known, "`{key}` at {place} invalidates the schema");
        match key.as_str() {
            "properties" => {
                for (name, property) in value.as_object().unwrap() {
                    check_keywords(property, &format!("{place}/{name}"));
                }
            }
            "items" => check_keywords(value, &format!("{place}/items")),
            _ => {}
        }
    }
}

#[test]
fn the_schema_of_the_config_uses_only_what_the_host_knows() {
    let (_folder, manifest) = installed();
    check_keywords(&manifest["config_schema"], "");
}

/// A config with one routine, changed by `change`.
fn config(change: impl FnOnce(&mut Value)) -> Value {
    let mut config = json!({
        "state_file": "/var/lib/state.json",
        "max_per_poll": 5,
        "routines": [{
            "id": "a", "schedule": "0 9 * * *", "title": "A", "timezone": "Europe/Amsterdam",
            "catch_up": true, "description": "d", "labels": ["l"],
        }],
    });
    change(&mut config);
    config
}

#[test]
fn schema_and_reader_agree() {
    let (_folder, manifest) = installed();
    let schema = jsonschema::draft202012::new(&manifest["config_schema"]).unwrap();
    let set = |pointer: &'static str, value: Value| {
        config(|config| *config.pointer_mut(pointer).unwrap() = value)
    };
    let without = |pointer: &'static str, key: &'static str| {
        config(|config| {
            config.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key);
        })
    };
    let with = |pointer: &'static str, key: &'static str| {
        config(|config| config.pointer_mut(pointer).unwrap()[key] = json!(1))
    };
    let text = |chars: usize| Value::from("x".repeat(chars));
    let cases = [
        (config(|_| {}), true),
        (without("", "max_per_poll"), true),
        (without("", "state_file"), false),
        (without("", "routines"), false),
        (with("", "x"), false),
        (set("/state_file", text(0)), false),
        (set("/state_file", text(1_000)), true),
        (set("/state_file", text(1_001)), false),
        (set("/max_per_poll", json!(0)), false),
        (set("/max_per_poll", json!(1)), true),
        (set("/max_per_poll", json!(10_000)), true),
        (set("/max_per_poll", json!(10_001)), false),
        (set("/max_per_poll", json!("5")), false),
        (set("/routines", json!([])), true),
        (set("/routines", json!({})), false),
        (with("/routines/0", "x"), false),
        (without("/routines/0", "id"), false),
        (without("/routines/0", "schedule"), false),
        (without("/routines/0", "title"), true),
        (without("/routines/0", "timezone"), true),
        (without("/routines/0", "catch_up"), true),
        (without("/routines/0", "description"), true),
        (without("/routines/0", "labels"), true),
        (set("/routines/0/id", text(0)), false),
        (set("/routines/0/id", text(512)), true),
        (set("/routines/0/id", text(513)), false),
        (set("/routines/0/schedule", text(0)), false),
        (set("/routines/0/schedule", text(1_001)), false),
        (set("/routines/0/title", text(1_000)), true),
        (set("/routines/0/title", text(1_001)), false),
        (set("/routines/0/timezone", text(0)), false),
        (set("/routines/0/catch_up", json!("yes")), false),
        (set("/routines/0/description", text(100_000)), true),
        (set("/routines/0/description", text(100_001)), false),
        (set("/routines/0/labels", json!(vec!["l"; 100])), true),
        (set("/routines/0/labels", json!(vec!["l"; 101])), false),
        (set("/routines/0/labels/0", text(1_001)), false),
        (set("/routines/0/labels/0", json!(1)), false),
    ];
    for (config, is_valid) in cases {
        let json = config.to_string();
        let shown = &json[..json.len().min(300)];
        assert_eq!(schema.is_valid(&config), is_valid, "the schema on {shown}");
        assert_eq!(Config::from_json(&json).is_ok(), is_valid, "the reader on {shown}");
    }
}
