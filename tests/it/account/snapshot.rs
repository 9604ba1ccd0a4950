//! Everything in a store at one instant, workflow by workflow.

use std::collections::BTreeMap;

use windowpane::plan::{Revision, Timeline};
use windowpane::schedule::{Definition, Reference};
use windowpane::store::record::{
    Attempt, PauseRecord, RequestRecord, RevisionRow, RunFilter, RunKey, RunRecord, SkipFilter,
    SkipRecord, Workflow,
};
use windowpane::store::{Store, Transaction};

/// Everything in a store.
#[derive(Default)]
pub(crate) struct Snapshot {
    /// By ref.
    pub(crate) workflows: BTreeMap<String, Kept>,
}

/// One workflow and all that is kept of it.
pub(crate) struct Kept {
    pub(crate) workflow: Workflow,
    pub(crate) rows: Vec<RevisionRow>,
    pub(crate) revisions: Vec<Revision>,
    pub(crate) timeline: Timeline,
    pub(crate) runs: BTreeMap<RunKey, (RunRecord, Vec<Attempt>)>,
    pub(crate) skips: Vec<SkipRecord>,
    pub(crate) pauses: Vec<PauseRecord>,
    pub(crate) requests: Vec<RequestRecord>,
}

impl Snapshot {
    /// Reads everything. What did not change since `before` is not worked out again.
    pub(crate) fn read(store: &mut dyn Store, before: &Snapshot) -> Snapshot {
        let mut tx = store.begin_read().unwrap();
        let workflows = tx.workflows(None, usize::MAX).unwrap();
        let kept = workflows.into_iter().map(|workflow| {
            let reference = workflow.reference.clone();
            let known = before.workflows.get(&reference);
            (reference, Kept::read(&mut *tx, workflow, known))
        });
        Snapshot { workflows: kept.collect() }
    }

    /// All runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &RunRecord> {
        self.workflows.values().flat_map(|kept| kept.runs.values().map(|(run, _)| run))
    }
}

impl Kept {
    fn read(tx: &mut dyn Transaction, workflow: Workflow, before: Option<&Kept>) -> Kept {
        let id = workflow.id;
        let rows = tx.revisions(&[(id, None)]).unwrap().concat();
        let revisions = match before.filter(|before| before.rows == rows) {
            Some(before) => before.revisions.clone(),
            None => parse(&workflow.reference, &rows),
        };
        let runs = tx.runs(&RunFilter { workflow: Some(id), ..RunFilter::default() }).unwrap();
        let runs = runs.into_iter().map(|run| {
            let known = before.and_then(|before| before.runs.get(&run.key));
            let past = match known.filter(|(known, _)| *known == run) {
                Some((_, past)) => past.clone(),
                None => tx.past_attempts(&run.key).unwrap(),
            };
            (run.key.clone(), (run, past))
        });
        let runs = runs.collect();
        Kept {
            timeline: Timeline::new(&revisions),
            rows,
            revisions,
            runs,
            skips: tx.skips(&SkipFilter { workflow: Some(id), ..SkipFilter::default() }).unwrap(),
            pauses: tx.pauses(id).unwrap(),
            requests: tx.requests(id).unwrap(),
            workflow,
        }
    }
}

fn parse(reference: &str, rows: &[RevisionRow]) -> Vec<Revision> {
    let reference = Reference::new(reference).unwrap();
    let definition = |text: &String| Definition::from_canonical(text).unwrap();
    let revision = |row: &RevisionRow| {
        Revision::new(&reference, row.number, row.after, row.schedule.as_ref().map(definition))
    };
    rows.iter().map(revision).collect()
}
