//! Documents: workflow documents, project documents and JSON Lines, as texts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::fault::{Code, Fault, Faults, Part, Place};
use super::raw::{Key, Value, shown};
use super::reader::{self, Declaration};
use super::{Reference, Schedule};

/// How a text holds its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One workflow document or project document.
    Json,
    /// One workflow document a line; blank lines are passed over.
    JsonLines,
}

/// One declared workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its name, where the document gives one.
    pub reference: Option<Reference>,
    /// Whether it gives one, if only a bad one.
    pub is_named: bool,
    /// What it says about when the workflow runs; `None` where it has an error.
    pub declaration: Option<Declaration>,
    /// Where its JSON text begins: a byte offset into the whole text.
    pub text_at: usize,
    /// The RFC 6901 pointer of the workflow in its JSON text.
    pub pointer: String,
}

/// One fault, with the JSON text that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where that JSON text begins: a byte offset into the whole text.
    pub text_at: usize,
    /// For a syntax error, where it was noticed: a byte offset into the whole text.
    pub syntax_at: Option<usize>,
    /// The fault.
    pub fault: Fault,
}

/// What a text holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Documents {
    /// The workflows in the order of the text.
    pub documents: Vec<Document>,
    /// Everything that is wrong with it, or worth a look.
    pub findings: Vec<Finding>,
}

/// Reads all documents of a text, and notes all their faults.
pub fn read_documents(text: &str, form: Form) -> Documents {
    let mut documents = Documents::default();
    match form {
        Form::Json => documents.read_text(text, 0, form),
        Form::JsonLines => {
            let mut text_at = 0;
            for line in text.split_inclusive('\n') {
                if !line.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
                    documents.read_text(line.trim_end_matches(['\r', '\n']), text_at, form);
                }
                text_at += line.len();
            }
        }
    }
    documents
}

/// Reads one schedule by itself, all its faults behind it.
pub fn read_schedule(json: &str) -> (Option<Declaration>, Vec<Finding>) {
    let mut documents = Documents::default();
    let declaration = documents.parse(json, 0).and_then(|value: Value<'_>| {
        let mut faults = Faults::default();
        let declaration = reader::read(&value, &Place::ROOT, &mut faults);
        documents.note(faults, 0);
        declaration
    });
    (declaration, documents.findings)
}

/// The members of a document that are ours. All others belong to the runner and are passed over.
enum Root<'a> {
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
    /// What is there instead.
    Other(Value<'a>),
}

const OURS: [&str; 3] = ["ref", "schedule", "workflows"];

impl Documents {
    fn read_text(&mut self, text: &str, text_at: usize, form: Form) {
        let Some(root) = self.parse::<Root<'_>>(text, text_at) else { return };
        let mut faults = Faults::default();
        let members = match root {
            Root::Object(members) => members,
            Root::Other(value) => {
                let message = format!(
                    "there is no workflow here: the document is {}, not an object",
                    value.kind()
                );
                faults.value(&Place::ROOT, Code::NoWorkflow, message, None);
                return self.note(faults, text_at);
            }
        };
        let get = |key: &str| members.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        note_repeated(&members, &OURS, &Place::ROOT, &mut faults);
        match (get("workflows"), get("ref"), get("schedule")) {
            (None, None, None) => {
                let message =
                    "there is no workflow here: none of `ref`, `schedule` and `workflows`"
                        .to_owned();
                faults.value(&Place::ROOT, Code::NoWorkflow, message, None);
            }
            (None, reference, schedule) => {
                self.read_workflow(reference, schedule, text_at, &Place::ROOT, &mut faults);
            }
            (Some(_), None, None) if form == Form::JsonLines => {
                let message = "a line holds one workflow document, not a project".to_owned();
                let hint = "write {\"ref\": …, \"schedule\": …} on a line of its own".to_owned();
                faults.key(&Place::ROOT.key("workflows"), Code::OneOf, message, hint);
            }
            (Some(workflows), None, None) => self.read_project(workflows, text_at, &mut faults),
            (Some(_), ..) => {
                let message =
                    "a document declares one workflow or `workflows`, not both".to_owned();
                let hint = "move the workflow into `workflows`".to_owned();
                faults.key(&Place::ROOT.key("workflows"), Code::OneOf, message, hint);
            }
        }
        self.note(faults, text_at);
    }

    fn read_project(&mut self, workflows: &Value<'_>, text_at: usize, faults: &mut Faults) {
        let place = Place::ROOT.key("workflows");
        let Value::Object(entries) = workflows else {
            let message =
                format!("`workflows` is an object of workflows by ref, not {}", workflows.kind());
            faults.value(&place, Code::WrongType, message, None);
            return;
        };
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (key, entry) in entries {
            let count = seen.entry(key).or_default();
            let place = place.key_again(key, *count);
            *count += 1;
            if *count > 1 {
                let message = format!("`{}` is declared twice", shown(key));
                faults.key(&place, Code::DuplicateRef, message, "keep one of them".to_owned());
            }
            let errors = faults.errors();
            let Some(reference) = read_reference(key, &place, Part::Key, faults) else { continue };
            let Value::Object(members) = entry else {
                let message =
                    format!("a workflow is an object with a `schedule`, not {}", entry.kind());
                faults.value(&place, Code::WrongType, message, None);
                continue;
            };
            let get =
                |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| value);
            note_repeated(members, &["ref", "schedule"], &place, faults);
            match get("ref") {
                Some(Value::String(inner)) if inner == key => {}
                Some(other) => {
                    let message =
                        format!("the inner `ref` {other} differs from the key `{}`", shown(key));
                    faults.value(
                        &place.key("ref"),
                        Code::BadRef,
                        message,
                        "leave it out".to_owned(),
                    );
                }
                None => {}
            }
            let declaration = read_declaration(get("schedule"), &place, faults);
            self.documents.push(Document {
                reference: Some(reference),
                is_named: true,
                declaration: declaration.filter(|_| faults.errors() == errors),
                text_at,
                pointer: place.pointer(),
            });
        }
    }

    fn read_workflow(
        &mut self,
        reference: Option<&Value<'_>>,
        schedule: Option<&Value<'_>>,
        text_at: usize,
        place: &Place<'_>,
        faults: &mut Faults,
    ) {
        let errors = faults.errors();
        let is_named = reference.is_some();
        let reference = reference.and_then(|value| {
            let place = place.key("ref");
            let Value::String(name) = value else {
                faults.value(
                    &place,
                    Code::BadRef,
                    format!("a ref is a string, not {}", value.kind()),
                    None,
                );
                return None;
            };
            read_reference(name, &place, Part::Value, faults)
        });
        let declaration = read_declaration(schedule, place, faults);
        self.documents.push(Document {
            reference,
            is_named,
            declaration: declaration.filter(|_| faults.errors() == errors),
            text_at,
            pointer: place.pointer(),
        });
    }

    /// Parses one JSON text, or notes why it cannot be.
    fn parse<'t, T: Deserialize<'t>>(&mut self, text: &'t str, text_at: usize) -> Option<T> {
        if text.starts_with('\u{feff}') {
            let message = "the text begins with a byte order mark".to_owned();
            let hint = "save it as UTF-8 without one".to_owned();
            self.syntax(text_at, text_at, message, Some(hint));
            return None;
        }
        match serde_json::from_str(text) {
            Ok(value) => Some(value),
            Err(error) => {
                let offset = offset_of(text, error.line(), error.column());
                let full = error.to_string();
                let message = full.split(" at line ").next().unwrap_or(&full).to_owned();
                self.syntax(text_at, text_at + offset, message, syntax_hint(text, offset, &full));
                None
            }
        }
    }

    fn syntax(&mut self, text_at: usize, syntax_at: usize, message: String, hint: Option<String>) {
        let fault = Fault {
            code: Code::Syntax,
            pointer: String::new(),
            repeats: Vec::new(),
            part: Part::Value,
            message,
            hint,
        };
        self.findings.push(Finding { text_at, syntax_at: Some(syntax_at), fault });
    }

    fn note(&mut self, faults: Faults, text_at: usize) {
        self.findings.extend(faults.found.into_iter().map(|fault| Finding {
            text_at,
            syntax_at: None,
            fault,
        }));
    }
}

/// Notes those of some keys that stand in an object a second time.
fn note_repeated(
    members: &[(Cow<'_, str>, Value<'_>)],
    keys: &[&str],
    place: &Place<'_>,
    faults: &mut Faults,
) {
    for key in keys {
        let count = members.iter().filter(|(member, _)| member == key).count();
        for earlier in 1..count {
            let message = format!("the key `{key}` is given twice");
            let hint = "keep one of them".to_owned();
            faults.key(&place.key_again(key, earlier), Code::DuplicateKey, message, hint);
        }
    }
}

fn read_declaration(
    schedule: Option<&Value<'_>>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<Declaration> {
    let Some(schedule) = schedule else {
        let message = "a workflow needs a `schedule`".to_owned();
        let hint = "write \"schedule\": false for one that is never due".to_owned();
        faults.value(place, Code::MissingKey, message, hint);
        return None;
    };
    reader::read(schedule, &place.key("schedule"), faults)
}

fn read_reference(
    name: &str,
    place: &Place<'_>,
    part: Part,
    faults: &mut Faults,
) -> Option<Reference> {
    Reference::new(name)
        .map_err(|error| {
            let message = format!("`{}` is not a ref: {error}", shown(name));
            match part {
                Part::Key => faults.key(place, Code::BadRef, message, None),
                Part::Value => faults.value(place, Code::BadRef, message, None),
            }
        })
        .ok()
}

/// The byte offset of a line and a column in bytes, both counted from 1.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let line_at: usize =
        text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut offset = (line_at + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn syntax_hint(text: &str, offset: usize, message: &str) -> Option<String> {
    let rest = &text[offset..];
    let hint = if message.starts_with("trailing comma") {
        "remove the comma"
    } else if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
        "JSON has no comments"
    } else if rest.starts_with('\'') {
        "JSON strings stand in double quotes"
    } else if message.starts_with("recursion limit") {
        "nest at most 127 levels deep"
    } else if message.starts_with("trailing characters") {
        "keep one value, or name the file .jsonl with one document a line"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

impl<'de: 'a, 'a> Deserialize<'de> for Root<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Root<'a>, D::Error> {
        deserializer.deserialize_any(RootVisitor)
    }
}

struct RootVisitor;

impl<'de> Visitor<'de> for RootVisitor {
    type Value = Root<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `ref` and `schedule`, or with `workflows`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Root<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(key)) = entries.next_key()? {
            if OURS.contains(&key.as_ref()) {
                members.push((key, entries.next_value()?));
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Root::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Root<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Root::Other(Value::Array(Vec::new())))
    }

    fn visit_unit<E>(self) -> Result<Root<'de>, E> {
        Ok(Root::Other(Value::Null))
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Root<'de>, E> {
        Ok(Root::Other(Value::Bool(bool)))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Root<'de>, E> {
        Ok(Root::Other(Value::Integer(i128::from(integer))))
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Root<'de>, E> {
        Ok(Root::Other(Value::Integer(i128::from(integer))))
    }

    fn visit_f64<E>(self, float: f64) -> Result<Root<'de>, E> {
        Ok(Root::Other(Value::Float(float)))
    }

    fn visit_str<E>(self, _: &str) -> Result<Root<'de>, E> {
        Ok(Root::Other(Value::String(Cow::Borrowed(""))))
    }
}

/// A text is not a schedule: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.findings.iter().map(|finding| finding.fault.message.as_str()).collect::<Vec<_>>().join("; "))]
pub struct ScheduleError {
    /// What was found, warnings too.
    pub findings: Vec<Finding>,
}

impl Schedule {
    /// Reads a schedule from its JSON text.
    ///
    /// ```
    /// use windowpane::schedule::Schedule;
    ///
    /// let schedule = Schedule::from_json(r#"{"every": "5m", "delay": "30s"}"#)?;
    /// assert_eq!(schedule.definition.delay_ms(), 30_000);
    /// let error = Schedule::from_json(r#"{"every": "7m"}"#).unwrap_err();
    /// assert_eq!(error.findings[0].fault.pointer, "/every");
    /// # Ok::<(), windowpane::schedule::ScheduleError>(())
    /// ```
    ///
    /// # Errors
    /// [`ScheduleError`] holds every fault. `false`, which declares no schedule, is an error here.
    pub fn from_json(json: &str) -> Result<Schedule, ScheduleError> {
        let (declaration, findings) = read_schedule(json);
        declaration.and_then(Declaration::into_schedule).ok_or(ScheduleError { findings })
    }
}
