//! What people decided: pauses and requests.

use rusqlite::params;

use crate::store::codes::Code;
use crate::store::record::{PauseRecord, RequestRecord, WorkflowId};
use crate::store::{StoreError, checksum};
use crate::time::Instant;

use super::columns::Columns;
use super::transaction::SqliteTransaction;

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
const SELECT_PAUSES_OF: &str = select_pauses!("WHERE workflow_id = ?1 ORDER BY from_ms");

const PUT_PAUSE: &str =
    "REPLACE INTO pause (workflow_id, from_ms, to_ms, paused_by, reason, resumed,
    checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

macro_rules! select_requests {
    ($rest:literal) => {
        concat!(
            "SELECT workflow_id, request_id, arguments, made_ms, made_by, reason, answer, pruned,
            checksum FROM request ",
            $rest
        )
    };
}

pub(super) const SELECT_REQUESTS: &str = select_requests!("");
const SELECT_REQUESTS_OF: &str = select_requests!("WHERE workflow_id = ?1 ORDER BY request_id");
const SELECT_REQUEST: &str = select_requests!("WHERE workflow_id = ?1 AND request_id = ?2");

const PUT_REQUEST: &str =
    "REPLACE INTO request (workflow_id, request_id, arguments, made_ms, made_by,
    reason, answer, pruned, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

impl SqliteTransaction<'_> {
    pub(super) fn pauses_of(&self, workflow: WorkflowId) -> Result<Vec<PauseRecord>, StoreError> {
        self.rows(PAUSE, SELECT_PAUSES_OF, [workflow.0], read_pause)
    }

    pub(super) fn write_pause(&self, pause: &PauseRecord) -> Result<(), StoreError> {
        self.writing(PAUSE)?;
        let values = params![
            pause.workflow.0,
            pause.from.as_ms(),
            pause.to.map(Instant::as_ms),
            pause.by,
            pause.reason,
            pause.resumed.map(Code::code),
            checksum::of_pause(pause),
        ];
        self.change_one(PAUSE, PUT_PAUSE, values)
    }

    pub(super) fn requests_of(
        &self,
        workflow: WorkflowId,
    ) -> Result<Vec<RequestRecord>, StoreError> {
        self.rows(REQUEST, SELECT_REQUESTS_OF, [workflow.0], read_request)
    }

    pub(super) fn request_with_id(
        &self,
        workflow: WorkflowId,
        id: &str,
    ) -> Result<Option<RequestRecord>, StoreError> {
        self.row(REQUEST, SELECT_REQUEST, params![workflow.0, id], read_request)
    }

    pub(super) fn write_request(&self, request: &RequestRecord) -> Result<(), StoreError> {
        self.writing(REQUEST)?;
        let pruned: Vec<String> =
            request.pruned.iter().map(|occurrence| occurrence.as_ms().to_string()).collect();
        let values = params![
            request.workflow.0,
            request.id,
            request.arguments,
            request.made.as_ms(),
            request.by,
            request.reason,
            request.answer,
            format!("[{}]", pruned.join(",")),
            checksum::of_request(request),
        ];
        self.change_one(REQUEST, PUT_REQUEST, values)
    }
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
        pruned: read_instants(columns)?,
    };
    columns.check(checksum::of_request(&request), || request.id.clone())?;
    Ok(request)
}

/// A JSON list of milliseconds.
fn read_instants(columns: &mut Columns<'_>) -> Result<Vec<Instant>, StoreError> {
    let text = columns.text()?;
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let list = list.ok_or_else(|| columns.damage(format!("`{text}` is no list")))?;
    list.split(',')
        .filter(|number| !number.is_empty())
        .map(|number| match number.parse() {
            Ok(ms) => columns.in_range(ms),
            Err(_) => Err(columns.damage(format!("`{number}` is no number"))),
        })
        .collect()
}
