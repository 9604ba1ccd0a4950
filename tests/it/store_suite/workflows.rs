//! Workflows, their revisions, and the row about the store.

use windowpane::schedule::{CatchUp, FirstRun, Overlap, Policies};
use windowpane::store::record::{ClockKind, Progress, StoreInfo, Workflow, WorkflowId};
use windowpane::store::{Store, StoreError};
use windowpane::time::Instant;

use super::on_every_store;
use super::sample::{
    due_key, minute, new_workflow, read, revision, with_workflows, workflow, write,
};

on_every_store![
    a_new_store_is_empty,
    info_is_written_and_replaced,
    workflows_get_ids_and_come_by_ref,
    workflows_are_paged,
    a_ref_is_registered_once,
    policies_are_replaced,
    progress_is_replaced,
    revisions_come_oldest_first,
    revisions_from_an_instant_on,
    a_revision_number_is_given_once,
    a_dropped_transaction_leaves_no_trace,
    a_reader_does_not_write,
    what_is_missing_is_not_changed,
    the_whole_range_of_values_is_kept,
];

fn a_new_store_is_empty(store: &mut dyn Store) {
    assert_eq!(read(store, |t| t.info()), None);
    assert_eq!(read(store, |t| t.workflow("alpha")), None);
    assert_eq!(read(store, |t| t.workflows(None, 10)), []);
    assert_eq!(read(store, |t| t.next_due_after(Instant::MIN)), None);
    assert_eq!(read(store, |t| t.next_available_after(Instant::MIN)), None);
}

fn info_is_written_and_replaced(store: &mut dyn Store) {
    let first = StoreInfo {
        clock: ClockKind::Test,
        tzdb: "2025b".to_owned(),
        definition_writes: 0,
        last_planned: None,
        set_ahead: None,
    };
    write(store, |t| t.set_info(&first)).unwrap();
    assert_eq!(read(store, |t| t.info()), Some(first));
    let second = StoreInfo {
        clock: ClockKind::System,
        tzdb: "2026f".to_owned(),
        definition_writes: 5,
        last_planned: Some(minute(3)),
        set_ahead: Some(minute(4)),
    };
    write(store, |t| t.set_info(&second)).unwrap();
    assert_eq!(read(store, |t| t.info()), Some(second));
}

fn workflows_get_ids_and_come_by_ref(store: &mut dyn Store) {
    let new = [new_workflow("b", Some(due_key(5, 4))), new_workflow("a", None)];
    let ids = write(store, |t| t.insert_workflows(&new)).unwrap();
    assert_eq!(ids, [WorkflowId(1), WorkflowId(2)]);
    let stored = [workflow(2, "a", None), workflow(1, "b", Some(due_key(5, 4)))];
    assert_eq!(read(store, |t| t.workflows(None, 10)), stored);
    assert_eq!(read(store, |t| t.workflow("a")), Some(stored[0].clone()));
}

fn workflows_are_paged(store: &mut dyn Store) {
    with_workflows(store);
    let refs = |workflows: Vec<Workflow>| -> Vec<String> {
        workflows.into_iter().map(|workflow| workflow.reference).collect()
    };
    assert_eq!(refs(read(store, |t| t.workflows(None, 3))), ["Zeta", "alpha", "delta"]);
    assert_eq!(refs(read(store, |t| t.workflows(Some("delta"), 3))), ["älpha"]);
    assert_eq!(refs(read(store, |t| t.workflows(Some("b"), 1))), ["delta"]);
    assert_eq!(refs(read(store, |t| t.workflows(Some("älpha"), 1))), [""; 0]);
}

fn a_ref_is_registered_once(store: &mut dyn Store) {
    with_workflows(store);
    let error = write(store, |t| t.insert_workflows(&[new_workflow("alpha", None)])).unwrap_err();
    assert!(matches!(error, StoreError::Conflict { table: "workflow" }), "{error}");
}

fn policies_are_replaced(store: &mut dyn Store) {
    with_workflows(store);
    let policies = Policies {
        catch_up: CatchUp::Backfill { limit: 100_000 },
        max_age_ms: Some(0),
        first_run: FirstRun::Next,
        overlap: Overlap::Wait,
        max_attempts: 100,
    };
    write(store, |t| t.update_policies(WorkflowId(2), &policies)).unwrap();
    let stored = read(store, |t| t.workflow("alpha")).unwrap();
    assert_eq!(stored, Workflow { policies, ..workflow(2, "alpha", None) });
    write(store, |t| t.update_policies(WorkflowId(2), &Policies::default())).unwrap();
    assert_eq!(read(store, |t| t.workflow("alpha")), Some(workflow(2, "alpha", None)));
}

fn progress_is_replaced(store: &mut dyn Store) {
    with_workflows(store);
    let before = workflow(2, "alpha", None);
    let progress = Progress {
        cursor: Some(minute(-5)),
        cursor_local_ms: Some(-5),
        last_handed: Some(minute(1)),
        last_token: 7,
        due: Some(due_key(2, 1)),
    };
    write(store, |t| t.update_progress(&[(&before, progress)])).unwrap();
    let stored = read(store, |t| t.workflow("alpha")).unwrap();
    assert_eq!(stored, Workflow { progress, ..before });
}

fn revisions_come_oldest_first(store: &mut dyn Store) {
    with_workflows(store);
    let rows = [revision(2, 1, None), revision(2, 2, Some(5)), revision(1, 1, None)];
    write(store, |t| t.insert_revisions(&rows)).unwrap();
    let of = [(WorkflowId(1), None), (WorkflowId(3), None), (WorkflowId(2), None)];
    let [first, second, third] = rows;
    let found = read(store, |t| t.revisions(&of));
    assert_eq!(found, [vec![third], vec![], vec![first, second]]);
}

fn revisions_from_an_instant_on(store: &mut dyn Store) {
    with_workflows(store);
    let afters = [None, Some(5), Some(5), Some(9)];
    let rows: Vec<_> =
        (1..).zip(afters).map(|(number, after)| revision(2, number, after)).collect();
    write(store, |t| t.insert_revisions(&rows)).unwrap();
    for (instant, from) in [(4, 0), (5, 2), (8, 2), (9, 3), (10, 3)] {
        let found = read(store, |t| t.revisions(&[(WorkflowId(2), Some(minute(instant)))]));
        assert_eq!(found, [rows[from..].to_vec()], "from minute {instant} on");
    }
}

fn a_revision_number_is_given_once(store: &mut dyn Store) {
    with_workflows(store);
    let row = revision(2, 1, None);
    write(store, |t| t.insert_revisions(std::slice::from_ref(&row))).unwrap();
    let error = write(store, |t| t.insert_revisions(&[row])).unwrap_err();
    assert!(matches!(error, StoreError::Conflict { table: "revision" }), "{error}");
}

fn a_dropped_transaction_leaves_no_trace(store: &mut dyn Store) {
    with_workflows(store);
    let mut transaction = store.begin_write().unwrap();
    transaction.insert_workflows(&[new_workflow("new", Some(due_key(1, 1)))]).unwrap();
    transaction.insert_revisions(&[revision(5, 1, None)]).unwrap();
    assert!(transaction.workflow("new").unwrap().is_some(), "it sees its own changes");
    drop(transaction);
    assert_eq!(read(store, |t| t.workflow("new")), None);
    assert_eq!(read(store, |t| t.next_due_after(Instant::MIN)), None);
    assert_eq!(read(store, |t| t.revisions(&[(WorkflowId(5), None)])), [vec![]]);
    let ids = write(store, |t| t.insert_workflows(&[new_workflow("new", None)])).unwrap();
    assert_eq!(ids, [WorkflowId(5)]);
}

fn a_reader_does_not_write(store: &mut dyn Store) {
    let mut transaction = store.begin_read().unwrap();
    let error = transaction.insert_workflows(&[new_workflow("new", None)]).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { table: "workflow" }), "{error}");
    transaction.commit().unwrap();
    assert_eq!(read(store, |t| t.workflow("new")), None);
}

fn what_is_missing_is_not_changed(store: &mut dyn Store) {
    let ghost = workflow(9, "ghost", None);
    let policies = Policies::default();
    let error = write(store, |t| t.update_policies(ghost.id, &policies)).unwrap_err();
    assert!(matches!(error, StoreError::Missing { table: "workflow" }), "{error}");
    let error = write(store, |t| t.update_progress(&[(&ghost, ghost.progress)])).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    let error = write(store, |t| t.insert_revisions(&[revision(9, 1, None)])).unwrap_err();
    assert!(matches!(error, StoreError::Missing { table: "workflow" }), "{error}");
}

fn the_whole_range_of_values_is_kept(store: &mut dyn Store) {
    let reference = "é@#\u{1F980}".repeat(51);
    let mut new = new_workflow(&reference, None);
    (new.registered, new.policies.max_age_ms) = (Instant::MAX, Some(i64::MAX));
    write(store, |t| t.insert_workflows(std::slice::from_ref(&new))).unwrap();
    let before = read(store, |t| t.workflow(&reference)).unwrap();
    let progress = Progress {
        cursor: Some(Instant::MIN),
        cursor_local_ms: Some(i64::MIN),
        last_handed: Some(Instant::MAX),
        last_token: i64::MAX,
        due: Some(windowpane::store::record::DueKey { turn: Instant::MIN, due: Instant::MIN }),
    };
    write(store, |t| t.update_progress(&[(&before, progress)])).unwrap();
    let due = read(store, |t| t.due_workflows(None, Instant::MAX, Instant::MAX, 1));
    assert_eq!(due, [Workflow { progress, ..before }]);
    assert_eq!((due[0].registered, &due[0].policies), (new.registered, &new.policies));
}
