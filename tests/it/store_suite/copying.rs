//! Everything goes from one store to another, or nothing does.

use std::cell::Cell;
use std::rc::Rc;

use windowpane::engine::copy;
use windowpane::schedule::Policies;
use windowpane::store::model::ModelStore;
use windowpane::store::record::{Counts, Marks, Progress, Workflow};
use windowpane::store::{Store, StoreError};
use windowpane::time::Instant;

use crate::watched::Watched;

use super::on_every_store;
use super::sample::{
    due_key, everything, minute, new_workflow, read, with_history, workflow, write,
};

on_every_store![
    workflows_are_restored_as_they_stood,
    what_is_restored_twice_is_refused,
    everything_is_copied,
    an_empty_store_is_copied,
    more_than_a_page_is_copied,
    a_store_with_records_takes_no_copy,
    a_copy_that_fails_leaves_nothing,
];

fn standing() -> Workflow {
    Workflow {
        policies: Policies { max_attempts: 7, ..Policies::default() },
        marks: Marks {
            paused: Some(minute(1)),
            retired: Some(minute(2)),
            pruned_before: Some(minute(3)),
            rewound_from: Some(minute(4)),
            tz_passed: Some(minute(11)),
            requested: Some(minute(5)),
        },
        progress: Progress {
            cursor: Some(minute(6)),
            cursor_local_ms: Some(minute(66).as_ms()),
            last_handed: Some(minute(7)),
            last_token: 8,
            due: Some(due_key(9, 10)),
        },
        ..workflow(5, "b", None)
    }
}

fn workflows_are_restored_as_they_stood(store: &mut dyn Store) {
    write(store, |t| t.restore_workflows(&[standing()])).unwrap();
    assert_eq!(read(store, |t| t.workflow("b")), Some(standing()));
    let due = read(store, |t| t.due_workflows(None, Instant::MAX, Instant::MAX, 9));
    assert_eq!(due, [standing()]);
    assert_eq!(read(store, |t| t.counts()), Counts { workflows: 1, runs: 0 });
    let ids = write(store, |t| t.insert_workflows(&[new_workflow("a", None)])).unwrap();
    assert!(ids[0].0 > 5, "a new one gets an id of its own");
}

fn what_is_restored_twice_is_refused(store: &mut dyn Store) {
    write(store, |t| t.restore_workflows(&[standing()])).unwrap();
    for workflow in [workflow(5, "other", None), workflow(6, "b", None)] {
        let error = write(store, |t| t.restore_workflows(&[workflow])).unwrap_err();
        assert!(matches!(error, StoreError::Conflict { table: "workflow" }), "{error}");
    }
}

/// A store with something of everything.
fn with_everything() -> ModelStore {
    let mut store = ModelStore::new();
    with_history(&mut store);
    store
}

fn copy_quietly(from: &mut dyn Store, to: &mut dyn Store) -> Counts {
    copy(from, to, &mut |_, _| ()).unwrap()
}

/// There and back, so that the store under test is read as well as written.
fn everything_is_copied(store: &mut dyn Store) {
    let mut first = with_everything();
    let mut told = Vec::new();
    let counts = copy(&mut first, store, &mut |done, all| told.push((done, all))).unwrap();
    let expected = everything(&mut first).unwrap();
    assert_eq!(everything(store).unwrap(), expected);
    let all = counts.workflows + counts.runs;
    assert_eq!((told.last(), counts.workflows), (Some(&(all, all)), 4));
    let mut back = ModelStore::new();
    assert_eq!(copy_quietly(store, &mut back), counts);
    assert_eq!(everything(&mut back).unwrap(), expected);
}

fn an_empty_store_is_copied(store: &mut dyn Store) {
    assert_eq!(copy_quietly(&mut ModelStore::new(), store), Counts::default());
    assert_eq!(read(store, |t| t.info()), None);
}

fn more_than_a_page_is_copied(store: &mut dyn Store) {
    let mut first = ModelStore::new();
    let new: Vec<_> = (0..1_500).map(|number| new_workflow(&format!("w{number}"), None)).collect();
    write(&mut first, |t| t.insert_workflows(&new)).unwrap();
    let mut told = Vec::new();
    copy(&mut first, store, &mut |done, all| told.push((done, all))).unwrap();
    assert_eq!(told, [(1_000, 1_500), (1_500, 1_500)]);
    assert_eq!(everything(store).unwrap(), everything(&mut first).unwrap());
}

fn a_store_with_records_takes_no_copy(store: &mut dyn Store) {
    write(store, |t| t.insert_workflows(&[new_workflow("mine", None)])).unwrap();
    let before = everything(store).unwrap();
    let error = copy(&mut with_everything(), store, &mut |_, _| ()).unwrap_err();
    assert_eq!(error.code(), "not_empty", "{error}");
    assert_eq!(everything(store).unwrap(), before);
}

/// Reading fails at each step in turn.
fn a_copy_that_fails_leaves_nothing(store: &mut dyn Store) {
    let nothing = everything(store).unwrap();
    for failing in 0.. {
        let left = Cell::new(failing);
        let watch = move |_| match left.get() {
            0 => Err(StoreError::Busy),
            steps => {
                left.set(steps - 1);
                Ok(())
            }
        };
        let mut from = Watched { inner: Box::new(with_everything()), watch: Rc::new(watch) };
        if copy(&mut from, store, &mut |_, _| ()).is_ok() {
            assert!(failing > 5, "it makes more than {failing} steps");
            break;
        }
        assert_eq!(everything(store).unwrap(), nothing, "after a failure at step {failing}");
    }
    assert_eq!(everything(store).unwrap(), everything(&mut with_everything()).unwrap());
}
