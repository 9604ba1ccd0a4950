//! The checksum over the columns of a row: XXH3-64, so that a flipped bit does not pass as data.
//!
//! It is taken over the values of a record, names included, not over how one store lays them out:
//! the same record has the same checksum in every store. The bytes hashed are part of the format.

use twox_hash::XxHash3_64;

use crate::plan::Run;
use crate::schedule::{CatchUp, Policies};
use crate::time::Instant;

use super::codes::Code;
use super::record::{
    Attempt, Marks, PauseRecord, Progress, RequestRecord, RevisionRow, RunKey, RunRecord,
    SkipRecord, StoreInfo, Workflow, WorkflowId,
};

/// The checksum of the row about the store itself.
pub(crate) fn of_info(info: &StoreInfo) -> i64 {
    let mut bytes = Bytes::of("store_info");
    bytes.number(info.clock.code());
    bytes.text(&info.tzdb);
    bytes.number(info.definition_writes);
    bytes.instant_or_none(info.last_planned);
    bytes.instant_or_none(info.set_ahead);
    bytes.checksum()
}

/// The checksum of a workflow, without its progress.
pub(crate) fn of_workflow(workflow: &Workflow) -> i64 {
    let mut bytes = Bytes::of("workflow");
    bytes.number(workflow.id.0);
    bytes.text(&workflow.reference);
    bytes.text(&workflow.source);
    bytes.instant(workflow.registered);
    bytes.policies(&workflow.policies);
    let Marks { paused, retired, pruned_before, rewound_from, tz_passed, requested } =
        workflow.marks;
    for mark in [paused, retired, pruned_before, rewound_from, tz_passed, requested] {
        bytes.instant_or_none(mark);
    }
    bytes.checksum()
}

/// The checksum of a pause.
pub(crate) fn of_pause(pause: &PauseRecord) -> i64 {
    let mut bytes = Bytes::of("pause");
    bytes.number(pause.workflow.0);
    bytes.instant(pause.from);
    bytes.instant_or_none(pause.to);
    bytes.text_or_none(pause.by.as_deref());
    bytes.text_or_none(pause.reason.as_deref());
    bytes.number_or_none(pause.resumed.map(Code::code));
    bytes.checksum()
}

/// The checksum of a request.
pub(crate) fn of_request(request: &RequestRecord) -> i64 {
    let mut bytes = Bytes::of("request");
    bytes.number(request.workflow.0);
    bytes.text(&request.id);
    bytes.text(&request.arguments);
    bytes.instant(request.made);
    bytes.text_or_none(request.by.as_deref());
    bytes.text_or_none(request.reason.as_deref());
    bytes.text(&request.answer);
    for occurrence in &request.pruned {
        bytes.instant(*occurrence);
    }
    bytes.checksum()
}

/// The checksum of a workflow's progress.
pub(crate) fn of_progress(workflow: WorkflowId, progress: &Progress) -> i64 {
    let mut bytes = Bytes::of("progress");
    bytes.number(workflow.0);
    bytes.instant_or_none(progress.cursor);
    bytes.number_or_none(progress.cursor_local_ms);
    bytes.instant_or_none(progress.last_handed);
    bytes.number(progress.last_token);
    bytes.instant_or_none(progress.due.map(|key| key.turn));
    bytes.instant_or_none(progress.due.map(|key| key.due));
    bytes.checksum()
}

/// The checksum of a revision.
pub(crate) fn of_revision(revision: &RevisionRow) -> i64 {
    let mut bytes = Bytes::of("revision");
    bytes.number(revision.workflow.0);
    bytes.number(i64::from(revision.number));
    bytes.instant_or_none(revision.after);
    bytes.text_or_none(revision.schedule.as_deref());
    bytes.instant(revision.made);
    bytes.text(&revision.tzdb);
    bytes.checksum()
}

/// The checksum of a run with its present attempt.
pub(crate) fn of_run(run: &RunRecord) -> i64 {
    let mut bytes = Bytes::of("run");
    bytes.key(&run.key);
    bytes.text(&run.reference);
    bytes.plan(&run.plan);
    bytes.text(&run.tzdb);
    bytes.number(run.state.code());
    bytes.instant_or_none(run.available);
    bytes.number(i64::from(run.attempts));
    match &run.attempt {
        None => bytes.absent(),
        Some(attempt) => bytes.attempt(attempt),
    }
    bytes.text_or_none(run.output.as_deref());
    bytes.checksum()
}

/// The checksum of a past attempt of the run `key`.
pub(crate) fn of_attempt(key: &RunKey, attempt: &Attempt) -> i64 {
    let mut bytes = Bytes::of("attempt");
    bytes.key(key);
    bytes.attempt(attempt);
    bytes.checksum()
}

/// The checksum of a skip record.
pub(crate) fn of_skip(skip: &SkipRecord) -> i64 {
    let mut bytes = Bytes::of("skip");
    bytes.number(skip.workflow.0);
    bytes.text(&skip.reference);
    bytes.instant(skip.first);
    bytes.instant(skip.last);
    bytes.number(skip.count.cast_signed());
    bytes.number(skip.reason.code());
    bytes.instant(skip.skipped);
    bytes.number(i64::from(skip.revision));
    bytes.text(&skip.tzdb);
    bytes.checksum()
}

/// What is hashed: each value behind a byte that tells its kind, texts behind their length, so
/// that no two records share their bytes.
struct Bytes(Vec<u8>);

const ABSENT: u8 = 0;
const NUMBER: u8 = 1;
const TEXT: u8 = 2;

/// Enough for most records without growing.
const CAPACITY_BYTES: usize = 384;

impl Bytes {
    fn of(table: &str) -> Bytes {
        let mut bytes = Bytes(Vec::with_capacity(CAPACITY_BYTES));
        bytes.text(table);
        bytes
    }

    /// The hash with its bits read as a signed number, which is what stores can hold.
    fn checksum(&self) -> i64 {
        XxHash3_64::oneshot(&self.0).cast_signed()
    }

    fn absent(&mut self) {
        self.0.push(ABSENT);
    }

    fn number(&mut self, number: i64) {
        self.0.push(NUMBER);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.0.push(TEXT);
        self.0.extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn text_or_none(&mut self, text: Option<&str>) {
        match text {
            None => self.absent(),
            Some(text) => self.text(text),
        }
    }

    fn instant(&mut self, instant: Instant) {
        self.number(instant.as_ms());
    }

    fn instant_or_none(&mut self, instant: Option<Instant>) {
        self.number_or_none(instant.map(Instant::as_ms));
    }

    fn number_or_none(&mut self, number: Option<i64>) {
        match number {
            None => self.absent(),
            Some(number) => self.number(number),
        }
    }

    fn key(&mut self, key: &RunKey) {
        self.instant(key.occurrence);
        self.number(key.workflow.0);
        self.text(&key.request_id);
    }

    fn plan(&mut self, plan: &Run) {
        self.instant(plan.occurrence);
        self.instant(plan.due);
        self.instant(plan.window.start);
        self.instant(plan.window.end);
        self.number(plan.interval_ms);
        self.number(plan.phase_ms);
        self.number(i64::from(plan.revision));
        self.number(plan.authored.local_ms);
        self.number(plan.authored.resolution.code());
    }

    fn attempt(&mut self, attempt: &Attempt) {
        self.number(i64::from(attempt.number));
        self.number(attempt.token);
        self.text(&attempt.worker);
        self.instant(attempt.claimed);
        self.instant_or_none(attempt.ended);
        self.number_or_none(attempt.outcome.map(Code::code));
        self.text_or_none(attempt.error.as_deref());
    }

    fn policies(&mut self, policies: &Policies) {
        let backfill = match policies.catch_up {
            CatchUp::Latest => None,
            CatchUp::Backfill { limit } => Some(i64::from(limit)),
        };
        self.number_or_none(backfill);
        self.number_or_none(policies.max_age_ms);
        self.number(policies.first_run.code());
        self.number(policies.overlap.code());
        self.number(i64::from(policies.max_attempts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Authored, Resolution, Window};

    /// Stored checksums must stay valid: the bytes of a record never change.
    #[test]
    fn the_bytes_of_a_record_are_frozen() {
        let skip = SkipRecord {
            workflow: WorkflowId(7),
            reference: "checkout/slo".to_owned(),
            first: Instant::MIN,
            last: Instant::MAX,
            count: 3,
            reason: crate::plan::SkipReason::TooOld,
            skipped: Instant::MAX,
            revision: 2,
            tzdb: "2026f".to_owned(),
        };
        assert_eq!(of_skip(&skip), 4_317_324_408_443_076_336);
        assert_eq!(of_progress(WorkflowId(1), &Progress::default()), -4_937_287_883_529_426_819);
        assert_eq!(of_run(&claimed_run()), -7_874_512_143_365_839_223);
    }

    fn claimed_run() -> RunRecord {
        let ms = |ms| Instant::from_ms(ms).unwrap();
        let plan = Run {
            occurrence: ms(300_000),
            due: ms(430_000),
            window: Window { start: ms(-30_000), end: ms(270_000) },
            interval_ms: 300_000,
            phase_ms: 130_000,
            revision: 1,
            authored: Authored { local_ms: 300_000, resolution: Resolution::Exact },
        };
        let key = RunKey {
            occurrence: plan.occurrence,
            workflow: WorkflowId(1),
            request_id: "again".to_owned(),
        };
        let run = RunRecord::pending(key, "a".to_owned(), plan, "2026f".to_owned(), plan.due);
        run.hand_out("worker", 1, plan.due, 300_000).unwrap().run
    }
}
