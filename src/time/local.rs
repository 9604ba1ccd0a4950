//! What the clocks of a zone show at an instant.

use std::fmt;

use super::civil::{civil_from_days, weekday};
use super::days::Weekday;
use super::instant::{Instant, MS_PER_DAY, MS_PER_SECOND};

/// An instant as the clocks of a zone show it. Its text is RFC 3339 with the offset, such as
/// `2026-03-29T03:30:00+02:00`, and without fractional seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Milliseconds as if the local time were UTC.
    local_ms: i64,
    /// Seconds east of UTC.
    offset_s: i64,
}

impl LocalTime {
    pub(super) fn new(at: Instant, offset_s: i64) -> LocalTime {
        LocalTime { local_ms: at.as_ms() + offset_s * MS_PER_SECOND, offset_s }
    }

    /// The day of the week.
    pub fn weekday(self) -> Weekday {
        Weekday::ALL[usize::from(weekday(self.local_ms.div_euclid(MS_PER_DAY)))]
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.offset_s < 0 { '-' } else { '+' };
        let offset_s = self.offset_s.abs();
        let (hours, minutes, seconds) = (offset_s / 3_600, offset_s / 60 % 60, offset_s % 60);
        write!(f, "{}{sign}{hours:02}:{minutes:02}", date_time(self.local_ms))?;
        // RFC 3339 has no name for the offsets of mean local time that some zones had before 1972.
        if seconds != 0 { write!(f, ":{seconds:02}") } else { Ok(()) }
    }
}

/// `2026-03-29T02:30:00`, of local milliseconds as if they were UTC.
pub(super) fn date_time(local_ms: i64) -> String {
    let (year, month, day) = civil_from_days(local_ms.div_euclid(MS_PER_DAY));
    let second = local_ms.rem_euclid(MS_PER_DAY) / MS_PER_SECOND;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Zone;

    #[track_caller]
    fn check(zone: &str, at: &str, text: &str, day: Weekday) {
        let local = Zone::get(zone).unwrap().local(at.parse().unwrap());
        assert_eq!((local.to_string().as_str(), local.weekday()), (text, day));
    }

    #[test]
    fn local_times() {
        let sunday = Weekday::Sunday;
        check("UTC", "2026-03-29T01:30:00Z", "2026-03-29T01:30:00+00:00", sunday);
        check("Europe/Amsterdam", "2026-03-29T01:30:00Z", "2026-03-29T03:30:00+02:00", sunday);
        check("Asia/Kathmandu", "2026-03-28T23:30:15Z", "2026-03-29T05:15:15+05:45", sunday);
        check("America/New_York", "2026-03-30T01:30:00Z", "2026-03-29T21:30:00-04:00", sunday);
        let monday = Weekday::Monday;
        check("Africa/Monrovia", "1950-01-02T12:44:30Z", "1950-01-02T12:00:00-00:44:30", monday);
        check("America/New_York", "0001-01-01T00:00:00Z", "0000-12-31T19:03:58-04:56:02", sunday);
    }
}
