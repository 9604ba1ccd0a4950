//! Run ids: `<ref>@<occurrence>`, and `#<request id>` behind it for a requested run.

use std::fmt;
use std::str::FromStr;

use crate::time::{Instant, InstantError};

/// The name of a run. It is computed from its parts and split at the right, so a ref may hold
/// `@` and `#` itself.
///
/// ```
/// use windowpane::store::RunId;
///
/// let id: RunId = "team@prod#7@2026-01-01T12:05:00Z".parse()?;
/// assert_eq!(id.reference, "team@prod#7");
/// assert_eq!(id.to_string(), "team@prod#7@2026-01-01T12:05:00Z");
/// # Ok::<(), windowpane::store::RunIdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId {
    /// The name of the workflow.
    pub reference: String,
    /// The occurrence.
    pub occurrence: Instant,
    /// Empty for scheduled runs.
    pub request_id: String,
}

/// A text is not a run id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunIdError {
    /// There is no `@`.
    #[error("`{text}` is not a run id: expected <ref>@<occurrence>")]
    Form {
        /// The text as given.
        text: String,
    },
    /// What stands behind the `@` is not an occurrence.
    #[error("`{text}` is not a run id: {source}")]
    Occurrence {
        /// The text as given.
        text: String,
        /// Why.
        source: InstantError,
    },
}

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<RunId, RunIdError> {
        let form = || RunIdError::Form { text: text.to_owned() };
        let (reference, rest) = text.rsplit_once('@').ok_or_else(form)?;
        let (occurrence, request_id) = rest.split_once('#').unwrap_or((rest, ""));
        if reference.is_empty() || (rest.contains('#') && request_id.is_empty()) {
            return Err(form());
        }
        let occurrence = occurrence
            .parse()
            .map_err(|source| RunIdError::Occurrence { text: text.to_owned(), source })?;
        Ok(RunId { reference: reference.to_owned(), occurrence, request_id: request_id.to_owned() })
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.reference, self.occurrence)?;
        if !self.request_id.is_empty() {
            write!(f, "#{}", self.request_id)?;
        }
        Ok(())
    }
}
