//! The runs that one transaction changes, read at once and written at once: on a server each statement
//! is a trip.

use std::collections::{BTreeMap, HashMap};

use crate::store::record::{RunKey, RunRecord, Workflow};
use crate::store::{RunId, Transaction};

use super::EngineError;

/// Some runs with their workflows, as they are in the transaction.
pub(super) struct Batch {
    workflows: HashMap<String, Workflow>,
    runs: HashMap<RunKey, RunRecord>,
    /// What is not written yet.
    changed: BTreeMap<RunKey, RunRecord>,
}

impl Batch {
    /// Reads those of the runs that are there.
    pub(super) fn load<'i>(
        tx: &mut dyn Transaction,
        ids: impl Iterator<Item = &'i RunId> + Clone,
    ) -> Result<Batch, EngineError> {
        let mut names: Vec<&str> = ids.clone().map(|id| id.reference.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let workflows: HashMap<String, Workflow> = tx
            .workflows_named(&names)?
            .into_iter()
            .flatten()
            .map(|workflow| (workflow.reference.clone(), workflow))
            .collect();
        let key = |id: &RunId| Some(key(id, workflows.get(&id.reference)?));
        let mut keys: Vec<RunKey> = ids.filter_map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        let runs = tx.runs_with_keys(&keys)?.into_iter().flatten();
        let runs = runs.map(|run| (run.key.clone(), run)).collect();
        Ok(Batch { workflows, runs, changed: BTreeMap::new() })
    }

    /// One of the runs and its workflow.
    pub(super) fn find(&self, id: &RunId) -> Result<(Workflow, RunRecord), EngineError> {
        let unknown_workflow = || EngineError::UnknownWorkflow { reference: id.reference.clone() };
        let workflow = self.workflows.get(&id.reference).ok_or_else(unknown_workflow)?;
        let run = self.runs.get(&key(id, workflow));
        let run = run.ok_or_else(|| EngineError::UnknownRun { id: id.clone() })?;
        Ok((workflow.clone(), run.clone()))
    }

    /// Changes a run.
    pub(super) fn put(&mut self, run: &RunRecord) {
        self.runs.insert(run.key.clone(), run.clone());
        self.changed.insert(run.key.clone(), run.clone());
    }

    /// Writes what has changed.
    pub(super) fn write(&mut self, tx: &mut dyn Transaction) -> Result<(), EngineError> {
        let changed: Vec<RunRecord> = std::mem::take(&mut self.changed).into_values().collect();
        Ok(tx.update_runs(&changed)?)
    }

    /// Reads a workflow again, which was changed past this batch.
    pub(super) fn reload(
        &mut self,
        tx: &mut dyn Transaction,
        reference: &str,
    ) -> Result<(), EngineError> {
        if let Some(workflow) = tx.workflow(reference)? {
            self.workflows.insert(workflow.reference.clone(), workflow);
        }
        Ok(())
    }
}

fn key(id: &RunId, workflow: &Workflow) -> RunKey {
    RunKey { occurrence: id.occurrence, workflow: workflow.id, request_id: id.request_id.clone() }
}
