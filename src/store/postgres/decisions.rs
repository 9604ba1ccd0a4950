//! What people decided: pauses and requests.

use crate::store::codes::Code;
use crate::store::record::{PauseRecord, RequestRecord, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::PostgresTransaction;

const PAUSE: &str = "pause";
const REQUEST: &str = "request";

macro_rules! select_pauses {
    ($rest:literal) => {
        concat!(
            "SELECT workflow_id, from_ms, to_ms, paused_by, reason, resumed, checksum FROM pause ",
            $rest
        )
    };
}

pub(super) const SELECT_PAUSES: &str = select_pauses!("");
const SELECT_PAUSES_OF: &str = select_pauses!("WHERE workflow_id = $1 ORDER BY from_ms");

/// A workflow that is not there gets no row.
const PUT_PAUSE: &str =
    "INSERT INTO pause (workflow_id, from_ms, to_ms, paused_by, reason, resumed, checksum)
    SELECT id, $2, $3, $4, $5, $6, $7 FROM workflow WHERE id = $1
    ON CONFLICT (workflow_id, from_ms) DO UPDATE
    SET to_ms = $3, paused_by = $4, reason = $5, resumed = $6, checksum = $7";

macro_rules! select_requests {
    ($rest:literal) => {
        concat!(
            "SELECT workflow_id, request_id, arguments, made_ms, made_by, reason, answer,
            pruned_ms, checksum FROM request ",
            $rest
        )
    };
}

pub(super) const SELECT_REQUESTS: &str = select_requests!("");
const SELECT_REQUESTS_OF: &str = select_requests!("WHERE workflow_id = $1 ORDER BY request_id");
const SELECT_REQUEST: &str = select_requests!("WHERE workflow_id = $1 AND request_id = $2");

const PUT_REQUEST: &str = "INSERT INTO request (workflow_id, request_id, arguments, made_ms,
    made_by, reason, answer, pruned_ms, checksum)
    SELECT id, $2, $3, $4, $5, $6, $7, $8, $9 FROM workflow WHERE id = $1
    ON CONFLICT (workflow_id, request_id) DO UPDATE SET arguments = $3, made_ms = $4, made_by = $5,
    reason = $6, answer = $7, pruned_ms = $8, checksum = $9";

impl PostgresTransaction<'_> {
    pub(super) fn pauses_of(
        &mut self,
        workflow: WorkflowId,
    ) -> Result<Vec<PauseRecord>, StoreError> {
        self.rows(PAUSE, SELECT_PAUSES_OF, &[&workflow.0], read_pause)
    }

    pub(super) fn write_pause(&mut self, pause: &PauseRecord) -> Result<(), StoreError> {
        self.writing(PAUSE)?;
        let changed = self.execute(
            PAUSE,
            PUT_PAUSE,
            &[
                &pause.workflow.0,
                &pause.from.as_ms(),
                &pause.to.map(Instant::as_ms),
                &pause.by,
                &pause.reason,
                &pause.resumed.map(Code::code),
                &checksum::of_pause(pause),
            ],
        )?;
        of_workflow(changed)
    }

    pub(super) fn requests_of(
        &mut self,
        workflow: WorkflowId,
    ) -> Result<Vec<RequestRecord>, StoreError> {
        self.rows(REQUEST, SELECT_REQUESTS_OF, &[&workflow.0], read_request)
    }

    pub(super) fn request_with_id(
        &mut self,
        workflow: WorkflowId,
        id: &str,
    ) -> Result<Option<RequestRecord>, StoreError> {
        self.row(REQUEST, SELECT_REQUEST, &[&workflow.0, &id], read_request)
    }

    pub(super) fn write_request(&mut self, request: &RequestRecord) -> Result<(), StoreError> {
        self.writing(REQUEST)?;
        let pruned_ms: Vec<i64> = request.pruned.iter().map(|instant| instant.as_ms()).collect();
        let changed = self.execute(
            REQUEST,
            PUT_REQUEST,
            &[
                &request.workflow.0,
                &request.id,
                &request.arguments,
                &request.made.as_ms(),
                &request.by,
                &request.reason,
                &request.answer,
                &pruned_ms,
                &checksum::of_request(request),
            ],
        )?;
        of_workflow(changed)
    }
}

/// What a statement that changes nothing without its workflow says of that.
fn of_workflow(changed: u64) -> Result<(), StoreError> {
    if changed == 1 { Ok(()) } else { Err(StoreError::Missing { table: "workflow" }) }
}

pub(super) fn read_pause(columns: &mut Columns<'_>) -> Result<PauseRecord, StoreError> {
    let pause = PauseRecord {
        workflow: WorkflowId(columns.number()?),
        from: columns.instant()?,
        to: columns.instant_or_none()?,
        by: columns.value()?,
        reason: columns.value()?,
        resumed: columns.code_or_none()?,
    };
    columns.check(checksum::of_pause(&pause), || format!("from {}", pause.from))?;
    Ok(pause)
}

pub(super) fn read_request(columns: &mut Columns<'_>) -> Result<RequestRecord, StoreError> {
    let request = RequestRecord {
        workflow: WorkflowId(columns.number()?),
        id: columns.text()?,
        arguments: columns.text()?,
        made: columns.instant()?,
        by: columns.value()?,
        reason: columns.value()?,
        answer: columns.text()?,
        pruned: columns
            .value::<Vec<i64>>()?
            .into_iter()
            .map(|ms| columns.in_range(ms))
            .collect::<Result<_, _>>()?,
    };
    columns.check(checksum::of_request(&request), || request.id.clone())?;
    Ok(request)
}
