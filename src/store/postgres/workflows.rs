//! Workflows and how far they have come.

use crate::schedule::{CatchUp, Policies};
use crate::store::codes::Code;
use crate::store::record::{DueKey, Marks, NewWorkflow, Progress, Workflow, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::{Access, PostgresTransaction, limit};

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

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", columns!(), " FROM workflow JOIN progress ON workflow_id = id ", $rest)
    };
}

pub(super) const SELECT_ALL: &str = select!("");
const SELECT_NAMED: &str = select!("WHERE workflow.ref = ANY($1)");
/// In one order for all, so that no two wait for each other.
const TAKE_NAMED: &str =
    select!("WHERE workflow.ref = ANY($1) ORDER BY workflow.ref FOR UPDATE OF progress");
const SELECT_WITH_ID: &str = select!("WHERE id = $1");
const SELECT_AFTER: &str = select!("WHERE workflow.ref > $1 ORDER BY workflow.ref LIMIT $2");

const INSERT: &str = "INSERT INTO workflow (id, ref, source, registered_ms, backfill_limit,
    max_age_ms, first_run, overlap, max_attempts, paused_ms, retired_ms, pruned_before_ms,
    rewound_from_ms, tz_passed_ms, requested_ms, checksum)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[],
        $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
        $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[])";

const UPDATE_POLICIES: &str = "UPDATE workflow SET backfill_limit = $2, max_age_ms = $3,
    first_run = $4, overlap = $5, max_attempts = $6, checksum = $7 WHERE id = $1";

const UPDATE_MARKS: &str = "UPDATE workflow SET paused_ms = $2, retired_ms = $3,
    pruned_before_ms = $4, rewound_from_ms = $5, tz_passed_ms = $6, requested_ms = $7,
    checksum = $8 WHERE id = $1";

const INSERT_PROGRESS: &str = "INSERT INTO progress (workflow_id, ref, cursor_ms, cursor_local_ms,
    last_handed_ms, last_token, turn_ms, due_ms, checksum)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
        $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])";

const UPDATE_PROGRESS: &str = "UPDATE progress SET cursor_ms = given.cursor_ms,
    cursor_local_ms = given.cursor_local_ms, last_handed_ms = given.last_handed_ms, last_token = given.last_token, turn_ms = given.turn_ms,
    due_ms = given.due_ms, checksum = given.checksum
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::bigint[], $8::bigint[], $9::bigint[]) AS given (workflow_id, ref, cursor_ms,
        cursor_local_ms, last_handed_ms, last_token, turn_ms, due_ms, checksum)
    WHERE progress.workflow_id = given.workflow_id AND progress.ref = given.ref";

impl PostgresTransaction<'_> {
    /// Beside other writers, who asks for a workflow by name has it until the transaction ends.
    pub(super) fn workflows_with_names(
        &mut self,
        references: &[&str],
    ) -> Result<Vec<Option<Workflow>>, StoreError> {
        let sql = if self.access == Access::Beside { TAKE_NAMED } else { SELECT_NAMED };
        let mut found = self.rows(TABLE, sql, &[&references], read_workflow)?;
        found.sort_by(|left, right| left.reference.cmp(&right.reference));
        let with_name = |name: &&str| {
            let place = found.binary_search_by(|workflow| workflow.reference.as_str().cmp(name));
            place.ok().map(|place| found[place].clone())
        };
        Ok(references.iter().map(with_name).collect())
    }

    pub(super) fn workflows_after(
        &mut self,
        after: Option<&str>,
        count: usize,
    ) -> Result<Vec<Workflow>, StoreError> {
        // No ref is empty.
        let after = after.unwrap_or("");
        self.rows(TABLE, SELECT_AFTER, &[&after, &limit(Some(count))], read_workflow)
    }

    pub(super) fn add_workflows(
        &mut self,
        workflows: &[NewWorkflow],
    ) -> Result<Vec<WorkflowId>, StoreError> {
        self.writing(TABLE)?;
        let last = self.number_or_none(TABLE, "SELECT max(id) FROM workflow", &[])?.unwrap_or(0);
        let added: Vec<Workflow> = (last + 1..)
            .zip(workflows)
            .map(|(id, new)| Workflow {
                id: WorkflowId(id),
                reference: new.reference.clone(),
                source: new.source.clone(),
                registered: new.registered,
                policies: new.policies,
                marks: Marks::default(),
                progress: Progress { due: new.due, ..Progress::default() },
            })
            .collect();
        self.add_workflows_as_they_stand(&added)?;
        Ok(added.iter().map(|workflow| workflow.id).collect())
    }

    pub(super) fn add_workflows_as_they_stand(
        &mut self,
        added: &[Workflow],
    ) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        let of = |value: fn(&Workflow) -> i64| added.iter().map(value).collect::<Vec<_>>();
        let names: Vec<&str> = added.iter().map(|workflow| workflow.reference.as_str()).collect();
        let sources: Vec<&str> = added.iter().map(|workflow| workflow.source.as_str()).collect();
        let mark = |value: fn(&Marks) -> Option<Instant>| {
            let marks = added.iter().map(|workflow| value(&workflow.marks));
            marks.map(|mark| mark.map(Instant::as_ms)).collect::<Vec<_>>()
        };
        let policies = || added.iter().map(|workflow| &workflow.policies);
        self.execute(
            TABLE,
            INSERT,
            &[
                &of(|workflow| workflow.id.0),
                &names,
                &sources,
                &of(|workflow| workflow.registered.as_ms()),
                &policies().map(backfill_limit).collect::<Vec<_>>(),
                &policies().map(|policies| policies.max_age_ms).collect::<Vec<_>>(),
                &of(|workflow| workflow.policies.first_run.code()),
                &of(|workflow| workflow.policies.overlap.code()),
                &of(|workflow| i64::from(workflow.policies.max_attempts)),
                &mark(|marks| marks.paused),
                &mark(|marks| marks.retired),
                &mark(|marks| marks.pruned_before),
                &mark(|marks| marks.rewound_from),
                &mark(|marks| marks.tz_passed),
                &mark(|marks| marks.requested),
                &of(checksum::of_workflow),
            ],
        )?;
        let progress: Vec<_> = added.iter().map(|new| (new, new.progress)).collect();
        self.write_progress(INSERT_PROGRESS, &progress)?;
        self.wakes_others |= added.iter().any(|workflow| workflow.progress.due.is_some());
        Ok(())
    }

    pub(super) fn change_policies(
        &mut self,
        id: WorkflowId,
        policies: &Policies,
    ) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        let workflow = Workflow { policies: *policies, ..self.workflow_with_id(id)? };
        self.change(
            TABLE,
            UPDATE_POLICIES,
            &[
                &id.0,
                &backfill_limit(policies),
                &policies.max_age_ms,
                &policies.first_run.code(),
                &policies.overlap.code(),
                &i64::from(policies.max_attempts),
                &checksum::of_workflow(&workflow),
            ],
            1,
        )
    }

    pub(super) fn change_marks(&mut self, id: WorkflowId, marks: &Marks) -> Result<(), StoreError> {
        self.writing(TABLE)?;
        let workflow = Workflow { marks: *marks, ..self.workflow_with_id(id)? };
        self.change(
            TABLE,
            UPDATE_MARKS,
            &[
                &id.0,
                &marks.paused.map(Instant::as_ms),
                &marks.retired.map(Instant::as_ms),
                &marks.pruned_before.map(Instant::as_ms),
                &marks.rewound_from.map(Instant::as_ms),
                &marks.tz_passed.map(Instant::as_ms),
                &marks.requested.map(Instant::as_ms),
                &checksum::of_workflow(&workflow),
            ],
            1,
        )
    }

    fn workflow_with_id(&mut self, id: WorkflowId) -> Result<Workflow, StoreError> {
        let found = self.row(TABLE, SELECT_WITH_ID, &[&id.0], read_workflow)?;
        found.ok_or(StoreError::Missing { table: TABLE })
    }

    pub(super) fn change_progress(
        &mut self,
        changes: &[(&Workflow, Progress)],
    ) -> Result<(), StoreError> {
        self.writing(PROGRESS)?;
        if changes.is_empty() {
            return Ok(());
        }
        if self.write_progress(UPDATE_PROGRESS, changes)? != changes.len() as u64 {
            return Err(StoreError::Missing { table: PROGRESS });
        }
        // What a claim moves, it moves to where it is known to those who wait.
        let is_earlier = |(workflow, progress): &(&Workflow, Progress)| {
            let turn = |progress: &Progress| progress.due.map_or(Instant::MAX, |key| key.turn);
            turn(progress) < turn(&workflow.progress)
        };
        self.wakes_others |= changes.iter().any(is_earlier);
        Ok(())
    }

    fn write_progress(
        &mut self,
        sql: &'static str,
        changes: &[(&Workflow, Progress)],
    ) -> Result<u64, StoreError> {
        let of = |value: fn(&Progress) -> Option<i64>| {
            changes.iter().map(|(_, progress)| value(progress)).collect::<Vec<_>>()
        };
        let ids: Vec<i64> = changes.iter().map(|(workflow, _)| workflow.id.0).collect();
        let names: Vec<&str> =
            changes.iter().map(|(workflow, _)| workflow.reference.as_str()).collect();
        let checksums: Vec<i64> = changes
            .iter()
            .map(|(workflow, progress)| checksum::of_progress(workflow.id, progress))
            .collect();
        self.execute(
            PROGRESS,
            sql,
            &[
                &ids,
                &names,
                &of(|progress| progress.cursor.map(Instant::as_ms)),
                &of(|progress| progress.cursor_local_ms),
                &of(|progress| progress.last_handed.map(Instant::as_ms)),
                &of(|progress| Some(progress.last_token)),
                &of(|progress| progress.due.map(|key| key.turn.as_ms())),
                &of(|progress| progress.due.map(|key| key.due.as_ms())),
                &checksums,
            ],
        )
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
    let limit = columns.small_or_none()?;
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

fn backfill_limit(policies: &Policies) -> Option<i64> {
    match policies.catch_up {
        CatchUp::Latest => None,
        CatchUp::Backfill { limit } => Some(i64::from(limit)),
    }
}
