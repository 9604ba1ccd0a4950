//! Workflows and how far they have come.

use rusqlite::params;

use crate::schedule::{CatchUp, Policies};
use crate::store::codes::Code;
use crate::store::record::{DueKey, Marks, NewWorkflow, Progress, Workflow, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::{SqliteTransaction, limit};

const TABLE: &str = "workflow";
const PROGRESS: &str = "progress";

/// The columns that [`read_workflow`] takes, in its order.
macro_rules! columns {
    () => {
        "workflow.id, workflow.ref, source, registered_ms, backfill_limit, max_age_ms, first_run,
        overlap, max_attempts, paused_ms, retired_ms, pruned_before_ms, rewound_from_ms,
        tz_passed_ms, requested_ms, workflow.checksum, cursor_ms, cursor_local_ms, last_handed_ms,
        last_token, progress.turn_ms, progress.due_ms, progress.checksum"
    };
}
pub(super) use columns as workflow_columns;

const SELECT_NAMED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM workflow LEFT JOIN progress ON workflow_id = id WHERE ref = ?1"
);

const SELECT_WITH_ID: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM workflow LEFT JOIN progress ON workflow_id = id WHERE id = ?1"
);

pub(super) const SELECT_ALL: &str =
    concat!("SELECT ", columns!(), " FROM workflow LEFT JOIN progress ON workflow_id = id");

const SELECT_AFTER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM workflow LEFT JOIN progress ON workflow_id = id WHERE ref > ?1 ORDER BY ref LIMIT ?2"
);

const INSERT: &str = "INSERT INTO workflow (id, ref, source, registered_ms, backfill_limit,
    max_age_ms, first_run, overlap, max_attempts, paused_ms, retired_ms, pruned_before_ms,
    rewound_from_ms, tz_passed_ms, requested_ms, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

const UPDATE_POLICIES: &str = "UPDATE workflow SET backfill_limit = ?2, max_age_ms = ?3,
    first_run = ?4, overlap = ?5, max_attempts = ?6, checksum = ?7 WHERE id = ?1";

const UPDATE_MARKS: &str = "UPDATE workflow SET paused_ms = ?2, retired_ms = ?3,
    pruned_before_ms = ?4, rewound_from_ms = ?5, tz_passed_ms = ?6, requested_ms = ?7,
    checksum = ?8 WHERE id = ?1";

const INSERT_PROGRESS: &str = "INSERT INTO progress (workflow_id, cursor_ms, cursor_local_ms,
    last_handed_ms, last_token, turn_ms, due_ms, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const UPDATE_PROGRESS: &str = "UPDATE progress SET cursor_ms = ?2, cursor_local_ms = ?3,
    last_handed_ms = ?4, last_token = ?5, turn_ms = ?6, due_ms = ?7, checksum = ?8
    WHERE workflow_id = ?1";

impl SqliteTransaction<'_> {
    pub(super) fn workflow_named(
        &mut self,
        reference: &str,
    ) -> Result<Option<Workflow>, StoreError> {
        self.row(TABLE, SELECT_NAMED, [reference], read_workflow)
    }

    pub(super) fn workflows_after(
        &mut self,
        after: Option<&str>,
        count: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        // No ref is empty.
        let after = after.unwrap_or("");
        self.rows(TABLE, SELECT_AFTER, params![after, limit(Some(count))], read_workflow)
    }

    pub(super) fn add_workflows(
        &mut self,
        workflows: &[NewWorkflow],
    ) -> Result<Vec<WorkflowId>, StoreError> {
        self.writing(TABLE)?;
        let last = self.number_or_none(TABLE, "SELECT max(id) FROM workflow", [])?.unwrap_or(0);
        let mut ids = Vec::with_capacity(workflows.len());
        for (id, new) in (last + 1..).zip(workflows) {
            let workflow = Workflow {
                id: WorkflowId(id),
                reference: new.reference.clone(),
                source: new.source.clone(),
                registered: new.registered,
                policies: new.policies,
                marks: Marks::default(),
                progress: Progress { due: new.due, ..Progress::default() },
            };
            self.add_workflow(&workflow)?;
            ids.push(workflow.id);
        }
        Ok(ids)
    }

    pub(super) fn add_workflows_as_they_stand(
        &mut self,
        workflows: &[Workflow],
    ) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        for workflow in workflows {
            self.add_workflow(workflow)?;
        }
        Ok(())
    }

    fn add_workflow(&mut self, workflow: &Workflow) -> Result<(), StoreError> {
        let policies = &workflow.policies;
        let values = params![
            workflow.id.0,
            workflow.reference,
            workflow.source,
            workflow.registered.as_ms(),
            backfill_limit(policies),
            policies.max_age_ms,
            policies.first_run.code(),
            policies.overlap.code(),
            policies.max_attempts,
            workflow.marks.paused.map(Instant::as_ms),
            workflow.marks.retired.map(Instant::as_ms),
            workflow.marks.pruned_before.map(Instant::as_ms),
            workflow.marks.rewound_from.map(Instant::as_ms),
            workflow.marks.tz_passed.map(Instant::as_ms),
            workflow.marks.requested.map(Instant::as_ms),
            checksum::of_workflow(workflow),
        ];
        self.change_one(TABLE, INSERT, values)?;
        self.write_progress(INSERT_PROGRESS, workflow.id, &workflow.progress)?;
        self.move_in_queue(workflow, None, workflow.progress.due)
    }

    pub(super) fn change_policies(
        &mut self,
        id: WorkflowId,
        policies: &Policies,
    ) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        let workflow = Workflow { policies: *policies, ..self.workflow_with_id(id)? };
        let values = params![
            id.0,
            backfill_limit(policies),
            policies.max_age_ms,
            policies.first_run.code(),
            policies.overlap.code(),
            policies.max_attempts,
            checksum::of_workflow(&workflow),
        ];
        self.change_one(TABLE, UPDATE_POLICIES, values)
    }

    pub(super) fn change_marks(&mut self, id: WorkflowId, marks: &Marks) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        let workflow = Workflow { marks: *marks, ..self.workflow_with_id(id)? };
        let values = params![
            id.0,
            marks.paused.map(Instant::as_ms),
            marks.retired.map(Instant::as_ms),
            marks.pruned_before.map(Instant::as_ms),
            marks.rewound_from.map(Instant::as_ms),
            marks.tz_passed.map(Instant::as_ms),
            marks.requested.map(Instant::as_ms),
            checksum::of_workflow(&workflow),
        ];
        self.change_one(TABLE, UPDATE_MARKS, values)
    }

    fn workflow_with_id(&self, id: WorkflowId) -> Result<Workflow, StoreError> {
        let found = self.row(TABLE, SELECT_WITH_ID, [id.0], read_workflow)?;
        found.ok_or(StoreError::Missing { table: TABLE })
    }

    pub(super) fn change_progress(
        &mut self,
        changes: &[(&Workflow, Progress)],
    ) -> Result<(), StoreError> {
        self.writing(PROGRESS)?;
        for (workflow, progress) in changes {
            self.write_progress(UPDATE_PROGRESS, workflow.id, progress)?;
            self.move_in_queue(workflow, workflow.progress.due, progress.due)?;
        }
        Ok(())
    }

    fn write_progress(
        &self,
        sql: &str,
        workflow: WorkflowId,
        progress: &Progress,
    ) -> Result<(), StoreError> {
        let values = params![
            workflow.0,
            progress.cursor.map(Instant::as_ms),
            progress.cursor_local_ms,
            progress.last_handed.map(Instant::as_ms),
            progress.last_token,
            progress.due.map(|key| key.turn.as_ms()),
            progress.due.map(|key| key.due.as_ms()),
            checksum::of_progress(workflow, progress),
        ];
        self.change_one(PROGRESS, sql, values)
    }
}

pub(super) fn read_workflow(columns: &mut Columns<'_>) -> Result<Workflow, StoreError> {
    let mut workflow = Workflow {
        id: WorkflowId(columns.number()?),
        reference: columns.text()?,
        source: columns.text()?,
        registered: columns.instant()?,
        policies: read_policies(columns)?,
        marks: Marks {
            paused: columns.instant_or_none()?,
            retired: columns.instant_or_none()?,
            pruned_before: columns.instant_or_none()?,
            rewound_from: columns.instant_or_none()?,
            tz_passed: columns.instant_or_none()?,
            requested: columns.instant_or_none()?,
        },
        progress: Progress::default(),
    };
    columns.check(checksum::of_workflow(&workflow), || workflow.reference.clone())?;
    workflow.progress = Progress {
        cursor: columns.instant_or_none()?,
        cursor_local_ms: columns.value()?,
        last_handed: columns.instant_or_none()?,
        last_token: columns.number()?,
        due: read_due_key(columns)?,
    };
    let computed = checksum::of_progress(workflow.id, &workflow.progress);
    columns.check(computed, || workflow.reference.clone())?;
    Ok(workflow)
}

fn read_policies(columns: &mut Columns<'_>) -> Result<Policies, StoreError> {
    let limit: Option<u32> = columns.value()?;
    Ok(Policies {
        catch_up: limit.map_or(CatchUp::Latest, |limit| CatchUp::Backfill { limit }),
        max_age_ms: columns.value()?,
        first_run: columns.code()?,
        overlap: columns.code()?,
        max_attempts: columns.small()?,
    })
}

fn read_due_key(columns: &mut Columns<'_>) -> Result<Option<DueKey>, StoreError> {
    match (columns.instant_or_none()?, columns.instant_or_none()?) {
        (Some(turn), Some(due)) => Ok(Some(DueKey { turn, due })),
        (None, None) => Ok(None),
        _ => Err(columns.damage("only half of its place in the queue is there".to_owned())),
    }
}

fn backfill_limit(policies: &Policies) -> Option<u32> {
    match policies.catch_up {
        CatchUp::Latest => None,
        CatchUp::Backfill { limit } => Some(limit),
    }
}
