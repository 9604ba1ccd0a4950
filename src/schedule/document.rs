//! Documents as texts: workflow documents, project documents, and lines of JSON Lines.

mod ours;
mod syntax;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::time::Instant;

use super::code::Code;
use super::fault::{Fault, Faults, Part, Place, nearest};
use super::raw::{Value, shown};
use super::reader::{self, Declaration};
use super::{Reference, Schedule};
use ours::Ours;

/// What a text may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A workflow document or a project document.
    Json,
    /// A line of JSON Lines: a workflow document.
    Line,
}

/// One workflow of a text, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its name, where the document gives one that is a ref.
    pub reference: Option<Reference>,
    /// What it says about when the workflow runs; `None` where it has an error.
    pub declaration: Option<Declaration>,
    /// The RFC 6901 pointer of the workflow in its text, `""` for the text as a whole.
    pub pointer: String,
    /// Everything that is wrong with it, or worth a look.
    pub faults: Vec<Fault>,
}

/// What a text holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Documents {
    /// Its workflows, in the order of the text.
    pub documents: Vec<Document>,
    /// What is wrong with the text as a whole: it is no JSON, or declares no workflow.
    pub faults: Vec<Fault>,
}

impl Documents {
    /// Whether there is nothing to tell.
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.documents.iter().all(|document| document.faults.is_empty())
    }
}

/// Reads all workflows of a text, and notes all their faults. With `today`, what is worth knowing
/// about the next two years is noted too.
pub fn read_documents(text: &str, form: Form, today: Option<Instant>) -> Documents {
    let mut reader = Reader { faults: Faults::new(today), documents: Documents::default() };
    match syntax::parse::<Ours<'_>>(text) {
        Ok(Ours(root)) => reader.read_root(&root, form),
        Err(fault) => reader.documents.faults.push(fault),
    }
    let Reader { faults, mut documents } = reader;
    documents.faults.extend(faults.closing(text.len()));
    documents
}

/// Reads one schedule by itself, `Document::pointer` and the pointers of its faults being those
/// of the schedule.
pub fn read_schedule(json: &str, today: Option<Instant>) -> Document {
    let mut faults = Faults::new(today);
    let (declaration, found) = match syntax::parse::<Value<'_>>(json) {
        Ok(value) => {
            let declaration = reader::read(&value, &Place::ROOT, &mut faults);
            let mut found = faults.take();
            found.extend(faults.closing(json.len()));
            (declaration, found)
        }
        Err(fault) => (None, vec![fault]),
    };
    Document { reference: None, declaration, pointer: String::new(), faults: found }
}

struct Reader {
    faults: Faults,
    documents: Documents,
}

/// The members of an object by name. Those of the runner have no value here.
type Members<'v> = [(Cow<'v, str>, Value<'v>)];

impl Reader {
    fn read_root(&mut self, root: &Value<'_>, form: Form) {
        let place = Place::ROOT;
        let members: &Members<'_> = match root {
            Value::Object(members) => members,
            _ => &[],
        };
        for key in ours::KEYS {
            note_repeats(members, key, &place, &mut self.faults);
        }
        let [reference, schedule, workflows] = ours::KEYS.map(|key| get(members, key));
        match (workflows, reference.or(schedule)) {
            (None, None) => self.read_foreign(root, members),
            (None, Some(_)) => self.read_workflow(reference, schedule, members),
            (Some(_), Some(_)) => {
                let message = "a document declares one workflow or `workflows`, not both";
                let hint = "move the workflow into `workflows`".to_owned();
                let place = place.key("workflows");
                self.faults.key(&place, Code::OneOf, message.to_owned(), hint);
                self.documents.faults = self.faults.take();
            }
            (Some(_), None) if form == Form::Line => {
                let message = "a line holds one workflow document, not a project".to_owned();
                let hint = "write {\"ref\": …, \"schedule\": …} on a line of its own".to_owned();
                self.faults.key(&place.key("workflows"), Code::OneOf, message, hint);
                self.documents.faults = self.faults.take();
            }
            (Some(workflows), None) => {
                self.documents.faults = self.faults.take();
                self.read_project(workflows);
            }
        }
    }

    /// A text that declares nothing.
    fn read_foreign(&mut self, root: &Value<'_>, members: &Members<'_>) {
        let message = match root {
            Value::Object(_) => "there is none of `ref`, `schedule` and `workflows`".to_owned(),
            other => format!("a document is an object, not {}", other.kind()),
        };
        let hint = near_miss(members, &ours::KEYS)
            .unwrap_or_else(|| "write {\"ref\": …, \"schedule\": …}".to_owned());
        self.faults.value(&Place::ROOT, Code::NoWorkflow, message, hint);
        self.documents.faults = self.faults.take();
    }

    fn read_workflow(
        &mut self,
        reference: Option<&Value<'_>>,
        schedule: Option<&Value<'_>>,
        members: &Members<'_>,
    ) {
        let (place, faults) = (Place::ROOT, &mut self.faults);
        let reference = reference.and_then(|value| {
            let place = place.key("ref");
            let Value::String(name) = value else {
                let message = format!("a ref is a string, not {}", value.kind());
                faults.value(&place, Code::BadRef, message, None);
                return None;
            };
            read_reference(name, &place, Part::Value, faults)
        });
        let declaration = read_declaration(schedule, members, &place, faults);
        self.push(reference, declaration, &place);
    }

    fn read_project(&mut self, workflows: &Value<'_>) {
        let place = Place::ROOT.key("workflows");
        let Value::Object(entries) = workflows else {
            let message = format!("`workflows` is an object by ref, not {}", workflows.kind());
            let hint = "write {\"workflows\": {\"<ref>\": {\"schedule\": …}}}".to_owned();
            self.faults.value(&place, Code::WrongType, message, hint);
            self.documents.faults.extend(self.faults.take());
            return;
        };
        if entries.len() > ours::WORKFLOWS_AT_MOST {
            let most = ours::WORKFLOWS_AT_MOST;
            let message = format!("a project holds at most {most} workflows");
            let hint = "write JSON Lines, a workflow document on each line".to_owned();
            self.faults.key(&place, Code::TooLarge, message, hint);
            self.documents.faults.extend(self.faults.take());
        }
        let entries = &entries[..entries.len().min(ours::WORKFLOWS_AT_MOST)];
        let mut seen = HashSet::with_capacity(entries.len());
        let mut repeats = HashMap::new();
        for (key, entry) in entries {
            let (place, faults) = (place.key(key), &mut self.faults);
            if !seen.insert(key) {
                let nth: &mut usize = repeats.entry(key).or_default();
                *nth += 1;
                let message = format!("`{}` is declared twice", shown(key));
                let hint = Some("rename one of them".to_owned());
                faults.note(&place, Part::Repeat { nth: *nth }, Code::DuplicateRef, message, hint);
                // A pointer names the first of them, so nothing inside this one can be told.
                self.push(None, None, &place);
                continue;
            }
            let reference = read_reference(key, &place, Part::Key, faults);
            let declaration = read_entry(key, entry, &place, faults);
            self.push(reference, declaration, &place);
        }
    }

    fn push(
        &mut self,
        reference: Option<Reference>,
        declaration: Option<Declaration>,
        place: &Place<'_>,
    ) {
        let declaration = declaration.filter(|_| self.faults.errors() == 0);
        let faults = self.faults.take();
        let pointer = place.pointer();
        self.documents.documents.push(Document { reference, declaration, pointer, faults });
    }
}

/// One workflow of a project document.
fn read_entry(
    key: &str,
    entry: &Value<'_>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<Declaration> {
    let Value::Object(members) = entry else {
        let message = format!("a workflow is an object with a `schedule`, not {}", entry.kind());
        let hint = "write {\"schedule\": …}".to_owned();
        faults.value(place, Code::WrongType, message, hint);
        return None;
    };
    for name in ["ref", "schedule"] {
        note_repeats(members, name, place, faults);
    }
    match get(members, "ref") {
        Some(Value::String(inner)) if inner == key => {}
        Some(other) => {
            let message =
                format!("the inner `ref` `{other}` differs from the key `{}`", shown(key));
            let hint = "leave it out".to_owned();
            faults.value(&place.key("ref"), Code::RefMismatch, message, hint);
        }
        None => {}
    }
    read_declaration(get(members, "schedule"), members, place, faults)
}

fn read_declaration(
    schedule: Option<&Value<'_>>,
    members: &Members<'_>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<Declaration> {
    let Some(schedule) = schedule else {
        let message = "a workflow needs a `schedule`".to_owned();
        let hint = near_miss(members, &["schedule"]).unwrap_or_else(|| {
            "write \"schedule\": false for a workflow that is never due".to_owned()
        });
        faults.key(place, Code::MissingKey, message, hint);
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
            faults.note(place, part, Code::BadRef, message, None);
        })
        .ok()
}

/// The first member of that name. Those that follow it are faults, and nothing reads them.
fn get<'v>(members: &'v Members<'v>, key: &str) -> Option<&'v Value<'v>> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn note_repeats(members: &Members<'_>, key: &str, place: &Place<'_>, faults: &mut Faults) {
    for nth in 1..members.iter().filter(|(name, _)| name == key).count() {
        faults.repeat(place, key, nth);
    }
}

/// A hint where a key of the runner looks like one of `wanted`.
fn near_miss(members: &Members<'_>, wanted: &[&str]) -> Option<String> {
    members.iter().filter(|(key, _)| !ours::KEYS.contains(&key.as_ref())).find_map(|(key, _)| {
        let near = nearest(key, wanted.iter().copied())?;
        Some(format!("did you mean `{near}`, where `{}` stands?", shown(key)))
    })
}

/// A text is not a schedule: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>().join("; "))]
pub struct ScheduleError {
    /// What was found, warnings too.
    pub faults: Vec<Fault>,
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
    /// assert_eq!(error.faults[0].pointer, "/every");
    /// # Ok::<(), windowpane::schedule::ScheduleError>(())
    /// ```
    ///
    /// # Errors
    /// [`ScheduleError`] holds every fault. `false`, which declares no schedule, is an error here.
    pub fn from_json(json: &str) -> Result<Schedule, ScheduleError> {
        let Document { declaration, faults, .. } = read_schedule(json, None);
        declaration.and_then(Declaration::into_schedule).ok_or(ScheduleError { faults })
    }
}
