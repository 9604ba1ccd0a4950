//! Whose turn it is: kept in the lock beside the state, and only as long as a cap leaves something.

use std::collections::BTreeMap;

use crate::time::Instant;

/// When routines were last handed an item, while others had to wait. It only makes the sharing
/// fair: nothing is lost with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Turns {
    handed: BTreeMap<String, Instant>,
}

impl Turns {
    /// Reads what [`Turns::to_json`] wrote; `None` for anything else.
    pub(super) fn from_json(text: &str) -> Option<Turns> {
        let texts: BTreeMap<String, String> = serde_json::from_str(text).ok()?;
        let handed = texts.into_iter().map(|(id, text)| Some((id, text.parse().ok()?)));
        Some(Turns { handed: handed.collect::<Option<_>>()? })
    }

    /// The text to keep: nothing where there is nothing to remember.
    pub(super) fn to_json(&self) -> String {
        if self.handed.is_empty() {
            return String::new();
        }
        let texts = self.handed.iter().map(|(id, at)| (id.clone(), at.to_string().into()));
        serde_json::Value::Object(texts.collect()).to_string()
    }

    /// When a routine was last handed an item.
    pub(super) fn last_handed(&self, id: &str) -> Option<Instant> {
        self.handed.get(id).copied()
    }

    /// The turns after a poll at `now` that handed items to `served` and left others waiting. Of
    /// routines that are not among `all` nothing is kept.
    pub(super) fn after<'a>(
        &self,
        all: impl Iterator<Item = &'a str>,
        served: impl Iterator<Item = &'a str>,
        now: Instant,
    ) -> Turns {
        let kept = all.filter_map(|id| Some((id.to_owned(), self.last_handed(id)?)));
        let new = served.map(|id| (id.to_owned(), now));
        Turns { handed: kept.chain(new).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let now: Instant = "2026-01-01T00:00:00.5Z".parse().unwrap();
        let turns =
            Turns::default().after(["a", "b\"", "c"].into_iter(), ["a", "b\""].into_iter(), now);
        assert_eq!(Turns::from_json(&turns.to_json()), Some(turns.clone()));
        assert_eq!((turns.last_handed("a"), turns.last_handed("c")), (Some(now), None));
        let later = turns.after(["b\"", "c"].into_iter(), ["c"].into_iter(), Instant::MAX);
        assert_eq!(later.last_handed("a"), None, "no longer among all");
        assert_eq!(later.last_handed("b\""), Some(now));
        assert_eq!(later.last_handed("c"), Some(Instant::MAX));
        assert_eq!(Turns::default().to_json(), "");
        for text in ["", "x", "[]", r#"{"a": 1}"#, r#"{"a": "soon"}"#] {
            assert_eq!(Turns::from_json(text), None, "{text}");
        }
    }
}
