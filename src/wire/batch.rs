//! What workers say of many runs at once: JSON Lines of `{id, token, …}`.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::store::{RunId, RunIdError};

use super::json::checked_output;
use super::plan::ClaimRow;
use super::row::Row;

/// No batch has more lines than this.
pub const BATCH_LIMIT: usize = 100_000;

/// No line is longer than this, in bytes.
const LINE_LIMIT_BYTES: u64 = 2 * 1024 * 1024;

/// One line of a batch: a run, the token of its claim, and what there is to say of it.
#[derive(Debug)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// The run.
    pub id: RunId,
    /// The token of its claim.
    pub token: i64,
    /// What else it says, by name, as JSON text.
    members: Members,
}

/// A batch cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The input fails.
    #[error("standard input cannot be read: {source}")]
    Io {
        /// Why.
        source: io::Error,
    },
    /// It is too long.
    #[error("a batch has at most {BATCH_LIMIT} lines")]
    TooLong,
    /// A line is at fault.
    #[error("line {number}: {problem}")]
    Line {
        /// Its number, from 1.
        number: usize,
        /// What is wrong with it.
        problem: String,
    },
}

impl Line {
    /// A text that the line gives as `name`.
    ///
    /// # Errors
    /// It is something other than a text.
    pub fn text(&self, name: &str) -> Result<Option<String>, BatchError> {
        self.members.read(self.number, name, "a string")
    }

    /// The output of the run, which the line gives as `output`.
    ///
    /// # Errors
    /// It is too long.
    pub fn output(&self) -> Result<Option<String>, BatchError> {
        let output = self.members.raw("output").map(|raw| checked_output(raw.get())).transpose();
        let output = output.map_err(|error| self.fault(format_args!("`output`: {error}")))?;
        Ok(output.map(str::to_owned))
    }

    /// The error that `problem` is at fault with this line.
    pub fn fault(&self, problem: impl fmt::Display) -> BatchError {
        BatchError::Line { number: self.number, problem: problem.to_string() }
    }
}

/// Reads a batch whose lines may hold `known` beside `id` and `token`. What `claim` prints may
/// stay in a line; any other name is an error, so that none is overlooked. Empty lines are none.
///
/// # Errors
/// [`BatchError`] for the first line at fault.
pub fn read_batch(mut input: impl BufRead, known: &[&str]) -> Result<Vec<Line>, BatchError> {
    let mut lines = Vec::new();
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let read = input.by_ref().take(LINE_LIMIT_BYTES).read_until(b'\n', &mut bytes);
        let length = read.map_err(|source| BatchError::Io { source })?;
        let fault = |problem: String| BatchError::Line { number, problem };
        if length as u64 == LINE_LIMIT_BYTES {
            return Err(fault(format!("it is longer than {LINE_LIMIT_BYTES} bytes")));
        }
        if length == 0 {
            break;
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if lines.len() == BATCH_LIMIT {
            return Err(BatchError::TooLong);
        }
        let members: Members = serde_json::from_slice(&bytes)
            .map_err(|error| fault(format!("it is no JSON object: {error}")))?;
        lines.push(members.into_line(number, known)?);
    }
    Ok(lines)
}

/// The members of an object in their order.
#[derive(Debug)]
struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    fn into_line(self, number: usize, known: &[&str]) -> Result<Line, BatchError> {
        let fault = |problem: String| BatchError::Line { number, problem };
        for (index, (name, _)) in self.0.iter().enumerate() {
            let is_column = ClaimRow::COLUMNS.iter().any(|column| column.name == name);
            if !is_column && !known.contains(&name.as_str()) {
                return Err(fault(format!("there is nothing to do with `{name}`")));
            }
            if self.0[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(fault(format!("`{name}` is given twice")));
            }
        }
        let missing = |name: &str| fault(format!("`{name}` is missing"));
        let id: String = self.read(number, "id", "a string")?.ok_or_else(|| missing("id"))?;
        let id = id.parse().map_err(|error: RunIdError| fault(error.to_string()))?;
        let token = self.read(number, "token", "an integer")?.ok_or_else(|| missing("token"))?;
        Ok(Line { number, id, token, members: self })
    }

    /// The member `name`, unless it is `null`.
    fn raw(&self, name: &str) -> Option<&RawValue> {
        let (_, raw) = self.0.iter().find(|(known, _)| known == name)?;
        Some(&**raw).filter(|raw| raw.get() != "null")
    }

    fn read<T: DeserializeOwned>(
        &self,
        number: usize,
        name: &str,
        kind: &str,
    ) -> Result<Option<T>, BatchError> {
        let value = self.raw(name).map(|raw| serde_json::from_str(raw.get())).transpose();
        let problem = || format!("`{name}` must be {kind}");
        value.map_err(|_| BatchError::Line { number, problem: problem() })
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<Cow<'de, str>, Box<RawValue>>()? {
            members.push((name.into_owned(), value));
        }
        Ok(Members(members))
    }
}
