//! Skip records.

use windowpane::store::record::{SkipFilter, SkipRecord, WorkflowId};
use windowpane::store::{Store, StoreError};
use windowpane::time::Instant;

use super::on_every_store;
use super::sample::{minute, read, skip, with_workflows, write};

on_every_store![
    skips_are_listed_in_order,
    skips_are_filtered,
    skips_need_their_workflow,
    the_widest_skip_is_kept,
];

/// Each skip as `<ref> <first minute>-<last minute>`.
fn spans(skips: &[SkipRecord]) -> Vec<String> {
    let minutes = |instant: Instant| instant.ms_since(minute(0)) / 60_000;
    let span = |skip: &SkipRecord| {
        format!("{} {}-{}", skip.reference, minutes(skip.first), minutes(skip.last))
    };
    skips.iter().map(span).collect()
}

fn with_skips(store: &mut dyn Store) {
    with_workflows(store);
    let skips = [
        skip("delta", 5, 10),
        skip("alpha", 5, 5),
        skip("alpha", 5, 7),
        skip("Zeta", 0, 30),
        skip("alpha", 20, 25),
    ];
    write(store, |t| t.insert_skips(&skips)).unwrap();
}

fn skips_are_listed_in_order(store: &mut dyn Store) {
    with_skips(store);
    let all = read(store, |t| t.skips(&SkipFilter::default()));
    assert_eq!(spans(&all), ["Zeta 0-30", "alpha 5-5", "alpha 5-7", "delta 5-10", "alpha 20-25"]);
    assert_eq!(all[1], skip("alpha", 5, 5));
}

fn skips_are_filtered(store: &mut dyn Store) {
    with_skips(store);
    let all = SkipFilter::default;
    let mut check = |filter: SkipFilter, expected: &[&str]| {
        assert_eq!(spans(&read(store, |t| t.skips(&filter))), expected, "{filter:?}");
    };
    let workflow = Some(WorkflowId(2));
    check(SkipFilter { workflow, ..all() }, &["alpha 5-5", "alpha 5-7", "alpha 20-25"]);
    let from = Some(minute(7));
    check(SkipFilter { from, ..all() }, &["Zeta 0-30", "alpha 5-7", "delta 5-10", "alpha 20-25"]);
    check(SkipFilter { to: Some(minute(5)), ..all() }, &["Zeta 0-30"]);
    let to = Some(minute(20));
    check(SkipFilter { workflow, from, to, ..all() }, &["alpha 5-7"]);
    check(SkipFilter { limit: Some(2), ..all() }, &["Zeta 0-30", "alpha 5-5"]);
    let last = skip("alpha", 5, 5);
    check(all().page_after(None, 1), &["Zeta 0-30"]);
    check(all().page_after(Some(&last), 2), &["alpha 5-7", "delta 5-10"]);
    let of_alpha = SkipFilter { workflow, ..all() };
    check(of_alpha.page_after(Some(&last), 9), &["alpha 5-7", "alpha 20-25"]);
}

fn skips_need_their_workflow(store: &mut dyn Store) {
    let error = write(store, |t| t.insert_skips(&[skip("alpha", 1, 2)])).unwrap_err();
    assert!(matches!(error, StoreError::Missing { table: "workflow" }), "{error}");
}

fn the_widest_skip_is_kept(store: &mut dyn Store) {
    with_workflows(store);
    let widest = SkipRecord {
        first: Instant::MIN,
        last: Instant::MAX,
        count: u64::try_from(i64::MAX).unwrap(),
        revision: u32::MAX,
        ..skip("alpha", 0, 0)
    };
    write(store, |t| t.insert_skips(std::slice::from_ref(&widest))).unwrap();
    assert_eq!(read(store, |t| t.skips(&SkipFilter::default())), [widest]);
}
