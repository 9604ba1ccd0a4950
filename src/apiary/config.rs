//! The config of the routines, checked.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::schedule::{CatchUp, FirstRun, Policies, Reference, Schedule, Severity};

/// How many items one poll emits where the config does not say.
pub(super) const MAX_PER_POLL_DEFAULT: u32 = 5;
/// The most that a config may ask for.
pub(super) const MAX_PER_POLL_LIMIT: u32 = 10_000;
/// The most routines of one config.
pub(super) const ROUTINES_LIMIT: usize = 10_000;
/// The most labels of one routine.
pub(super) const LABELS_LIMIT: usize = 100;
/// The longest title, label, schedule or path, in characters.
pub(super) const LINE_LIMIT_CHARS: usize = 1_000;
/// The longest description, in characters.
pub(super) const DESCRIPTION_LIMIT_CHARS: usize = 100_000;

/// A checked config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Where the state is kept.
    pub state_file: PathBuf,
    /// How many items one poll emits at most, all routines together: 1 to 10,000.
    pub max_per_poll: u32,
    /// The routines, each with an id of its own.
    pub routines: Vec<Routine>,
}

/// One routine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routine {
    /// Its name, the identity of what it has emitted.
    pub id: Reference,
    /// Its cron expression as it was given.
    pub cron: String,
    /// The name of its time zone.
    pub timezone: String,
    /// The title of its items.
    pub title: String,
    /// What its items say.
    pub description: Option<String>,
    /// What its items are labelled with, beside the routine.
    pub labels: Vec<String>,
    /// What becomes of occurrences that were missed.
    pub missed: Missed,
    /// The schedule under the fixed rule of routines.
    pub schedule: Schedule,
}

/// What becomes of occurrences that were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// Only the newest is emitted.
    Newest,
    /// All are emitted, oldest first.
    Drain,
}

/// Why a config cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is none.
    #[error("there is no config")]
    Missing,
    /// It has another form.
    #[error("the config cannot be read: {0}")]
    Form(serde_json::Error),
    /// A value of it is out of bounds.
    #[error("{0}")]
    Bounds(String),
    /// A routine has another form.
    #[error("routine {position}{name}: {source}", name = named(id.as_deref()))]
    RoutineForm {
        /// Counted from 1.
        position: usize,
        /// Its id, where it can be read.
        id: Option<String>,
        /// Why.
        source: serde_json::Error,
    },
    /// A routine cannot be used.
    #[error("routine {position} (`{id}`): {problem}")]
    Routine {
        /// Counted from 1.
        position: usize,
        /// Its id as it was given.
        id: String,
        /// Why.
        problem: String,
    },
}

fn named(id: Option<&str>) -> String {
    id.map_or_else(String::new, |id| format!(" (`{id}`)"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConfig<'a> {
    state_file: PathBuf,
    #[serde(default = "max_per_poll_default")]
    max_per_poll: u32,
    #[serde(borrow)]
    routines: Vec<&'a RawValue>,
}

fn max_per_poll_default() -> u32 {
    MAX_PER_POLL_DEFAULT
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRoutine {
    id: String,
    schedule: String,
    title: Option<String>,
    #[serde(default = "timezone_default")]
    timezone: String,
    #[serde(default)]
    catch_up: bool,
    description: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
}

fn timezone_default() -> String {
    "UTC".to_owned()
}

/// Only the id, to name a routine whose form is wrong.
#[derive(Deserialize)]
struct JustId {
    id: String,
}

impl Config {
    /// Reads and checks a config.
    ///
    /// # Errors
    /// [`ConfigError`] with the first thing that is wrong with it; one invalid routine is enough.
    pub fn from_json(json: &str) -> Result<Config, ConfigError> {
        let raw: RawConfig<'_> = object(json).map_err(ConfigError::Form)?;
        let bounds = |problem: &str| Err(ConfigError::Bounds(problem.to_owned()));
        match raw.state_file.to_string_lossy().chars().count() {
            0 => return bounds("`state_file` is empty"),
            1..=LINE_LIMIT_CHARS => {}
            _ => {
                let problem = format!("`state_file` is longer than {LINE_LIMIT_CHARS} characters");
                return bounds(&problem);
            }
        }
        if !(1..=MAX_PER_POLL_LIMIT).contains(&raw.max_per_poll) {
            return bounds(&format!(
                "`max_per_poll` is {}, and may be 1 to {MAX_PER_POLL_LIMIT}",
                raw.max_per_poll
            ));
        }
        if raw.routines.len() > ROUTINES_LIMIT {
            return bounds(&format!("there are more than {ROUTINES_LIMIT} routines"));
        }
        let mut seen = HashSet::new();
        let mut routines = Vec::with_capacity(raw.routines.len());
        for (json, position) in raw.routines.iter().zip(1..) {
            let routine = read_routine(json, position)?;
            if !seen.insert(routine.id.clone()) {
                let (id, problem) = (routine.id.to_string(), "the id is given twice".to_owned());
                return Err(ConfigError::Routine { position, id, problem });
            }
            routines.push(routine);
        }
        Ok(Config { state_file: raw.state_file, max_per_poll: raw.max_per_poll, routines })
    }
}

/// Reads an object. (An array would be taken for its fields in their order.)
fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, serde_json::Error> {
    if json.trim_ascii_start().starts_with('[') {
        return Err(serde::de::Error::custom("an array where an object is meant"));
    }
    serde_json::from_str(json)
}

fn read_routine(json: &RawValue, position: usize) -> Result<Routine, ConfigError> {
    let raw: RawRoutine = object(json.get()).map_err(|source| {
        let id = serde_json::from_str::<JustId>(json.get()).ok().map(|just| just.id);
        ConfigError::RoutineForm { position, id, source }
    })?;
    let id = raw.id.clone();
    check(raw).map_err(|problem| ConfigError::Routine { position, id, problem })
}

fn check(raw: RawRoutine) -> Result<Routine, String> {
    let id = Reference::new(&raw.id).map_err(|error| error.to_string())?;
    refuse_long("schedule", &raw.schedule, LINE_LIMIT_CHARS)?;
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let (title, description) = (filled(raw.title), filled(raw.description));
    refuse_long("title", title.as_deref().unwrap_or(""), LINE_LIMIT_CHARS)?;
    refuse_long("description", description.as_deref().unwrap_or(""), DESCRIPTION_LIMIT_CHARS)?;
    if raw.labels.len() > LABELS_LIMIT {
        return Err(format!("it has more than {LABELS_LIMIT} labels"));
    }
    raw.labels.iter().try_for_each(|label| refuse_long("label", label, LINE_LIMIT_CHARS))?;
    Ok(Routine {
        schedule: fixed_rule(&raw.schedule, &raw.timezone)?,
        title: title.unwrap_or_else(|| id.to_string()),
        id,
        cron: raw.schedule,
        timezone: raw.timezone,
        description,
        labels: raw.labels,
        missed: if raw.catch_up { Missed::Drain } else { Missed::Newest },
    })
}

fn refuse_long(what: &str, text: &str, limit_chars: usize) -> Result<(), String> {
    if text.chars().count() <= limit_chars {
        return Ok(());
    }
    Err(format!("its {what} is longer than {limit_chars} characters"))
}

/// The schedule that a routine is.
fn fixed_rule(cron: &str, timezone: &str) -> Result<Schedule, String> {
    let json = json!({
        "every": { "cron": cron },
        "timezone": timezone,
        "dst": { "gap": "next", "fold": "both" },
        "first_run": "next",
    });
    Schedule::from_json(&json.to_string()).map_err(|error| {
        let faults = error.faults.iter();
        let told = faults.filter(|fault| fault.severity() == Severity::Error).map(|fault| {
            match &fault.hint {
                Some(hint) => format!("{}; {hint}", fault.message),
                None => fault.message.clone(),
            }
        });
        told.collect::<Vec<_>>().join(", and ")
    })
}

impl Routine {
    /// Its policies as a workflow of a store, which keeps at most so many missed occurrences as a
    /// schedule may ask for.
    pub fn policies(&self) -> Policies {
        let catch_up = match self.missed {
            Missed::Newest => CatchUp::Latest,
            Missed::Drain => CatchUp::Backfill { limit: Policies::BACKFILL_LIMIT },
        };
        Policies { catch_up, first_run: FirstRun::Next, ..self.schedule.policies }
    }
}
