//! "What runs now" over a million mixed schedules in forty zones, in memory, on one thread: the
//! newest due occurrence of each and its window, against jiff.

use std::hint::black_box;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use windowpane::plan::{Revision, Timeline};
use windowpane::schedule::{Reference, Schedule};
use windowpane::time::{Instant, Zone};

use crate::contest::{self, Contender, Target};
use crate::paths;

const SCHEDULES: usize = 1_000_000;

/// A schedule as someone would keep it for jiff.
struct ForJiff {
    kind: Kind,
    zone: TimeZone,
}

enum Kind {
    Interval { ms: i64, phase_ms: i64 },
    Daily { hour: i8 },
    Weekly { weekday: i8, hour: i8 },
    Monthly { day: i8, hour: i8 },
}

pub fn run() {
    let database = TimeZoneDatabase::bundled();
    let zones: Vec<&str> =
        Zone::names().filter(|name| name.contains('/')).step_by(14).take(40).collect();
    assert_eq!(zones.len(), 40);
    let made = (0..SCHEDULES).map(|index| {
        let zone = zones[index % zones.len()];
        let (hour, weekday, day) = (index % 19 + 5, index % 7, index % 28 + 1);
        let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
        let (every, kind) = match index % 5 {
            0 => (r#""5m""#.to_owned(), Kind::Interval { ms: 300_000, phase_ms: 0 }),
            1 => (r#""1h""#.to_owned(), Kind::Interval { ms: 3_600_000, phase_ms: 0 }),
            2 => {
                (format!(r#"{{"day":{{"at":"{hour:02}:00"}}}}"#), Kind::Daily { hour: hour as i8 })
            }
            3 => {
                let on = days[weekday];
                let every = format!(r#"{{"week":{{"on":"{on}","at":"{hour:02}:00"}}}}"#);
                (every, Kind::Weekly { weekday: weekday as i8, hour: hour as i8 })
            }
            _ => {
                let every = format!(r#"{{"month":{{"on":{day},"at":"{hour:02}:00"}}}}"#);
                (every, Kind::Monthly { day: day as i8, hour: hour as i8 })
            }
        };
        let zone_key =
            if index % 5 < 2 { String::new() } else { format!(r#","timezone":"{zone}""#) };
        let schedule =
            Schedule::from_json(&format!(r#"{{"every":{every}{zone_key}}}"#)).expect("a schedule");
        let reference =
            Reference::new(&format!("team-{}/workflow-{index}", index % 97)).expect("a ref");
        let phase_ms = schedule.definition.phase_ms(&reference);
        let kind = match kind {
            Kind::Interval { ms, .. } => Kind::Interval { ms, phase_ms },
            other => other,
        };
        let revision = Revision::new(&reference, 1, None, Some(schedule.definition));
        (Timeline::new(&[revision]), ForJiff { kind, zone: database.get(zone).expect("a zone") })
    });
    let (ours, theirs): (Vec<Timeline>, Vec<ForJiff>) = made.unzip();
    let now = paths::instant("2026-08-27T11:42:13Z");
    let stamp = Timestamp::from_millisecond(now.as_ms()).expect("in range");

    let mut differ = 0;
    for (timeline, other) in ours.iter().zip(&theirs) {
        differ += u32::from(of_ours(timeline, now) != other.newest(stamp));
    }
    assert!(differ * 200 < SCHEDULES as u32, "jiff differs in {differ}");
    let mine = Contender::new("windowpane", || {
        black_box(ours.iter().fold(0, |sum, timeline| sum ^ of_ours(timeline, black_box(now)).1));
        SCHEDULES as u64
    });
    let jiff = Contender::new("jiff", || {
        black_box(theirs.iter().fold(0, |sum, other| sum ^ other.newest(black_box(stamp)).1));
        SCHEDULES as u64
    });
    contest::run(
        "what runs now, 1,000,000 schedules in 40 zones",
        mine,
        vec![(jiff, Target::Times(3.0))],
    );
}

/// The newest due occurrence and the start of its window, in milliseconds.
fn of_ours(timeline: &Timeline, now: Instant) -> (i64, i64) {
    let run = timeline.run_due(now).expect("an occurrence").expect("a run");
    (run.occurrence.as_ms(), run.window.start.as_ms())
}

impl ForJiff {
    fn newest(&self, now: Timestamp) -> (i64, i64) {
        match self.kind {
            Kind::Interval { ms, phase_ms } => {
                let occurrence = (now.as_millisecond() - phase_ms).div_euclid(ms) * ms;
                (occurrence, occurrence - ms)
            }
            Kind::Daily { hour } => self.walk(now, hour, |date| date, |date| date.yesterday()),
            Kind::Weekly { weekday, hour } => {
                let back = |date: Date| {
                    let days = (i64::from(date.weekday().to_monday_zero_offset())
                        - i64::from(weekday))
                    .rem_euclid(7);
                    date.checked_sub(jiff::Span::new().days(days)).expect("a date")
                };
                self.walk(now, hour, back, |date| date.checked_sub(jiff::Span::new().days(7)))
            }
            Kind::Monthly { day, hour } => {
                let within = |date: Date| date.with().day(day).build().expect("days up to 28");
                let back = |date: Date| {
                    if date.day() >= day {
                        within(date)
                    } else {
                        within(date.first_of_month().yesterday().expect("a date"))
                    }
                };
                self.walk(now, hour, back, |date| date.checked_sub(jiff::Span::new().months(1)))
            }
        }
    }

    /// `back` gives the last date at or before one, `before` the date before a date.
    fn walk(
        &self,
        now: Timestamp,
        hour: i8,
        back: impl Fn(Date) -> Date,
        before: impl Fn(Date) -> Result<Date, jiff::Error>,
    ) -> (i64, i64) {
        let local = self.zone.to_datetime(now);
        let mut date = back(local.date());
        if date.at(hour, 0, 0, 0) > local {
            date = before(date).expect("a date");
        }
        let at = |date: Date| {
            let found = self.zone.to_timestamp(date.at(hour, 0, 0, 0));
            found.expect("a timestamp").as_millisecond()
        };
        (at(date), at(before(date).expect("a date")))
    }
}
