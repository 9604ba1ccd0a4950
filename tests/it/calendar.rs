//! Calendar cadences against an oracle that walks local times one by one with jiff.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan};
use windowpane::time::{
    Cadence, Calendar, Cron, Days, Dst, Fold, Gap, Instant, Resolution, TimeOfDay, Times, Weekday,
    Zone,
};

/// What a set of days means to the oracle.
type OnDay = fn(Date) -> bool;

const TIMES: [&str; 9] =
    ["00:00", "00:15", "00:30", "01:30", "02:15", "02:30", "03:30", "12:00", "23:59:59"];
const GAPS: [Gap; 3] = [Gap::Shift, Gap::Next, Gap::Skip];
const FOLDS: [Fold; 3] = [Fold::First, Fold::Last, Fold::Both];

fn day_sets() -> Vec<(Days, OnDay)> {
    fn month_end(date: Date) -> bool {
        date.day() == date.days_in_month().min(30) || date.day() == 1
    }
    vec![
        (Days::every(), |_| true),
        (Days::weekdays(&[Weekday::Sunday, Weekday::Friday]).unwrap(), |date| {
            matches!(date.weekday(), jiff::civil::Weekday::Sunday | jiff::civil::Weekday::Friday)
        }),
        (Days::month_days(&[1, 30]).unwrap(), month_end),
        (Days::month_days(&[31]).unwrap(), |date| date == date.last_of_month()),
        (Cron::parse("0 0 13,30 * 5").unwrap().days, |date| {
            date.weekday() == jiff::civil::Weekday::Friday || matches!(date.day(), 13 | 30)
        }),
        (Cron::parse("0 0 */2 mar-nov sun,mon").unwrap().days, |date| {
            matches!(date.weekday(), jiff::civil::Weekday::Sunday | jiff::civil::Weekday::Monday)
                && date.day() % 2 == 1
                && (3..=11).contains(&date.month())
        }),
    ]
}

/// The occurrences whose local dates lie from `first` to `last`, each with the best of the
/// authored times that land on it.
fn walk(
    times: &[&str],
    zone: &TimeZone,
    on_day: OnDay,
    dst: Dst,
    first: Date,
    last: Date,
) -> BTreeMap<i64, (i64, Resolution)> {
    let mut found = BTreeMap::new();
    let mut keep = |instant: i64, local: i64, resolution: Resolution| {
        let rank = |resolution| match resolution {
            Resolution::Exact => 0,
            Resolution::FoldFirst | Resolution::FoldLast => 1,
            Resolution::GapShifted => 2,
            Resolution::GapNext => 3,
        };
        let entry = found.entry(instant).or_insert((local, resolution));
        if (rank(resolution), -local) < (rank(entry.1), -entry.0) {
            *entry = (local, resolution);
        }
    };
    let from = Offset::UTC.to_timestamp(first.to_datetime(jiff::civil::Time::midnight())).unwrap()
        - 48.hours();
    let until = from.as_second() + (last - first).get_days() as i64 * 86_400 + 5 * 86_400;
    let changes: Vec<i64> = zone
        .following(from)
        .map(|change| change.timestamp().as_second())
        .take_while(|&second| second < until)
        .collect();
    let mut offsets: Vec<i64> = changes.iter().map(|&change| offset_at(zone, change)).collect();
    offsets.push(offset_at(zone, from.as_second()));
    offsets.sort_unstable();
    offsets.dedup();
    for date in first.series(1.day()).take_while(|date| *date <= last).filter(|date| on_day(*date))
    {
        for time in times {
            let local: jiff::civil::Time = time.parse().unwrap();
            let local_s = Offset::UTC.to_timestamp(date.to_datetime(local)).unwrap().as_second();
            // The instants that the clock shows this local time at. Not jiff's own answer: 1.0.2
            // reads local times beside the last listed change with the yearly rule that follows
            // (America/Nuuk 2023-10-28).
            let mut passes: Vec<i64> = offsets.iter().map(|offset_s| local_s - offset_s).collect();
            passes.retain(|&second| offset_at(zone, second) == local_s - second);
            passes.sort_unstable();
            match (passes.as_slice(), dst.gap) {
                ([only], _) => keep(*only, local_s, Resolution::Exact),
                ([first, last], _) => {
                    if dst.fold != Fold::Last {
                        keep(*first, local_s, Resolution::FoldFirst);
                    }
                    if dst.fold != Fold::First {
                        keep(*last, local_s, Resolution::FoldLast);
                    }
                }
                ([], Gap::Shift) => keep(
                    local_s - before_gap(zone, &changes, local_s),
                    local_s,
                    Resolution::GapShifted,
                ),
                ([], Gap::Next) => {
                    let shifted = local_s - before_gap(zone, &changes, local_s);
                    let change = changes.iter().rfind(|&&change| change <= shifted).unwrap();
                    keep(*change, local_s, Resolution::GapNext);
                }
                ([], Gap::Skip) => {}
                (more, _) => panic!("{date} {time} is shown at {more:?}"),
            }
        }
    }
    found
}

fn offset_at(zone: &TimeZone, second: i64) -> i64 {
    i64::from(zone.to_offset(Timestamp::from_second(second).unwrap()).seconds())
}

/// The offset in force before the gap that swallows a local time.
fn before_gap(zone: &TimeZone, changes: &[i64], local_s: i64) -> i64 {
    let before = changes
        .iter()
        .map(|change| (offset_at(zone, change - 1), offset_at(zone, *change), *change));
    let mut gaps = before
        .filter(|(before, after, change)| (change + before..change + after).contains(&local_s));
    gaps.next().expect("a local time that is never shown lies in a gap").0
}

fn instant(second: i64) -> Instant {
    Instant::from_ms(second * 1_000).unwrap()
}

/// Every half hour: evenly spaced, whatever most clock changes do.
const HALF_HOURS: [&str; 48] = [
    "00:00", "00:30", "01:00", "01:30", "02:00", "02:30", "03:00", "03:30", "04:00", "04:30",
    "05:00", "05:30", "06:00", "06:30", "07:00", "07:30", "08:00", "08:30", "09:00", "09:30",
    "10:00", "10:30", "11:00", "11:30", "12:00", "12:30", "13:00", "13:30", "14:00", "14:30",
    "15:00", "15:30", "16:00", "16:30", "17:00", "17:30", "18:00", "18:30", "19:00", "19:30",
    "20:00", "20:30", "21:00", "21:30", "22:00", "22:30", "23:00", "23:30",
];

#[track_caller]
fn check(
    name: &str,
    times: &[&str],
    (days, on_day): &(Days, OnDay),
    dst: Dst,
    middle: Timestamp,
    reach_days: i64,
) {
    let parsed: Vec<TimeOfDay> = times.iter().map(|time| time.parse().unwrap()).collect();
    let zone = Zone::get(name).unwrap();
    let cadence =
        Cadence::Calendar(Calendar::new(days.clone(), Times::new(&parsed).unwrap(), zone, dst));
    let oracle = TimeZoneDatabase::bundled().get(name).unwrap();
    let date = middle.to_zoned_datetime(oracle.clone()).date();
    let walked = walk(
        times,
        &oracle,
        *on_day,
        dst,
        date - (reach_days + 3).days(),
        date + (reach_days + 3).days(),
    );
    let (from, to) =
        (middle.as_second() - reach_days * 86_400, middle.as_second() + reach_days * 86_400);
    let expected: Vec<(i64, (i64, Resolution))> =
        walked.range(from..to).map(|(&at, &by)| (at, by)).collect();
    let context = format!("{name} {dst:?} {days:?} around {middle}");

    let forward: Vec<i64> = cadence
        .occurrences(instant(from), instant(to))
        .map(|found| found.as_ms() / 1_000)
        .collect();
    let instants: Vec<i64> = expected.iter().map(|(at, _)| *at).collect();
    assert_eq!(forward, instants, "forward, {context}");
    let mut backward: Vec<i64> = cadence
        .occurrences(instant(from), instant(to))
        .rev()
        .map(|found| found.as_ms() / 1_000)
        .collect();
    backward.reverse();
    assert_eq!(backward, instants, "backward, {context}");
    assert_eq!(
        cadence.count(instant(from), instant(to)),
        instants.len() as u64,
        "count, {context}"
    );
    for (at, (local, resolution)) in &expected {
        let authored = cadence.authored(instant(*at)).unwrap();
        assert_eq!(
            (authored.local_ms, authored.resolution),
            (local * 1_000, *resolution),
            "authored, {context}"
        );
    }
    for (index, at) in instants.iter().enumerate() {
        let halves =
            (cadence.count(instant(from), instant(*at)), cadence.count(instant(*at), instant(to)));
        assert_eq!(
            halves,
            (index as u64, (instants.len() - index) as u64),
            "split at {at}, {context}"
        );
        let nth = cadence.nth_before(instant(to), (instants.len() - index) as u64);
        assert_eq!(nth, Some(instant(*at)), "nth before the end, {context}");
    }
}

/// Every change of every zone up to 2045, each under one combination of days and policies in
/// turn, so that every zone meets all of them.
#[test]
fn every_clock_change_of_every_zone_is_as_walked() {
    let sets = day_sets();
    let mut turn = 0;
    for name in Zone::names() {
        let oracle = TimeZoneDatabase::bundled().get(name).unwrap();
        for change in oracle
            .following(Timestamp::MIN)
            .take_while(|change| change.timestamp().as_second() < 2_366_841_600)
        {
            let dst = Dst { gap: GAPS[turn / 6 % 3], fold: FOLDS[turn / 18 % 3] };
            check(name, &TIMES, &sets[turn % sets.len()], dst, change.timestamp(), 2);
            if turn % 7 == 0 {
                check(name, &HALF_HOURS, &sets[0], dst, change.timestamp(), 1);
            }
            turn += 1;
        }
    }
    assert!(turn > 40_000, "only {turn} changes were seen");
}

/// The zones with the oddest changes, under every combination, whole years at a time.
#[test]
fn whole_years_are_as_walked_in_the_oddest_zones() {
    let years = [
        ("Pacific/Apia", "2011-12-30T00:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-05T00:00:00Z"),
        ("Antarctica/Troll", "2026-03-29T00:00:00Z"),
        ("America/Juneau", "1867-10-18T00:00:00Z"),
        ("Asia/Manila", "1844-12-31T00:00:00Z"),
        ("Africa/Casablanca", "2087-05-01T00:00:00Z"),
        ("America/Havana", "2100-01-01T00:00:00Z"),
        ("Europe/Amsterdam", "9998-06-01T00:00:00Z"),
        ("Africa/Monrovia", "1972-01-07T00:00:00Z"),
        ("Asia/Kathmandu", "1986-01-01T00:00:00Z"),
    ];
    for (name, middle) in years {
        for days in day_sets() {
            for (gap, fold) in GAPS.into_iter().flat_map(|gap| FOLDS.map(|fold| (gap, fold))) {
                check(name, &TIMES, &days, Dst { gap, fold }, middle.parse().unwrap(), 190);
            }
        }
    }
}
