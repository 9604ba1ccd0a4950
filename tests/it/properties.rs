//! What holds for every schedule at every instant.

use proptest::prelude::*;
use serde_json::{Value, json};
use windowpane::plan::{self, Position, Revision, Timeline};
use windowpane::schedule::{CatchUp, FirstRun, Policies, Reference, Schedule};
use windowpane::time::{Instant, Zone};

const DAY_MS: i64 = 86_400_000;

/// Zones with changes of 30 minutes, 2 hours and 24 hours, without any, and one at random.
fn zone() -> impl Strategy<Value = &'static str> {
    let names: Vec<&'static str> = Zone::names().collect();
    prop_oneof![
        prop::sample::select(vec![
            "Australia/Lord_Howe",
            "Antarctica/Troll",
            "Pacific/Apia",
            "Pacific/Kwajalein",
            "Asia/Manila",
            "America/Juneau",
            "Europe/Amsterdam",
            "UTC",
        ]),
        prop::sample::select(names),
    ]
}

fn interval() -> impl Strategy<Value = Value> {
    let seconds = vec![1, 2, 5, 30, 60, 300, 900, 2_700, 3_600, 10_800, 43_200, 86_400];
    prop_oneof![
        prop::sample::select(seconds).prop_map(|seconds| json!({ "every": format!("{seconds}s") })),
        (1..3_660_i64).prop_map(|days| json!({ "every": format!("{days}d") })),
    ]
}

fn times() -> impl Strategy<Value = Value> {
    prop::collection::btree_set(0..86_400_u32 / 900, 1..5).prop_map(|quarters| {
        let text = |quarter: &u32| format!("{:02}:{:02}", quarter / 4, quarter % 4 * 15);
        quarters.iter().map(text).collect()
    })
}

fn calendar() -> impl Strategy<Value = Value> {
    let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let every = prop_oneof![
        times().prop_map(|at| json!({ "day": { "at": at } })),
        (prop::sample::subsequence(weekdays.to_vec(), 1..7), times())
            .prop_map(|(on, at)| json!({ "week": { "on": on, "at": at } })),
        (prop::collection::btree_set(1..=31, 1..4), times())
            .prop_map(|(on, at)| json!({ "month": { "on": on, "at": at } })),
    ];
    let gap = prop::sample::select(vec!["shift", "next", "skip"]);
    let fold = prop::sample::select(vec!["first", "last", "both"]);
    (every, zone(), gap, fold).prop_map(|(every, zone, gap, fold)| {
        json!({ "every": every, "timezone": zone, "dst": { "gap": gap, "fold": fold } })
    })
}

fn schedule() -> impl Strategy<Value = Schedule> {
    (prop_oneof![interval(), calendar()], 0..7_200_000_i64).prop_map(|(mut schedule, delay_ms)| {
        schedule["delay"] = json!(format!("{delay_ms}ms"));
        crate::schedule(&schedule.to_string())
    })
}

/// Instants of the whole range, more often near its ends, the epoch and the present.
fn instant() -> impl Strategy<Value = Instant> {
    let (min, max) = (Instant::MIN.as_ms(), Instant::MAX.as_ms());
    let year_ms = 366 * DAY_MS;
    prop_oneof![
        min..max,
        min..min + 20 * year_ms,
        max - 20 * year_ms..max,
        -20 * year_ms..20 * year_ms,
        40 * year_ms..80 * year_ms,
        // 2011, when Samoa had no 30 December.
        1_324_857_600_000..1_325_462_400_000_i64,
    ]
    .prop_map(|ms| Instant::from_ms(ms).unwrap())
}

fn reference() -> Reference {
    Reference::new("team/a").unwrap()
}

fn timeline(schedule: &Schedule) -> Timeline {
    Timeline::new(&[Revision::new(&reference(), 1, None, Some(schedule.definition.clone()))])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn prev_and_next_are_inverses_and_strictly_monotone(schedule in schedule(), at in instant()) {
        let cadence = schedule.definition.cadence();
        if let Some(next) = cadence.next(at) {
            prop_assert!(next > at);
            prop_assert_eq!(cadence.at_or_after(next), Some(next));
            prop_assert_eq!(cadence.at_or_before(next), Some(next));
            prop_assert_eq!(cadence.prev(next).filter(|&prev| prev > at), None);
            if let Some(after) = cadence.next(next) {
                prop_assert_eq!(cadence.prev(after), Some(next));
            }
        }
        if let Some(prev) = cadence.prev(at) {
            prop_assert!(prev < at);
            prop_assert_eq!(cadence.next(prev).filter(|&next| next < at), None);
            if let Some(before) = cadence.prev(prev) {
                prop_assert_eq!(cadence.next(before), Some(prev));
            }
        }
        prop_assert!(cadence.next(at).is_some() || at > Instant::from_ms(Instant::MAX.as_ms() - 3_661 * DAY_MS).unwrap());
    }

    #[test]
    fn windows_tile_time_exactly(schedule in schedule(), at in instant()) {
        let runs: Vec<_> = timeline(&schedule).runs(at, Instant::MAX).take(40).collect();
        for pair in runs.windows(2) {
            // Only the delay of the very first occurrences leads out of the range.
            if let [Ok(one), Ok(two)] = pair {
                prop_assert!(one.occurrence < two.occurrence);
                prop_assert_eq!(one.window.end, two.window.start);
                prop_assert_eq!(two.interval_ms, two.occurrence.ms_since(one.occurrence));
            }
        }
    }

    #[test]
    fn runs_in_a_row_are_what_each_is_by_itself(
        schedule in schedule(),
        from in instant(),
        days in 1..900_i64,
    ) {
        let timeline = timeline(&schedule);
        let to = from.checked_add_ms(days * DAY_MS).unwrap_or(Instant::MAX);
        let rows: Vec<_> = timeline.runs(from, to).take(500).collect();
        let expected: Vec<_> = schedule
            .definition
            .cadence()
            .occurrences(from, to)
            .take(500)
            .map(|occurrence| timeline.run_at_or_before(occurrence).unwrap())
            .collect();
        prop_assert_eq!(&rows, &expected);
        // All at once they are the same.
        let last = match expected.last() {
            Some(Ok(run)) => run.occurrence,
            Some(Err(error)) => error.occurrence(),
            None => from,
        };
        let end = last.checked_add_ms(1).unwrap_or(Instant::MAX).min(to);
        let mut at_once = Vec::new();
        timeline.runs(from, end).for_each(|run| at_once.push(run));
        prop_assert_eq!(at_once, expected);
    }

    #[test]
    fn counts_are_what_is_enumerated(schedule in schedule(), from in instant(), steps in 0..200_usize) {
        let cadence = schedule.definition.cadence();
        let listed: Vec<Instant> = cadence.occurrences(from, Instant::MAX).take(steps).collect();
        let to = listed.last().map_or(from, |&last| cadence.next(last).unwrap_or(Instant::MAX));
        prop_assert_eq!(cadence.count(from, to), listed.len() as u64);
        let mut backward: Vec<Instant> = cadence.occurrences(from, to).rev().collect();
        backward.reverse();
        prop_assert_eq!(&backward, &listed);
        for (index, &occurrence) in listed.iter().enumerate() {
            let left = (listed.len() - index) as u64;
            prop_assert_eq!(cadence.nth_before(to, left), Some(occurrence));
            prop_assert!(cadence.authored(occurrence).is_some());
            prop_assert!(cadence.interval_ms(occurrence).is_some_and(|ms| ms >= 1_000));
        }
    }

    #[test]
    fn owed_and_skipped_are_what_lies_between_cursor_and_now(
        schedule in schedule(),
        cursor in instant(),
        outage_ms in 0..90 * DAY_MS,
        limit in 1..20_u32,
        backfills in any::<bool>(),
        max_age_ms in prop::option::of(0..10 * DAY_MS),
    ) {
        let catch_up = if backfills { CatchUp::Backfill { limit } } else { CatchUp::Latest };
        let policies = Policies { catch_up, max_age_ms, ..Policies::default() };
        let now = cursor.checked_add_ms(outage_ms).unwrap_or(Instant::MAX);
        let timeline = timeline(&schedule);
        let position = Position { cursor: Some(cursor), registered: cursor };
        let plan = plan::owed(&timeline, &policies, position, now);
        let phase_ms = schedule.definition.phase_ms(&reference());
        let cadence = schedule.definition.cadence();
        let newest = now.checked_add_ms(-phase_ms).and_then(|newest| cadence.at_or_before(newest));
        let expected = match (cursor.checked_add_ms(1), newest) {
            (Some(from), Some(newest)) if from <= newest => cadence.count(from, newest) + 1,
            _ => 0,
        };
        let skipped: u64 = plan.skipped.iter().map(|skip| skip.count).sum();
        prop_assert_eq!(skipped + plan.owed.map_or(0, |owed| owed.count), expected);
        // One stretch, from the first after the cursor on, without a hole.
        let mut at = cursor;
        for skip in &plan.skipped {
            prop_assert_eq!(cadence.next(at), Some(skip.first));
            at = skip.last;
        }
        if let Some(owed) = plan.owed {
            prop_assert_eq!(cadence.next(at), Some(owed.first));
            prop_assert!(owed.count <= u64::from(limit) + 1 || !backfills);
            prop_assert!(max_age_ms.is_none_or(|max_age_ms| now.ms_since(owed.due) <= max_age_ms));
        }
    }

    #[test]
    fn a_plan_is_the_suffix_of_a_later_cursor(schedule in schedule(), cursor in instant(), limit in 1..9_u32) {
        let policies = Policies { catch_up: CatchUp::Backfill { limit }, ..Policies::default() };
        let timeline = timeline(&schedule);
        let now = cursor.checked_add_ms(30 * DAY_MS).unwrap_or(Instant::MAX);
        let plan_at = |cursor| {
            plan::owed(&timeline, &policies, Position { cursor: Some(cursor), registered: cursor }, now)
        };
        let plan = plan_at(cursor);
        if let Some(owed) = plan.owed {
            // Settling the first owed run leaves exactly the others owed, and skips nothing more.
            let after = plan_at(owed.first);
            prop_assert!(after.skipped.is_empty());
            prop_assert_eq!(after.owed.map_or(0, |owed| owed.count), owed.count - 1);
            prop_assert_eq!(after.owed.map_or(owed.last, |owed| owed.last), owed.last);
        }
    }

    #[test]
    fn a_first_run_is_one_run(schedule in schedule(), registered in instant(), late_ms in 0..9 * DAY_MS) {
        let timeline = timeline(&schedule);
        let now = registered.checked_add_ms(late_ms).unwrap_or(Instant::MAX);
        let position = Position { cursor: None, registered };
        let catch_up = CatchUp::Backfill { limit: 1_000 };
        let newest = plan::owed(&timeline, &Policies { catch_up, ..Policies::default() }, position, now);
        prop_assert!(newest.owed.is_none_or(|owed| owed.count == 1));
        prop_assert!(newest.skipped.iter().all(|skip| skip.first > registered));
        let policies = Policies { catch_up, first_run: FirstRun::Next, ..Policies::default() };
        let next = plan::owed(&timeline, &policies, position, now);
        prop_assert!(next.owed.is_none_or(|owed| owed.first > registered));
    }
}
