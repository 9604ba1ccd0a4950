//! What operators do: register, edit, retire, pause, let go on.

use windowpane::engine::{self, Absent, Import, Mode, SyncOptions};
use windowpane::plan::Position;
use windowpane::schedule::{Reference, Schedule};
use windowpane::store::record::{Resume, RunState, Trigger};

use crate::account::Act;

use super::Simulation;

/// The last two are imported, the others registered.
pub(super) const REFS: [&str; 6] = ["a", "b", "c/d", "e@f", "im", "port"];
const REGISTERED: usize = 4;
const SCHEDULES: [&str; 17] = [
    "false",
    r#"{"every":"1h"}"#,
    r#"{"every":"5m","phase":{"fixed":"0s"},"catch_up":{"backfill":{"limit":3}}}"#,
    r#"{"every":"5m","delay":"1m","catch_up":{"backfill":{"limit":3}}}"#,
    r#"{"every":"5m","delay":"1m","catch_up":{"backfill":{"limit":7}},"overlap":"wait"}"#,
    r#"{"every":"10m","catch_up":{"latest":{"max_age":"20m"}},"max_attempts":1}"#,
    r#"{"every":"10m","overlap":"skip"}"#,
    r#"{"every":"30s","overlap":"skip","max_attempts":1,"first_run":"next"}"#,
    r#"{"every":"30m","phase":{"fixed":"3h"},"catch_up":{"backfill":{"limit":50}}}"#,
    r#"{"every":"30m","phase":{"fixed":"3h"},"catch_up":{"backfill":{"limit":5}},"overlap":"wait"}"#,
    r#"{"every":"1s","phase":{"fixed":"0s"}}"#,
    r#"{"every":"1h","first_run":"next","catch_up":{"backfill":{"limit":2,"max_age":"90m"}}}"#,
    r#"{"every":"2h","window":"30m","overlap":"wait","max_attempts":2}"#,
    r#"{"every":{"day":{"at":["01:30","02:30","03:30","14:00"]}},"timezone":"Europe/Amsterdam","dst":{"fold":"both"},"catch_up":{"backfill":{"limit":9}}}"#,
    r#"{"every":{"day":{"at":["01:30","02:30","14:00"]}},"timezone":"Europe/Amsterdam","dst":{"gap":"next","fold":"last"},"catch_up":{"backfill":{"limit":9}}}"#,
    r#"{"every":{"week":{"on":"sunday","at":["02:15","02:45"]}},"timezone":"Australia/Lord_Howe","phase":{"spread":{"max":"2h"}}}"#,
    r#"{"every":"15m","window":"1h","max_attempts":2,"catch_up":{"backfill":{"limit":1}}}"#,
];

const OPTIONS: SyncOptions<'_> =
    SyncOptions { source: "default", mode: Mode::Write, absent: Absent::Keep };

impl Simulation {
    /// About a third of the workflows, each with some schedule.
    fn documents(&mut self) -> Vec<(Reference, Option<Schedule>)> {
        let some = REFS[..REGISTERED].iter().filter_map(|reference| {
            let schedule = self.rng.choice(SCHEDULES).unwrap();
            let schedule = (schedule != "false").then(|| crate::schedule(schedule));
            (self.rng.u32(..3) == 0).then(|| (Reference::new(reference).unwrap(), schedule))
        });
        some.collect()
    }

    pub(super) fn sync(&mut self) {
        let documents = self.documents();
        if self.rng.u32(..6) == 0 {
            let options = SyncOptions { mode: Mode::DryRun, ..OPTIONS };
            self.act(Act::Nothing, self.now, |store, clock| {
                engine::sync(store, clock, &documents, &options)
            });
            return;
        }
        self.act(Act::Sync, self.now, |store, clock| {
            engine::sync(store, clock, &documents, &OPTIONS)
        });
    }

    /// A workflow arrives from another program, which ran it for some days.
    pub(super) fn import(&mut self) {
        let reference = *self.rng.choice(&REFS[REGISTERED..]).unwrap();
        let schedule = crate::schedule(self.rng.choice(&SCHEDULES[1..]).unwrap());
        let mut days_before =
            |days: i64| self.now.checked_add_ms(-self.rng.i64(0..days * 86_400_000)).unwrap();
        let (registered, last) = (days_before(9), days_before(2));
        let cursor = schedule.definition.cadence().at_or_before(last);
        let cursor = cursor.filter(|cursor| *cursor > registered);
        let position = self.rng.bool().then_some(Position { cursor, registered });
        let reference = Reference::new(reference).unwrap();
        let import = Import { reference, schedule, position };
        self.act(Act::Import, self.now, |store, clock| {
            engine::import(store, clock, "imports", &[import], Mode::Write)
        });
    }

    /// Nothing open of a retired workflow is left but live claims, and those that expired.
    pub(super) fn retire(&mut self) {
        let documents = self.documents();
        let options = SyncOptions { absent: Absent::Retire, ..OPTIONS };
        let done = self.act(Act::Retire, self.now, |store, clock| {
            engine::sync(store, clock, &documents, &options)
        });
        let Some(report) = done else { return };
        for synced in report.workflows {
            let kept = &self.seen.workflows[&*synced.reference];
            let is_present = documents.iter().any(|(known, _)| known.as_str() == synced.reference);
            assert_eq!(kept.workflow.marks.retired.is_none(), is_present, "{synced:?}");
            let mut runs = kept.runs.values().map(|(run, _)| run);
            let pending = runs.find(|run| !is_present && run.state == RunState::Pending);
            assert_eq!(pending, None, "it is retired");
            if !is_present {
                crate::account::still_to_come(kept, self.now)
                    .unwrap_or_else(|fault| panic!("it is retired: {fault}"));
            }
        }
    }

    pub(super) fn pause(&mut self) {
        let wanted = *self.rng.choice(&REFS).unwrap();
        self.act(Act::Pause, self.now, |store, clock| {
            engine::pause(store, clock, &|name| name == wanted, engine::Note::default())
        });
    }

    /// After `drop`, nothing that was due is left to the schedule but live claims.
    pub(super) fn resume(&mut self) {
        let wanted = *self.rng.choice(&REFS).unwrap();
        let policy = *self.rng.choice(Resume::ALL).unwrap();
        let done = self.act(Act::Resume(policy), self.now, |store, clock| {
            engine::resume(store, clock, &|name| name == wanted, policy)
        });
        let Some(resumed) = done else { return };
        for paused in resumed.into_iter().filter(|paused| paused.pause.is_some()) {
            let kept = &self.seen.workflows[&paused.reference];
            assert_eq!(kept.workflow.marks.paused, None);
            self.check_on_record(&paused.ended);
            if policy == Resume::CatchUp {
                continue;
            }
            crate::account::still_to_come(kept, self.now)
                .unwrap_or_else(|fault| panic!("it was dropped: {fault}"));
            let scheduled = kept
                .runs
                .values()
                .map(|(run, _)| run)
                .filter(|run| run.trigger() == Trigger::Schedule);
            for run in scheduled.filter(|run| run.available <= Some(self.now)) {
                assert_eq!(run.available, None, "{run:?} was dropped");
            }
        }
    }
}
