//! The queue of workflows: whose turn it is, and who is due next.

use windowpane::store::Store;
use windowpane::store::record::{DueKey, Progress, Workflow};

use super::on_every_store;
use super::sample::{due_key, minute, new_workflow, read, write};

on_every_store![
    turns_come_in_order_then_by_ref,
    a_turn_that_is_not_due_is_passed_over,
    the_queue_is_paged,
    a_workflow_moves_in_the_queue,
    the_next_due_instant_is_the_earliest,
    the_next_due_instant_may_stand_behind_a_later_turn,
];

fn with_turns(store: &mut dyn Store, turns: &[(&str, DueKey)]) {
    let new: Vec<_> = turns.iter().map(|&(name, key)| new_workflow(name, Some(key))).collect();
    write(store, |t| t.insert_workflows(&new)).unwrap();
}

fn names(workflows: &[Workflow]) -> Vec<&str> {
    workflows.iter().map(|workflow| workflow.reference.as_str()).collect()
}

/// Checks which workflows have a turn at `now`.
#[track_caller]
fn check_turns(store: &mut dyn Store, now: i64, expected: &[&str]) {
    let found = read(store, |t| t.due_workflows(None, minute(now), minute(now), 10));
    assert_eq!(names(&found), expected);
}

/// Checks what is due next after `now`.
#[track_caller]
fn check_next_due(store: &mut dyn Store, now: i64, expected: Option<i64>) {
    assert_eq!(read(store, |t| t.next_due_after(minute(now))), expected.map(minute));
}

fn turns_come_in_order_then_by_ref(store: &mut dyn Store) {
    let turns = [("b", 5), ("é", 5), ("a", 6), ("C", 5), ("d", 4), ("z", 7)];
    with_turns(store, &turns.map(|(name, turn)| (name, due_key(turn, turn))));
    check_turns(store, 6, &["d", "C", "b", "é", "a"]);
    check_turns(store, 3, &[]);
}

fn a_turn_that_is_not_due_is_passed_over(store: &mut dyn Store) {
    with_turns(store, &[("ahead", due_key(5, 9)), ("behind", due_key(6, 6))]);
    let found = read(store, |t| t.due_workflows(None, minute(6), minute(6), 10));
    assert_eq!(names(&found), ["behind"]);
    let found = read(store, |t| t.due_workflows(None, minute(6), minute(9), 10));
    assert_eq!(names(&found), ["ahead", "behind"]);
}

fn the_queue_is_paged(store: &mut dyn Store) {
    let turns = [("a", 5), ("b", 5), ("c", 4), ("d", 6)];
    with_turns(store, &turns.map(|(name, turn)| (name, due_key(turn, turn))));
    let mut seen = Vec::new();
    let mut after: Option<Workflow> = None;
    loop {
        let place =
            after.as_ref().map(|last| (last.progress.due.unwrap().turn, last.reference.as_str()));
        let page = read(store, |t| t.due_workflows(place, minute(9), minute(9), 1));
        let Some(last) = page.into_iter().next() else { break };
        seen.push(last.reference.clone());
        after = Some(last);
    }
    assert_eq!(seen, ["c", "a", "b", "d"]);
}

fn a_workflow_moves_in_the_queue(store: &mut dyn Store) {
    with_turns(store, &[("a", due_key(1, 1)), ("b", due_key(2, 2))]);
    let mut move_to = |due: Option<DueKey>| {
        let before = read(store, |t| t.workflow("a")).unwrap();
        let progress = Progress { due, ..before.progress };
        write(store, |t| t.update_progress(&[(&before, progress)])).unwrap();
        let found = read(store, |t| t.due_workflows(None, minute(9), minute(9), 10));
        found.into_iter().map(|workflow| workflow.reference).collect::<Vec<_>>()
    };
    assert_eq!(move_to(Some(due_key(3, 1))), ["b", "a"]);
    assert_eq!(move_to(Some(due_key(3, 2))), ["b", "a"]);
    assert_eq!(move_to(None), ["b"]);
    assert_eq!(move_to(None), ["b"]);
    assert_eq!(move_to(Some(due_key(0, 0))), ["a", "b"]);
}

fn the_next_due_instant_is_the_earliest(store: &mut dyn Store) {
    with_turns(store, &[("a", due_key(1, 1)), ("b", due_key(7, 7)), ("c", due_key(4, 4))]);
    check_next_due(store, 0, Some(1));
    check_next_due(store, 1, Some(4));
    check_next_due(store, 6, Some(7));
    check_next_due(store, 7, None);
}

fn the_next_due_instant_may_stand_behind_a_later_turn(store: &mut dyn Store) {
    with_turns(store, &[("a", due_key(9, 3)), ("b", due_key(5, 5)), ("c", due_key(1, 8))]);
    check_next_due(store, 2, Some(3));
    check_next_due(store, 3, Some(5));
    check_next_due(store, 5, Some(8));
    check_next_due(store, 8, None);
}
