//! What must hold at the end: each occurrence has one run, which was handed out once and succeeded.

use std::collections::HashMap;

use windowpane::store::Store;
use windowpane::store::record::{RunFilter, RunRecord, RunState};

const PAGE: usize = 10_000;

/// Looks at every run on record, and at what the processes were handed.
pub(crate) fn check(store: &mut dyn Store, schedules: usize, handed: &HashMap<String, u32>) {
    let mut transaction = store.begin_read().expect("a store");
    let (mut count, mut last): (usize, Option<RunRecord>) = (0, None);
    loop {
        let filter = RunFilter::default().page_after(last.as_ref(), PAGE);
        let page = transaction.runs(&filter).expect("runs");
        if page.is_empty() {
            break;
        }
        for run in &page {
            let id = run.id().to_string();
            assert_eq!((run.state, run.attempts), (RunState::Succeeded, 1), "{id}");
            assert_eq!(handed.get(&id), Some(&1), "{id} was handed out so often");
        }
        count += page.len();
        last = page.into_iter().next_back();
    }
    assert_eq!((count, handed.len()), (schedules, schedules), "on record, and handed out");
}
