//! Cron expressions against a naive reader that looks at every minute, and through the schedule
//! that holds them.

use windowpane::schedule::{Code, Schedule, Severity, read_schedule};
use windowpane::time::{Cadence, Dst, Fold, Instant};

const MS_PER_MINUTE: i64 = 60_000;

#[track_caller]
fn cadence(schedule: &str) -> Cadence {
    crate::schedule(schedule).definition.cadence().clone()
}

#[track_caller]
fn cron_in_utc(expression: &str) -> Cadence {
    cadence(&format!(r#"{{"every": {{"cron": "{expression}"}}, "timezone": "UTC"}}"#))
}

fn instant(text: &str) -> Instant {
    Instant::parse_with_date(text).unwrap()
}

/// Whether a field names a value, each item by itself and in the plainest words.
fn names(field: &str, value: u32, first: u32, last: u32) -> bool {
    field.split(',').any(|item| {
        let (range, step) = item.split_once('/').unwrap_or((item, "1"));
        let step: u32 = step.parse().unwrap();
        let (from, to) = match (range, range.split_once('-')) {
            ("*", _) => (first, last),
            (_, Some((from, to))) => (from.parse().unwrap(), to.parse().unwrap()),
            (only, None) => (only.parse().unwrap(), only.parse().unwrap()),
        };
        (from..=to).contains(&value) && (value - from).is_multiple_of(step)
    })
}

/// Whether an expression matches a minute in UTC.
fn matches(expression: &str, at: Instant) -> bool {
    let fields: Vec<&str> = expression.split(' ').collect();
    let text = at.to_string();
    let number = |from: usize, to: usize| text[from..to].parse::<u32>().unwrap();
    // 1970-01-01 was a Thursday.
    let weekday = (at.as_ms().div_euclid(86_400_000) + 4).rem_euclid(7) as u32;
    let month_day = names(fields[2], number(8, 10), 1, 31);
    let week_day = names(fields[4], weekday, 0, 6) || weekday == 0 && names(fields[4], 7, 0, 6);
    let day = match fields[2].starts_with('*') || fields[4].starts_with('*') {
        true => month_day && week_day,
        false => month_day || week_day,
    };
    names(fields[0], number(14, 16), 0, 59)
        && names(fields[1], number(11, 13), 0, 23)
        && names(fields[3], number(5, 7), 1, 12)
        && day
}

/// A random field of a valid expression.
fn field(random: &mut fastrand::Rng, first: u32, last: u32, most: u32) -> String {
    let item = |random: &mut fastrand::Rng| {
        let (a, b) = (random.u32(first..=most), random.u32(first..=most));
        match random.u8(0..6) {
            0 | 1 => "*".to_owned(),
            2 => format!("*/{}", random.u32(1..=last + 3)),
            3 => a.to_string(),
            4 => format!("{}-{}", a.min(b), a.max(b)),
            _ => format!("{}-{}/{}", a.min(b), a.max(b), random.u32(1..=9)),
        }
    };
    let items: Vec<String> = (0..random.usize(1..=3)).map(|_| item(random)).collect();
    items.join(",")
}

fn expression(random: &mut fastrand::Rng) -> String {
    let limits = [(0, 59, 59), (0, 23, 23), (1, 31, 31), (1, 12, 12), (0, 6, 7)];
    limits.map(|(first, last, most)| field(random, first, last, most)).join(" ")
}

#[test]
fn random_expressions_name_the_minutes_that_a_walk_finds() {
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..400 {
        let expression = expression(&mut random);
        let json = format!(r#"{{"every": {{"cron": "{expression}"}}, "timezone": "UTC"}}"#);
        // Days that no month has are refused, rightly: that is checked elsewhere.
        let Ok(schedule) = Schedule::from_json(&json) else { continue };
        let cadence = schedule.definition.cadence();
        let from =
            instant("2000-01-01").checked_add_ms(random.i64(0..20_000) * 86_400_000).unwrap();
        let to = from.checked_add_ms(9 * 86_400_000).unwrap();
        let minutes = (from.as_ms()..to.as_ms()).step_by(MS_PER_MINUTE as usize);
        let walked: Vec<Instant> = minutes
            .map(|ms| Instant::from_ms(ms).unwrap())
            .filter(|minute| matches(&expression, *minute))
            .collect();
        let forward: Vec<Instant> = cadence.occurrences(from, to).collect();
        assert_eq!(forward, walked, "`{expression}` from {from}");
        let mut backward: Vec<Instant> = cadence.occurrences(from, to).rev().collect();
        backward.reverse();
        assert_eq!(backward, walked, "`{expression}` backward from {from}");
        assert_eq!(cadence.count(from, to), walked.len() as u64, "`{expression}` counted");
    }
}

#[test]
fn both_day_fields_hold_where_one_begins_with_a_star() {
    let first = |expression: &str, after: &str, expected: &[&str]| {
        let cadence = cron_in_utc(expression);
        let found: Vec<String> = cadence
            .occurrences(instant(after), Instant::MAX)
            .take(expected.len())
            .map(|occurrence| occurrence.to_string()[..10].to_owned())
            .collect();
        assert_eq!(found, expected, "{expression}");
    };
    // Either: the 13th, and every Friday.
    first("0 0 13 * 5", "2026-03-01", &["2026-03-06", "2026-03-13", "2026-03-20"]);
    first("0 0 13 * fri", "2026-01-07", &["2026-01-09", "2026-01-13", "2026-01-16"]);
    // Both: the 1st, 11th, 21st and 31st that are Mondays.
    first("0 2 */10 * 1", "2026-01-01", &["2026-05-11", "2026-06-01", "2026-08-31"]);
    first("0 0 29 2 */7", "2032-03-01", &["2060-02-29", "2088-02-29", "2128-02-29"]);
}

#[test]
fn the_hour_field_decides_about_folds_that_nobody_else_decides_about() {
    let dst = |text: &str| match cadence(text) {
        Cadence::Calendar(calendar) => calendar.dst(),
        Cadence::Interval(_) => panic!("{text} is an interval"),
    };
    let of = |expression: &str| {
        dst(&format!(r#"{{"every": {{"cron": "{expression}"}}, "timezone": "Europe/Amsterdam"}}"#))
    };
    for both in ["*/5 * * * *", "0 */2 * * *", "0 *,3 * * *", "@hourly"] {
        assert_eq!(of(both), Dst { fold: Fold::Both, ..Dst::default() }, "{both}");
    }
    for first in ["30 2 * * *", "*/5 0-23 * * *", "0 3,* * * *", "@daily"] {
        assert_eq!(of(first), Dst::default(), "{first}");
    }
    let given = r#"{"every": {"cron": "0 * * * *"}, "timezone": "UTC", "dst": {"fold": "last"}}"#;
    assert_eq!(dst(given).fold, Fold::Last);
    let only_gap = r#"{"every": {"cron": "0 * * * *"}, "timezone": "UTC", "dst": {"gap": "skip"}}"#;
    assert_eq!(dst(only_gap).fold, Fold::Both);
}

/// The clock changes on which cron crates differ, in Europe/Amsterdam unless said.
#[test]
fn clock_changes() {
    let check = |expression: &str, zone: &str, dst: &str, day: &str, expected: &[&str]| {
        let cadence = cadence(&format!(
            r#"{{"every": {{"cron": "{expression}"}}, "timezone": "{zone}", "dst": {dst}}}"#
        ));
        let from = instant(day);
        let to = from.checked_add_ms(4 * 3_600_000).unwrap();
        let found: Vec<String> = cadence
            .occurrences(from, to)
            .map(|occurrence| occurrence.to_string()[11..16].to_owned())
            .collect();
        assert_eq!(found, expected, "{expression} under {dst}");
        let backward: Vec<String> = cadence
            .occurrences(from, to)
            .rev()
            .map(|occurrence| occurrence.to_string()[11..16].to_owned())
            .collect();
        assert!(backward.iter().rev().eq(&found), "{expression} backward");
    };
    let (ams, gap, fold) = ("Europe/Amsterdam", "2026-03-29", "2026-10-25");
    check("30 2 * * *", ams, r#"{"gap": "shift"}"#, gap, &["01:30"]);
    check("30 2 * * *", ams, r#"{"gap": "next"}"#, gap, &["01:00"]);
    check("30 2 * * *", ams, r#"{"gap": "skip"}"#, gap, &[]);
    check("30 2 * * *", ams, r#"{}"#, fold, &["00:30"]);
    check("30 2 * * *", ams, r#"{"fold": "last"}"#, fold, &["01:30"]);
    check("30 2 * * *", ams, r#"{"fold": "both"}"#, fold, &["00:30", "01:30"]);
    let halves = ["00:00", "00:30", "01:00", "01:30", "02:00", "02:30", "03:00", "03:30"];
    check("*/30 * * * *", ams, r#"{}"#, fold, &halves);
    check("*/30 * * * *", ams, r#"{"gap": "next"}"#, gap, &halves);
    check("0 */2 * * *", ams, r#"{"gap": "skip"}"#, gap, &["02:00"]);
    check("0 0 * * *", "America/Sao_Paulo", r#"{"gap": "next"}"#, "2018-11-04", &["03:00"]);
}

#[test]
fn warnings_and_refusals_are_faults_of_the_schedule() {
    let findings = |expression: &str| {
        let json = format!(r#"{{"every": {{"cron": "{expression}"}}, "timezone": "UTC"}}"#);
        let document = read_schedule(&json, None);
        let found: Vec<(Code, String)> =
            document.faults.into_iter().map(|fault| (fault.code, fault.pointer)).collect();
        (document.declaration.is_some(), found)
    };
    let at = |code| vec![(code, "/every/cron".to_owned())];
    assert_eq!(findings("*/15 * * * *"), (true, vec![]));
    assert_eq!(findings("*/27 * * * *"), (true, at(Code::UnevenStep)));
    assert_eq!(Code::UnevenStep.severity(), Severity::Warning);
    for refused in ["CRON_TZ=UTC 0 0 * * *", "0 0 30 2 *", "5/15 * * * *", "0 0 0 * * *", "@often"]
    {
        assert_eq!(findings(refused), (false, at(Code::BadCron)), "{refused}");
    }
}
