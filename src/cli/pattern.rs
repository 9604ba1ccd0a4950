//! Patterns of refs, as `--ref` takes them.

use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};

use crate::engine::EngineError;
use crate::store::Transaction;

/// The characters that make a pattern more than a name.
const META: [char; 5] = ['*', '?', '[', '{', '\\'];

/// A ref, or a glob over refs: `*` matches any characters, `/` included, `?` one, `[ab]` one of
/// some, `{a,b}` one of several, and `\` takes the next character as it is.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    /// One ref.
    Exact(String),
    /// Every ref that matches.
    Glob(GlobMatcher),
}

impl Pattern {
    /// The pattern as a store knows it. Where a workflow has it for its name, it is that name: a
    /// ref may hold any character that a glob gives a meaning. A name that no workflow has is
    /// refused, since nothing would ever match.
    pub(super) fn known(self, transaction: &mut dyn Transaction) -> Result<Pattern, EngineError> {
        let text = match &self {
            Pattern::Exact(name) => name,
            Pattern::Glob(glob) => glob.glob().glob(),
        };
        match (transaction.workflow(text)?, self) {
            (Some(workflow), _) => Ok(Pattern::Exact(workflow.reference)),
            (None, Pattern::Exact(reference)) => Err(EngineError::UnknownWorkflow { reference }),
            (None, glob) => Ok(glob),
        }
    }

    /// The same of a pattern that may be absent.
    pub(super) fn known_if_any(
        pattern: Option<Pattern>,
        transaction: &mut dyn Transaction,
    ) -> Result<Option<Pattern>, EngineError> {
        pattern.map(|pattern| pattern.known(transaction)).transpose()
    }

    /// Whether a ref is meant.
    pub(super) fn matches(&self, reference: &str) -> bool {
        match self {
            Pattern::Exact(name) => name == reference,
            Pattern::Glob(glob) => glob.is_match(reference),
        }
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        if !text.contains(META) {
            return Ok(Pattern::Exact(text.to_owned()));
        }
        let glob = GlobBuilder::new(text).literal_separator(false).backslash_escape(true).build();
        match glob {
            Ok(glob) => Ok(Pattern::Glob(glob.compile_matcher())),
            Err(error) => Err(error.kind().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[track_caller]
    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let parsed: Pattern = pattern.parse().unwrap();
        for reference in yes {
            assert!(parsed.matches(reference), "`{pattern}` should match `{reference}`");
        }
        for reference in no {
            assert!(!parsed.matches(reference), "`{pattern}` should not match `{reference}`");
        }
    }

    #[test]
    fn patterns() {
        check("slo", &["slo"], &["slo/a", "SLO", ""]);
        check("team/*", &["team/a", "team/a/b", "team/"], &["team", "a/team/b"]);
        check("*/hourly", &["a/b/hourly", "/hourly"], &["hourly", "a/hourly/b"]);
        check("*", &["a", "a/b", ".", "a."], &[]);
        check("tenant-{1,2}/?", &["tenant-1/a", "tenant-2/b"], &["tenant-3/a", "tenant-1/ab"]);
        check(r"a\*b", &["a*b"], &["axb"]);
        check("监控/*", &["监控/可用性"], &["监控"]);
        assert!("[".parse::<Pattern>().is_err());
    }
}
