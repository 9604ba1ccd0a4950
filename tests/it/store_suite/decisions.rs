//! What people decided: marks, pauses, requests, and what they had removed.

use windowpane::store::record::{
    Marks, PauseRecord, RequestRecord, Resume, RunFilter, SkipFilter, WorkflowId,
};
use windowpane::store::{Store, StoreError};

use super::on_every_store;
use super::sample::{minute, pause, pending, read, request, skip, with_workflows, write};

on_every_store![
    marks_are_kept,
    pauses_are_kept_and_ended,
    requests_are_kept_by_workflow_and_id,
    runs_and_skips_are_removed,
    decisions_need_their_workflow,
];

fn marks_are_kept(store: &mut dyn Store) {
    with_workflows(store);
    let marks = Marks {
        paused: Some(minute(1)),
        retired: Some(minute(2)),
        pruned_before: Some(minute(3)),
        rewound_from: Some(minute(4)),
        tz_passed: Some(minute(5)),
        requested: Some(minute(6)),
    };
    write(store, |t| t.update_marks(WorkflowId(2), &marks)).unwrap();
    assert_eq!(read(store, |t| t.workflow("alpha")).unwrap().marks, marks);
    assert_eq!(read(store, |t| t.workflow("delta")).unwrap().marks, Marks::default());
}

fn pauses_are_kept_and_ended(store: &mut dyn Store) {
    with_workflows(store);
    write(store, |t| t.put_pause(&pause())).unwrap();
    let later = PauseRecord { from: minute(8), by: None, reason: None, ..pause() };
    write(store, |t| t.put_pause(&later)).unwrap();
    let ended = PauseRecord { to: Some(minute(7)), resumed: Some(Resume::Drop), ..pause() };
    write(store, |t| t.put_pause(&ended)).unwrap();
    assert_eq!(read(store, |t| t.pauses(WorkflowId(2))), [ended, later]);
    assert_eq!(read(store, |t| t.pauses(WorkflowId(1))), []);
}

fn requests_are_kept_by_workflow_and_id(store: &mut dyn Store) {
    with_workflows(store);
    let all = [request(2, "b"), request(2, "a"), request(1, "a")];
    write(store, |t| all.iter().try_for_each(|request| t.put_request(request))).unwrap();
    assert_eq!(read(store, |t| t.request(WorkflowId(2), "a")), Some(request(2, "a")));
    assert_eq!(read(store, |t| t.request(WorkflowId(1), "b")), None);
    assert_eq!(read(store, |t| t.requests(WorkflowId(2))), [request(2, "a"), request(2, "b")]);
    let pruned = RequestRecord { pruned: vec![], ..request(2, "b") };
    write(store, |t| t.put_request(&pruned)).unwrap();
    assert_eq!(read(store, |t| t.request(WorkflowId(2), "b")), Some(pruned));
}

fn runs_and_skips_are_removed(store: &mut dyn Store) {
    with_workflows(store);
    let (first, second) = (pending("alpha", 1, "", 1), pending("alpha", 2, "", 2));
    let skips = [skip("alpha", 3, 4), skip("alpha", 3, 4), skip("delta", 3, 4)];
    write(store, |t| t.insert_runs(&[first.clone(), second.clone()])).unwrap();
    write(store, |t| t.insert_skips(&skips)).unwrap();
    write(store, |t| t.delete_runs(std::slice::from_ref(&first.key))).unwrap();
    write(store, |t| t.delete_skips(&skips[..1])).unwrap();
    assert_eq!(read(store, |t| t.runs(&RunFilter::default())), [second]);
    assert_eq!(
        read(store, |t| t.skips(&SkipFilter::default())),
        [skip("alpha", 3, 4), skip("delta", 3, 4)]
    );
    let gone = write(store, |t| t.delete_runs(std::slice::from_ref(&first.key))).unwrap_err();
    assert!(matches!(gone, StoreError::Missing { table: "run" }), "{gone}");
    let gone = write(store, |t| t.delete_skips(&[skip("alpha", 9, 9)])).unwrap_err();
    assert!(matches!(gone, StoreError::Missing { table: "skip" }), "{gone}");
}

fn decisions_need_their_workflow(store: &mut dyn Store) {
    for error in [
        write(store, |t| t.update_marks(WorkflowId(7), &Marks::default())).unwrap_err(),
        write(store, |t| t.put_pause(&pause())).unwrap_err(),
        write(store, |t| t.put_request(&request(2, "a"))).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    }
}
