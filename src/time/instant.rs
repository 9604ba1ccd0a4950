//! An instant: whole milliseconds since the Unix epoch, its range and its text form.

use std::fmt;
use std::str::FromStr;

use super::civil;

/// Milliseconds in a second.
pub const MS_PER_SECOND: i64 = 1_000;
/// Milliseconds in a day of exactly 24 hours.
pub const MS_PER_DAY: i64 = 86_400_000;

/// A point in time: whole milliseconds since 1970-01-01T00:00:00Z, before 1970 negative.
///
/// The range is closed: from [`Instant::MIN`] (0001-01-01T00:00:00Z) to [`Instant::MAX`]
/// (9999-12-30T22:00:00Z, the last instant of the time library below). Arithmetic past it is
/// an error, never a wrap.
///
/// The text form is RFC 3339 in UTC with `Z`; fractional seconds appear only when non-zero and
/// without trailing zeros. Input may carry any offset.
///
/// ```
/// use windowpane::time::Instant;
///
/// let instant: Instant = "2026-08-27T05:00:33.240+02:00".parse()?;
/// assert_eq!(instant.to_string(), "2026-08-27T03:00:33.24Z");
/// assert!("2026-08-27T05:00:33.0001Z".parse::<Instant>().is_err(), "finer than a millisecond");
/// # Ok::<(), windowpane::time::InstantError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

/// What can be wrong with an instant or with arithmetic on one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstantError {
    /// The text is not an instant.
    #[error("`{text}` is not an instant: {problem}")]
    Syntax {
        /// The text as given.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The value or the result lies outside [`Instant::MIN`]..=[`Instant::MAX`].
    #[error("{what} lies outside 0001-01-01T00:00:00Z to 9999-12-30T22:00:00Z")]
    Range {
        /// What was computed or given.
        what: String,
    },
}

impl Instant {
    /// 0001-01-01T00:00:00Z.
    pub const MIN: Instant = Instant(-62_135_596_800_000);
    /// 9999-12-30T22:00:00Z.
    pub const MAX: Instant = Instant(253_402_207_200_000);

    /// The instant `ms` milliseconds after (or, negative, before) the epoch.
    ///
    /// # Errors
    /// [`InstantError::Range`] outside [`Instant::MIN`]..=[`Instant::MAX`].
    pub fn from_ms(ms: i64) -> Result<Instant, InstantError> {
        Instant::in_range(ms).ok_or_else(|| InstantError::Range { what: format!("{ms} ms") })
    }

    /// The instant `ms` milliseconds from the epoch, or `None` outside the range.
    #[inline]
    pub(crate) const fn in_range(ms: i64) -> Option<Instant> {
        if ms < Instant::MIN.0 || ms > Instant::MAX.0 { None } else { Some(Instant(ms)) }
    }

    /// The instant `ms` milliseconds from the epoch, which the caller knows to be in range.
    #[inline]
    pub(crate) const fn known(ms: i64) -> Instant {
        debug_assert!(Instant::MIN.0 <= ms && ms <= Instant::MAX.0);
        Instant(ms)
    }

    /// Milliseconds since the Unix epoch.
    #[inline]
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// The instant `ms` milliseconds later (negative: earlier), or `None` outside the range.
    #[inline]
    pub const fn checked_add_ms(self, ms: i64) -> Option<Instant> {
        match self.0.checked_add(ms) {
            Some(sum) => Instant::in_range(sum),
            None => None,
        }
    }

    /// The next instant; the last one stays.
    pub(crate) const fn just_after(self) -> Instant {
        match self.checked_add_ms(1) {
            Some(after) => after,
            None => self,
        }
    }

    /// The instant before; the first one stays.
    pub(crate) const fn just_before(self) -> Instant {
        match self.checked_add_ms(-1) {
            Some(before) => before,
            None => self,
        }
    }

    /// Milliseconds from `earlier` to `self`; negative when `earlier` is the later one.
    /// Never overflows: the whole range is shorter than an `i64` holds.
    #[inline]
    pub const fn ms_since(self, earlier: Instant) -> i64 {
        self.0 - earlier.0
    }

    /// Reads an instant, or a date `YYYY-MM-DD` as its midnight in UTC.
    ///
    /// # Errors
    /// As [`FromStr`].
    pub fn parse_with_date(text: &str) -> Result<Instant, InstantError> {
        match text.len() {
            10 => format!("{text}T00:00:00Z").parse().map_err(|error| match error {
                InstantError::Syntax { problem, .. } => {
                    InstantError::Syntax { text: text.to_owned(), problem }
                }
                range @ InstantError::Range { .. } => range,
            }),
            _ => text.parse(),
        }
    }
}

impl FromStr for Instant {
    type Err = InstantError;

    /// Reads RFC 3339: a date, `T`, a time, an optional fraction, and `Z` or an offset.
    ///
    /// # Errors
    /// [`InstantError::Syntax`] for anything else: a leap second, a fraction finer than a
    /// millisecond, a missing offset, a time zone annotation; [`InstantError::Range`] outside
    /// the range.
    fn from_str(text: &str) -> Result<Instant, InstantError> {
        let syntax = |problem| InstantError::Syntax { text: text.to_owned(), problem };
        let ms = parse_ms(text).map_err(syntax)?;
        Instant::in_range(ms).ok_or_else(|| InstantError::Range { what: format!("`{text}`") })
    }
}

/// RFC 3339 to milliseconds since the epoch, not yet checked against the range.
fn parse_ms(text: &str) -> Result<i64, &'static str> {
    const FORM: &str = "expected RFC 3339 such as 2026-08-27T03:00:00Z";
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if bytes.len() < 20
        || separators.iter().any(|&(at, byte)| bytes[at] != byte)
        || !matches!(bytes[10], b'T' | b't')
    {
        return Err(if bytes.len() == 19 {
            "an offset is missing; end it with Z for UTC"
        } else {
            FORM
        });
    }
    let number = |from: usize, to: usize| digits(&bytes[from..to]).ok_or(FORM);
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month)
        || day < 1
        || day > i64::from(civil::days_in_month(year, month as u8))
    {
        return Err("there is no such date");
    }
    if second == 60 {
        return Err("leap seconds are not counted; use :59 or the next minute");
    }
    if hour > 23 || minute > 59 || second > 59 {
        return Err("there is no such time of day");
    }
    let (fraction_ms, rest) = fraction(&bytes[19..])?;
    let offset_s = offset(rest)?;
    let days = civil::days_from_civil(year, month as u8, day as u8);
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset_s;
    Ok(seconds * MS_PER_SECOND + fraction_ms)
}

/// The milliseconds of a leading `.123`, and what follows it.
fn fraction(bytes: &[u8]) -> Result<(i64, &[u8]), &'static str> {
    let Some(rest) = bytes.strip_prefix(b".") else { return Ok((0, bytes)) };
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (fraction, rest) = rest.split_at(length);
    if fraction.is_empty() {
        return Err("digits are missing after the point");
    }
    if fraction.iter().skip(3).any(|&byte| byte != b'0') {
        return Err("finer than a millisecond");
    }
    let place = [100, 10, 1];
    let ms = fraction.iter().zip(place).map(|(byte, place)| i64::from(byte - b'0') * place).sum();
    Ok((ms, rest))
}

/// The offset at the end of an instant, in seconds east of UTC.
fn offset(bytes: &[u8]) -> Result<i64, &'static str> {
    const FORM: &str = "it must end with Z or an offset such as +02:00";
    let (sign, rest) = match bytes {
        b"Z" | b"z" => return Ok(0),
        [] => return Err("an offset is missing; end it with Z for UTC"),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return Err(FORM),
    };
    let [h1, h2, b':', m1, m2] = rest else { return Err(FORM) };
    let (hours, minutes) = (digits(&[*h1, *h2]).ok_or(FORM)?, digits(&[*m1, *m2]).ok_or(FORM)?);
    if hours > 23 || minutes > 59 {
        return Err("there is no such offset");
    }
    Ok(sign * (hours * 3_600 + minutes * 60))
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
    })
}

/// The text of an instant, without a heap: `2026-08-27T03:00:00.125Z` at the longest.
#[derive(Debug, Clone, Copy)]
pub struct InstantText {
    bytes: [u8; 24],
    length: usize,
}

/// The two digits of each number below 100, the first in the low byte.
const PAIRS: [u16; 100] = {
    let mut pairs = [0; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] =
            u16::from_le_bytes([b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
        number += 1;
    }
    pairs
};

/// Two digits of a number below 100, as they stand from a byte of a word on.
#[inline]
fn pair(number: u32, byte: u32) -> u64 {
    u64::from(PAIRS[number as usize]) << (8 * byte)
}

/// The text of an instant in three words of eight bytes, so that it is put together in registers.
#[derive(Debug, Clone, Copy)]
struct DateWords {
    /// `2026-08-`
    first: u64,
    /// `27T00:00`, with zeros for digits of the time.
    second: u64,
}

impl DateWords {
    /// The date of a day, given as days since 1970-01-01.
    fn of(day: i64) -> DateWords {
        let (year, month, date) = civil::civil_from_days(day);
        let year = year as u32;
        let dashes = u64::from_le_bytes(*b"\0\0\0\0-\0\0-");
        let first = pair(year / 100, 0) | pair(year % 100, 2) | dashes | pair(month.into(), 5);
        let marks = u64::from_le_bytes(*b"\0\0T\0\0:\0\0");
        DateWords { first, second: pair(date.into(), 0) | marks }
    }

    /// The text of the instant `ms` after midnight.
    #[inline]
    fn at(self, ms: u32) -> InstantText {
        let (seconds, fraction) = (ms / 1_000, ms % 1_000);
        let (minutes, second) = (seconds / 60, seconds % 60);
        let time = pair(minutes / 60, 3) | pair(minutes % 60, 6);
        let (third, length) = third_word(second, fraction);
        let words = [self.first, self.second | time, third].map(u64::to_le_bytes);
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&words[0]);
        bytes[8..16].copy_from_slice(&words[1]);
        bytes[16..].copy_from_slice(&words[2]);
        InstantText { bytes, length }
    }
}

/// `:33.24Z`: the seconds, the fraction without trailing zeros, and the length of the whole text.
#[inline]
fn third_word(second: u32, fraction: u32) -> (u64, usize) {
    let seconds = u64::from(b':') | pair(second, 1);
    if fraction == 0 {
        return (seconds | u64::from(b'Z') << 24, 20);
    }
    let tenths = u64::from(b'.') << 24 | u64::from(b'0' + (fraction / 100) as u8) << 32;
    let digits = match fraction {
        _ if fraction.is_multiple_of(100) => 1,
        _ if fraction.is_multiple_of(10) => 2,
        _ => 3,
    };
    let end = 8 * (4 + digits);
    let all = seconds | tenths | pair(fraction % 100, 5);
    (all & !(u64::MAX << end) | u64::from(b'Z') << end, 21 + digits as usize)
}

impl InstantText {
    /// The text, which is ASCII.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Appends the text.
    #[inline]
    pub fn append_to(&self, buffer: &mut Vec<u8>) {
        let end = buffer.len() + self.length;
        // All of a length that is known here, since few bytes are copied faster so.
        buffer.extend_from_slice(&self.bytes);
        buffer.truncate(end);
    }
}

/// Makes the texts of many instants: those of one day share their date.
#[derive(Debug, Clone)]
pub struct InstantTexts {
    /// The dates of an even and of an odd day, so that those of a day and of the one before it are
    /// both kept.
    dates: [(i64, DateWords); 2],
}

impl Default for InstantTexts {
    fn default() -> InstantTexts {
        InstantTexts { dates: [0, 1].map(|day| (day, DateWords::of(day))) }
    }
}

impl InstantTexts {
    /// The text of an instant.
    #[inline]
    pub fn of(&mut self, instant: Instant) -> InstantText {
        let day = instant.0.div_euclid(MS_PER_DAY);
        let ms = (instant.0 - day * MS_PER_DAY) as u32;
        let (kept, date) = &mut self.dates[(day & 1) as usize];
        if *kept != day {
            (*kept, *date) = (day, DateWords::of(day));
        }
        date.at(ms)
    }
}

impl Instant {
    /// The text form. For many there is [`InstantTexts`].
    pub fn to_text(self) -> InstantText {
        let date = DateWords::of(self.0.div_euclid(MS_PER_DAY));
        date.at(self.0.rem_euclid(MS_PER_DAY) as u32)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(self.to_text().as_bytes()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
