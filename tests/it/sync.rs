//! A sync compares before it locks the store: what somebody else registers in between counts.

use windowpane::clock::FixedClock;
use windowpane::engine::{self, Absent, Change, Mode, SyncOptions};
use windowpane::schedule::{Reference, Schedule};
use windowpane::store::model::ModelStore;
use windowpane::store::record::WorkflowId;
use windowpane::store::{Store, StoreError, Transaction};

/// A store in which something happens right before its first writer has the lock.
struct Meanwhile<F> {
    store: ModelStore,
    work: Option<F>,
}

impl<F: FnOnce(&mut ModelStore)> Store for Meanwhile<F> {
    fn begin_write(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        if let Some(work) = self.work.take() {
            work(&mut self.store);
        }
        self.store.begin_write()
    }

    fn begin_read(&mut self) -> Result<Box<dyn Transaction + '_>, StoreError> {
        self.store.begin_read()
    }
}

/// Syncs documents; what changed of each.
fn sync(store: &mut dyn Store, documents: &[(&str, &str)]) -> Vec<&'static str> {
    let clock = FixedClock("2026-01-01T12:00:00Z".parse().unwrap());
    let options = SyncOptions { source: "default", mode: Mode::Write, absent: Absent::Keep };
    let documents: Vec<(Reference, Option<Schedule>)> = documents
        .iter()
        .map(|(name, every)| {
            let schedule = crate::schedule(&format!(r#"{{"every": "{every}"}}"#));
            (Reference::new(name).unwrap(), Some(schedule))
        })
        .collect();
    let report = engine::sync(store, &clock, &documents, &options).unwrap();
    let words = report.workflows.iter().map(|synced| match synced.change {
        Change::New => "new",
        Change::Edited { .. } => "edited",
        Change::Policies => "policies",
        Change::Unchanged => "unchanged",
        Change::Retired { .. } => "retired",
    });
    words.collect()
}

/// The present definition of each workflow, in the order of refs.
fn present(store: &mut ModelStore) -> Vec<String> {
    let mut tx = store.begin_read().unwrap();
    let ids: Vec<WorkflowId> =
        tx.workflows(None, 10).unwrap().iter().map(|workflow| workflow.id).collect();
    let wanted: Vec<_> = ids.into_iter().map(|id| (id, None)).collect();
    let revisions = tx.revisions(&wanted).unwrap();
    revisions.into_iter().map(|rows| rows.last().unwrap().schedule.clone().unwrap()).collect()
}

#[test]
fn what_was_registered_in_between_is_compared_again() {
    let store = ModelStore::default();
    sync(&mut store.clone(), &[("same", "1h"), ("other", "1h")]);
    let others = [("same", "2h"), ("other", "2h"), ("new", "2h")];
    let mut meanwhile = Meanwhile {
        store: store.clone(),
        work: Some(|store: &mut ModelStore| drop(sync(store, &others))),
    };
    // By itself the first would be unchanged and the last one new.
    let ours = [("same", "1h"), ("other", "3h"), ("new", "1h")];
    assert_eq!(sync(&mut meanwhile, &ours), ["edited", "edited", "edited"]);

    let alone = ModelStore::default();
    sync(&mut alone.clone(), &ours);
    assert_eq!(present(&mut store.clone()), present(&mut alone.clone()), "a mix of both");
}

#[test]
fn what_does_not_touch_definitions_needs_no_second_look() {
    let store = ModelStore::default();
    sync(&mut store.clone(), &[("a", "1h")]);
    let clock = FixedClock("2026-01-01T12:00:00Z".parse().unwrap());
    let mut meanwhile = Meanwhile {
        store: store.clone(),
        work: Some(|store: &mut ModelStore| {
            engine::pause(store, &clock, &|_| true, engine::Note::default()).unwrap();
        }),
    };
    assert_eq!(sync(&mut meanwhile, &[("a", "1h")]), ["unchanged"]);
    let paused = store.clone().begin_read().unwrap().workflow("a").unwrap().unwrap().marks.paused;
    assert!(paused.is_some(), "the pause was lost");
}
