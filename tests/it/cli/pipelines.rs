//! What the README and the hooks put into pipelines and editors works as written.

use std::fs;
use std::path::Path;

use globset::Glob;
use jsonschema::validator_for;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::shell;

const README: &str = include_str!("../../../README.md");

const GOOD: &str =
    r#"{"$schema": "../workflow.schema.json", "ref": "a", "schedule": {"every": "5m"}}"#;
const BAD: &str = r#"{"ref": "a", "schedule": {"every": "7m"}}"#;

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The contents of the README's blocks in a language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let blocks = README.split("\n```").collect::<Vec<_>>();
    blocks.into_iter().filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
}

/// The README's YAML block that has `key` at its root.
#[track_caller]
fn block_with(key: &str) -> Vec<Value> {
    let blocks: Vec<Value> =
        blocks("yaml").map(yaml).filter(|block| !block[key].is_null()).collect();
    assert!(!blocks.is_empty(), "the README has no YAML block with `{key}`");
    blocks
}

/// A repository with one workflow document.
fn repository(document: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("workflows")).unwrap();
    fs::write(folder.path().join("workflows/a.json"), document).unwrap();
    folder
}

/// Runs the steps of a pipeline that are ours, and gives back the exit status and output of the
/// last.
#[track_caller]
fn run<'s>(steps: impl IntoIterator<Item = &'s str>, document: &str) -> (i32, String, TempDir) {
    let repository = repository(document);
    let is_ours = |step: &&str| step.starts_with("windowpane ");
    let steps: Vec<&str> = steps.into_iter().filter(is_ours).collect();
    let [step] = *steps else { panic!("there is no one step of ours: {steps:?}") };
    let output = shell(repository.path(), step).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), printed, repository)
}

fn texts<'v>(values: &'v Value, key: &str) -> Vec<&'v str> {
    let values = values.as_array().unwrap().iter();
    values.filter_map(|value| if key.is_empty() { value } else { &value[key] }.as_str()).collect()
}

#[test]
fn the_steps_for_github() {
    let jobs = block_with("jobs");
    let steps = |job: &'static str, nth: usize| jobs[nth]["jobs"][job]["steps"].clone();
    let annotate = steps("schedules", 0);
    let (status, printed, _) = run(texts(&annotate, "run"), BAD);
    assert_eq!(status, 1, "a fault must fail the step");
    assert!(printed.starts_with("::error file=workflows/a.json,line=1,"), "{printed}");
    assert_eq!(run(texts(&annotate, "run"), GOOD).0, 0);

    let scan = steps("schedules", 1);
    let upload = scan.as_array().unwrap().iter().find(|step| step["with"].is_object()).unwrap();
    let file = upload["with"]["sarif_file"].as_str().unwrap();
    for (document, status, results) in [(BAD, 1, 1), (GOOD, 0, 0)] {
        let (found, _, repository) = run(texts(&scan, "run"), document);
        let report = fs::read_to_string(repository.path().join(file)).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(found, status);
        assert_eq!(report["runs"][0]["results"].as_array().unwrap().len(), results);
    }
    assert_eq!(upload["if"], "always()", "what failed would not be uploaded");
}

#[test]
fn the_job_for_gitlab() {
    let job = &block_with("schedules")[0]["schedules"];
    let file = job["artifacts"]["reports"]["codequality"].as_str().unwrap();
    for (document, status, entries) in [(BAD, 1, 1), (GOOD, 0, 0)] {
        let (found, _, repository) = run(texts(&job["script"], ""), document);
        let report = fs::read_to_string(repository.path().join(file)).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(found, status);
        assert_eq!(report.as_array().unwrap().len(), entries);
    }
    assert_eq!(job["artifacts"]["when"], "always", "what failed would not be kept");
}

/// The hooks of this repository, as pre-commit reads them.
fn hooks() -> Vec<Value> {
    let hooks = yaml(include_str!("../../../.pre-commit-hooks.yaml"));
    hooks.as_array().unwrap().clone()
}

/// What pre-commit runs: the entry, the arguments, then the names of files.
fn command(hook: &Value, files: &[&str]) -> String {
    let entry = hook["entry"].as_str().unwrap();
    [&[entry], &*texts(&hook["args"], ""), files].concat().join(" ")
}

#[test]
fn the_hooks_check_the_files_that_they_are_given() {
    let languages: Vec<Value> = hooks().iter().map(|hook| hook["language"].clone()).collect();
    assert_eq!(languages, [json!("rust"), json!("system")]);
    for hook in hooks() {
        for required in ["id", "name", "entry", "files"] {
            assert!(hook[required].is_string(), "`{required}` is missing: {hook}");
        }
        let line = command(&hook, &["workflows/a.json"]);
        let check = |document: &str| {
            let repository = repository(document);
            shell(repository.path(), &line).output().unwrap()
        };
        let good = check(GOOD);
        assert_eq!(good.status.code(), Some(0));
        assert_eq!((&*good.stdout, &*good.stderr), (&b""[..], &b""[..]), "it is not quiet");
        let bad = check(BAD);
        assert_eq!(bad.status.code(), Some(1));
        assert!(String::from_utf8(bad.stdout).unwrap().contains("--> workflows/a.json:1:36"));
    }
}

#[test]
fn the_hooks_take_documents_only() {
    for hook in hooks() {
        let pattern = hook["files"].as_str().unwrap();
        // The schema of JSON Schema reads patterns as pre-commit does: anywhere in the text.
        let takes = validator_for(&json!({ "pattern": pattern })).unwrap();
        for file in
            ["workflows/a.json", "x/workflows/y/b.jsonl", "workflows.ndjson", "workflow.json"]
        {
            assert!(takes.is_valid(&json!(file)), "{file} is left out");
        }
        for file in ["package.json", "workflows/a.yaml", "myworkflows/a.json", "workflows/json"] {
            assert!(!takes.is_valid(&json!(file)), "{file} is taken");
        }
    }
}

#[test]
fn the_hook_of_the_readme_checks_the_whole_folder() {
    let repos = &block_with("repos")[0]["repos"];
    let own = &repos[0]["hooks"][0];
    let mut hook = hooks().into_iter().find(|hook| hook["id"] == own["id"]).unwrap();
    hook["args"] = own["args"].clone();
    assert_eq!(own["pass_filenames"], false);
    let repository = repository(GOOD);
    fs::write(repository.path().join("workflows/b.json"), GOOD).unwrap();
    let output = shell(repository.path(), &command(&hook, &[])).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("error[duplicate-ref]"), "{printed}");
}

#[test]
fn editors_find_the_schema_where_the_readme_puts_it() {
    let settings = blocks("json").find(|block| block.contains("json.schemas")).unwrap();
    let settings: Value = serde_json::from_str(settings).unwrap();
    let entry = &settings["json.schemas"][0];
    let matches = Glob::new(entry["fileMatch"][0].as_str().unwrap()).unwrap().compile_matcher();
    assert!(matches.is_match("workflows/a.json"));
    let words = README.split('`');
    let line = words.clone().find(|word| word.starts_with("windowpane schema workflow >")).unwrap();
    let repository = repository(GOOD);
    assert!(shell(repository.path(), line).status().unwrap().success());
    let schema = Path::new(entry["url"].as_str().unwrap());
    let text = fs::read_to_string(repository.path().join(schema)).unwrap();
    let validator = validator_for(&serde_json::from_str(&text).unwrap()).unwrap();
    let named = words.filter_map(|word| word.strip_prefix("\"$schema\": \"")).next().unwrap();
    let named = repository.path().join("workflows").join(named.trim_end_matches('"'));
    assert!(named.exists(), "documents name another file");
    assert!(validator.is_valid(&serde_json::from_str(GOOD).unwrap()));
}
