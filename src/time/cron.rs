//! Five-field cron expressions, read into the days and the times of day that they name.
//!
//! Each field becomes a set of bits, and the sets become the [`Days`] and [`Times`] of a calendar
//! cadence, so a cron expression shares everything above: the next and the previous occurrence by
//! field, counts by arithmetic, and one meaning of gaps and folds.
//!
//! # Why no cron crate
//!
//! croner 4.0.3, the one whose clock changes are right by its own rules, was weighed:
//!
//! - Its rule where the clock changes is fixed, and depends on whether the minute or the hour is
//!   a wildcard: what a gap swallows is dropped or moved to its end, and never shifted, and a
//!   fold cannot be told to take its second pass. Here `dst` decides, alike for every cadence.
//! - It steps through calendar fields of one zoned time after another: 0.4 to 2.7 µs for each
//!   next or previous occurrence (here 50 ns), and no count but by walking. The planner needs counts of
//!   millions that were missed.
//! - `0 0 30 2 *` is read, and each search for it runs for milliseconds up to the year 5000.
//! - Its fields could be read alone, but `*/10` beside a weekday is either where cron means both,
//!   `sat-sun`, `?`, `L`, `#`, `1,,2` and six fields are taken, and what it refuses has no hint.
//!
//! What is left to share would be smaller than the check that it means the same.

use std::fmt;

use super::civil::days_in_month;
use super::days::{CronDays, Days, Matching};
use super::times::{Grid, Times};

/// A cron expression that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    /// The days that its last three fields name.
    pub days: Days,
    /// The times of day that its first two fields name.
    pub times: Times,
    /// Whether its hour field begins with `*`: then local times that occur twice run twice, as
    /// the author thinks in elapsed time.
    pub has_every_hour: bool,
    /// The steps that do not divide their field, so that the gap where it wraps is shorter.
    pub uneven_steps: Vec<UnevenStep>,
}

/// A step that does not divide its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnevenStep {
    /// The item, such as `*/27`.
    pub item: String,
    /// The name of the field.
    pub field: &'static str,
    /// The step.
    pub step: u32,
    /// The gap from its last value to the first one of the next round: the whole field for a step
    /// that reaches past it.
    pub last_gap: u32,
}

impl fmt::Display for UnevenStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnevenStep { item, field, step, last_gap } = self;
        let length = FIELDS.iter().find(|known| known.name == *field).map(Field::length);
        if length == Some(*last_gap) {
            return write!(
                f,
                "`{item}` reaches past the {field} field: it names its first value only"
            );
        }
        write!(
            f,
            "`{item}` does not divide the {field} field: gaps of {step}, and of {last_gap} where it wraps"
        )
    }
}

/// A text is not a cron expression of this format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a cron expression: {problem}")]
pub struct CronError {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to write instead, where that is known.
    pub hint: Option<String>,
}

/// One of the five fields.
struct Field {
    name: &'static str,
    min: u32,
    /// The largest value that may be written.
    max: u32,
    /// The last value of `*`; a weekday may be written as 7, but `*` runs over 0 to 6.
    star_max: u32,
    names: &'static [&'static str],
    /// The value of the first name.
    first_name: u32,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: [Field; 5] = [
    Field { name: "minute", min: 0, max: 59, star_max: 59, names: &[], first_name: 0 },
    Field { name: "hour", min: 0, max: 23, star_max: 23, names: &[], first_name: 0 },
    Field { name: "day of month", min: 1, max: 31, star_max: 31, names: &[], first_name: 0 },
    Field { name: "month", min: 1, max: 12, star_max: 12, names: &MONTHS, first_name: 1 },
    Field { name: "day of week", min: 0, max: 7, star_max: 6, names: &WEEKDAYS, first_name: 0 },
];

/// What a fault says, before the whole text is put beside it.
type Fault = (String, Option<String>);

impl Cron {
    /// Reads `minute hour day-of-month month day-of-week`, or one of `@hourly`, `@daily`,
    /// `@midnight`, `@weekly`, `@monthly`, `@yearly` and `@annually`.
    ///
    /// Each field is a list of `*`, `*/n`, a value, `a-b` or `a-b/n`. Months and weekdays may be
    /// three letters in any case; 7 is Sunday. Where neither day field begins with `*`, a day that
    /// matches either counts, else it must match both.
    ///
    /// ```
    /// use windowpane::time::Cron;
    ///
    /// assert!(Cron::parse("*/5 9-17 * * mon-fri").is_ok());
    /// let error = Cron::parse("0 22-2 * * *").unwrap_err();
    /// assert_eq!(error.hint.as_deref(), Some("write `22,23,0,1,2`"));
    /// ```
    ///
    /// # Errors
    /// [`CronError`] for anything else, and for an expression that never matches any date.
    pub fn parse(text: &str) -> Result<Cron, CronError> {
        read(text).map_err(|(problem, hint)| CronError { text: text.to_owned(), problem, hint })
    }
}

impl Cron {
    /// The expression that names these days and times, where there is one.
    pub(crate) fn text(days: &Days, times: &Times) -> Option<String> {
        let CronDays { month_days, months, weekdays, matching } = days.as_cron()?;
        let grid = times.as_grid()?;
        // Sunday is written first, as 0.
        let weekdays = u64::from(weekdays) << 1 & 0b111_1110 | u64::from(weekdays) >> 6;
        let mut fields = [
            grid.minutes,
            u64::from(grid.hours),
            u64::from(month_days),
            u64::from(months),
            weekdays,
        ]
        .into_iter()
        .zip(&FIELDS)
        .map(|(set, field)| field.text(set))
        .collect::<Vec<_>>();
        let restricted = fields[2] != "*" && fields[4] != "*";
        if restricted && matching == Matching::Both {
            // Both fields hold only where one of them begins with `*`.
            let starred = [(2, u64::from(month_days)), (4, weekdays)]
                .into_iter()
                .find_map(|(index, set)| FIELDS[index].starred_text(set).map(|text| (index, text)));
            let (index, text) = starred?;
            fields[index] = text;
        }
        Some(fields.join(" "))
    }
}

fn read(text: &str) -> Result<Cron, Fault> {
    let fields = fields_of(text)?;
    let mut sets = [0_u64; 5];
    let mut uneven_steps = Vec::new();
    for ((field, text), set) in FIELDS.iter().zip(fields).zip(&mut sets) {
        *set = field.read(text, &mut uneven_steps)?;
    }
    let [minutes, hours, month_days, months, weekdays] = sets;
    let starred = |field: usize| fields[field].starts_with('*');
    let days = Days::cron(CronDays {
        month_days: month_days as u32,
        months: months as u16,
        weekdays: from_monday(weekdays),
        matching: if starred(2) || starred(4) { Matching::Both } else { Matching::Either },
    });
    Ok(Cron {
        days: days.ok_or_else(|| never(months as u16))?,
        times: Times::of_grid(Grid { minutes, hours: hours as u32 }),
        has_every_hour: starred(1),
        uneven_steps,
    })
}

/// No date matches: each month named is shorter than every day named.
fn never(months: u16) -> Fault {
    // The year 2000 was a leap year.
    let longest = (1..=12).filter(|month| months >> month & 1 == 1);
    let days = longest.map(|month| days_in_month(2000, month)).max().unwrap_or(0);
    let hint = format!(
        "the months named have at most {days} days; for their last day use {{\"month\": {{\"on\": \"last\"}}}}"
    );
    ("no date of the calendar matches it".to_owned(), Some(hint))
}

/// Weekdays with Sunday at bits 0 and 7, as bits from Monday at 0.
fn from_monday(weekdays: u64) -> u8 {
    let sunday = (weekdays | weekdays >> 7) & 1;
    ((weekdays >> 1 & 0b11_1111) | sunday << 6) as u8
}

fn fields_of(text: &str) -> Result<[&str; 5], Fault> {
    let fault = |problem: &str, hint: &str| Err((problem.to_owned(), Some(hint.to_owned())));
    let trimmed = text.trim_matches([' ', '\t']);
    if let Some(name) = trimmed.strip_prefix('@') {
        return match name {
            "hourly" => Ok(["0", "*", "*", "*", "*"]),
            "daily" | "midnight" => Ok(["0", "0", "*", "*", "*"]),
            "weekly" => Ok(["0", "0", "*", "*", "0"]),
            "monthly" => Ok(["0", "0", "1", "*", "*"]),
            "yearly" | "annually" => Ok(["0", "0", "1", "1", "*"]),
            _ if name.starts_with("every") => {
                fault("`@every` is not cron", "write the interval itself: \"every\": \"5m\"")
            }
            _ => fault(
                "there is no such name",
                "use @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually",
            ),
        };
    }
    if trimmed.starts_with("CRON_TZ=") || trimmed.starts_with("TZ=") {
        return fault(
            "a time zone does not belong inside the expression",
            "use the key `timezone`",
        );
    }
    let fields: Vec<&str> = trimmed.split([' ', '\t']).filter(|field| !field.is_empty()).collect();
    match <[&str; 5]>::try_from(fields) {
        Ok(fields) => Ok(fields),
        Err(fields) if fields.len() > 5 => fault(
            "it has more than five fields",
            "leave out seconds and years: minute hour day month weekday",
        ),
        Err(fields) => Err((
            format!("it has {} of five fields", fields.len()),
            Some("write minute, hour, day of month, month and day of week".to_owned()),
        )),
    }
}

impl Field {
    /// How many values `*` has.
    const fn length(&self) -> u32 {
        self.star_max - self.min + 1
    }

    /// The set of a field's values, as bits.
    fn read(&self, text: &str, uneven_steps: &mut Vec<UnevenStep>) -> Result<u64, Fault> {
        text.split(',').try_fold(0, |set, item| Ok(set | self.read_item(item, uneven_steps)?))
    }

    fn read_item(&self, item: &str, uneven_steps: &mut Vec<UnevenStep>) -> Result<u64, Fault> {
        self.refuse_extensions(item)?;
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(self.step(item, step)?)),
            None => (item, None),
        };
        if range == "*" {
            let (step, length) = (step.unwrap_or(1), self.length());
            if length % step != 0 {
                let last_gap = length - (length - 1) / step * step;
                uneven_steps.push(UnevenStep {
                    item: item.to_owned(),
                    field: self.name,
                    step,
                    last_gap,
                });
            }
            return Ok(bits(self.min, self.star_max, step));
        }
        let Some((from, to)) = range.split_once('-') else {
            let value = self.value(range)?;
            return match step {
                None => Ok(1 << value),
                Some(step) => Err((
                    format!("`{item}` has a step without a range"),
                    // 7 is Sunday, from which a step runs over the whole week.
                    Some(format!(
                        "write `{}-{}/{step}`",
                        value % (self.star_max + 1),
                        self.star_max
                    )),
                )),
            };
        };
        let (first, last) = (self.value(from)?, self.value(to)?);
        if first > last {
            return Err(self.wraps(item, (from, to), (first, last), step.unwrap_or(1)));
        }
        Ok(bits(first, last, step.unwrap_or(1)))
    }

    /// A set of values as `*` or a list.
    fn text(&self, set: u64) -> String {
        if set == bits(self.min, self.star_max, 1) {
            return "*".to_owned();
        }
        let values: Vec<String> = ones(set).map(|value| value.to_string()).collect();
        values.join(",")
    }

    /// A set of values as a list that begins with a step over the whole field, where it holds one.
    fn starred_text(&self, set: u64) -> Option<String> {
        let steps = 1..=self.length();
        let (step, covered) = steps
            .map(|step| (step, bits(self.min, self.star_max, step)))
            .find(|(_, covered)| set & covered == *covered)?;
        let rest = ones(set & !covered).map(|value| format!(",{value}"));
        Some(format!("*/{step}{}", rest.collect::<String>()))
    }

    fn refuse_extensions(&self, item: &str) -> Result<(), Fault> {
        let hint = match item.chars().find(|char| "?#LlWw".contains(*char)) {
            _ if self.names.iter().any(|name| item.to_ascii_lowercase().contains(name)) => {
                return Ok(());
            }
            None => return Ok(()),
            Some('?') => "write `*`",
            Some('L' | 'l') if self.name == "day of week" => {
                "the last weekday of a month cannot be expressed"
            }
            Some('L' | 'l') => "for the last day of the month use {\"month\": {\"on\": \"last\"}}",
            Some('#') => {
                "one weekday of a month is 1-7, 8-14, … with a check of the weekday in the job"
            }
            Some(_) => "the nearest working day cannot be expressed",
        };
        Err((
            format!("`{item}` in the {} field is an extension that is not read", self.name),
            Some(hint.to_owned()),
        ))
    }

    fn step(&self, item: &str, step: &str) -> Result<u32, Fault> {
        match number(step) {
            Some(0) => Err((
                format!("the step of `{item}` is 0"),
                Some("use a step of at least 1".to_owned()),
            )),
            Some(step) => Ok(step),
            None => Err((
                format!("the step of `{item}` in the {} field is not a number", self.name),
                Some(format!("use a step of 1 to {}", self.star_max)),
            )),
        }
    }

    fn value(&self, text: &str) -> Result<u32, Fault> {
        let named = self
            .names
            .iter()
            .zip(self.first_name..)
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        let value = named.map(|(_, value)| value).or_else(|| number(text));
        match value {
            Some(value) if (self.min..=self.max).contains(&value) => Ok(value),
            _ => {
                let names = match self.names {
                    [] => String::new(),
                    [first, .., last] => format!(", or {first} to {last}"),
                    [only] => format!(", or {only}"),
                };
                let hint = format!("use {} to {}{names}", self.min, self.max);
                Err((format!("`{text}` is not a value of the {} field", self.name), Some(hint)))
            }
        }
    }

    /// A range that runs past the end of its field, and the list that says what it means.
    fn wraps(
        &self,
        item: &str,
        (from, to): (&str, &str),
        (first, last): (u32, u32),
        step: u32,
    ) -> Fault {
        let length = self.length();
        let by_name = number(from).is_none() && number(to).is_none();
        let values = (first..=last + length).step_by(step as usize).map(|value| {
            let value = (value - self.min) % length + self.min;
            match self.names.get((value - self.first_name.min(value)) as usize) {
                Some(name) if by_name => (*name).to_owned(),
                _ => value.to_string(),
            }
        });
        let list: Vec<String> = values.collect();
        (format!("the range `{item}` runs backward"), Some(format!("write `{}`", list.join(","))))
    }
}

/// A whole number of one to four digits.
fn number(text: &str) -> Option<u32> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// The values of a set, ascending.
fn ones(set: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |value| set >> value & 1 == 1)
}

fn bits(first: u32, last: u32, step: u32) -> u64 {
    (first..=last).step_by(step as usize).fold(0, |set, value| set | 1 << value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, hint: &str) {
        let error = Cron::parse(text).expect_err(text);
        assert_eq!(error.hint.as_deref().unwrap_or("none"), hint, "{error}");
    }

    #[test]
    fn what_is_refused_says_what_to_write() {
        refused("5/15 * * * *", "write `5-59/15`");
        refused("0 22-2 * * *", "write `22,23,0,1,2`");
        refused("0 0 * * sat-sun", "write `sat,sun`");
        refused("0 0 * * fri-mon", "write `fri,sat,sun,mon`");
        refused("0 0 * nov-feb *", "write `nov,dec,jan,feb`");
        refused("*/0 * * * *", "use a step of at least 1");
        refused("0 0 0 * * *", "leave out seconds and years: minute hour day month weekday");
        refused("0 0 ? * *", "write `*`");
        refused("0 0 L * *", "for the last day of the month use {\"month\": {\"on\": \"last\"}}");
        refused("0 0 15W * *", "the nearest working day cannot be expressed");
        refused(
            "0 0 * * 5#3",
            "one weekday of a month is 1-7, 8-14, … with a check of the weekday in the job",
        );
        refused("CRON_TZ=Europe/Amsterdam 0 0 * * *", "use the key `timezone`");
        refused(
            "@reboot",
            "use @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually",
        );
        refused("60 * * * *", "use 0 to 59");
        refused("0 0 * 13 *", "use 1 to 12, or jan to dec");
        refused("0 0 * * 8", "use 0 to 7, or sun to sat");
        let last = "for their last day use {\"month\": {\"on\": \"last\"}}";
        refused("0 0 30 2 *", &format!("the months named have at most 29 days; {last}"));
        refused("0 0 31 4,6,9,11 *", &format!("the months named have at most 30 days; {last}"));
        refused("0 0 31 2 */1", &format!("the months named have at most 29 days; {last}"));
        refused("0 0 * * 5L", "the last weekday of a month cannot be expressed");
        refused("0 0 * * 7/2", "write `0-6/2`");
        refused("0 0 * * mon/2", "write `1-6/2`");
        refused("0 0 1/10 * *", "write `1-31/10`");
        refused("0 0 * * 7-2", "write `0,1,2`");
        refused("0 0 * * 6-2/2", "write `6,1`");
        refused("*/x * * * *", "use a step of 1 to 59");
        refused("@every 5m", "write the interval itself: \"every\": \"5m\"");
        refused(
            "@Daily",
            "use @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually",
        );
        refused("0 0 * * monday", "use 0 to 7, or sun to sat");
        refused("jan * * * *", "use 0 to 59");
        for text in [
            "",
            " ",
            "* * * *",
            "a * * * *",
            "1- * * * *",
            "-1 * * * *",
            "1,,2 * * * *",
            "1-2-3 * * * *",
            "*/ * * * *",
            "+1 * * * *",
            "** * * * *",
        ] {
            assert!(Cron::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn spellings_of_one_meaning_are_equal() {
        let same = |one: &str, other: &str| {
            let (one, other) = (Cron::parse(one).unwrap(), Cron::parse(other).unwrap());
            assert_eq!((one.days, one.times), (other.days, other.times));
        };
        same("0 0 * * 7", "0 0 * * sun");
        same("0 0 * * 5-7", "0 0 * * FRI,Sat,0");
        same("0 0 * * */2", "0 0 * * 0,2,4,6");
        same("0 0 * * mon-7", "0 0 * * *");
        same("0 0 * * 5-7/2", "0 0 * * 0,5");
        same("0 0 * * */7", "0 0 * * sun");
        same("0 0 * JAN-mar,dec *", "0 0 * 1-3,12 *");
        same("@hourly", "0 * * * *");
        same("@daily", "0 0 * * *");
        same("@midnight", "@daily");
        same("@monthly", " 0 0 1 * * ");
        same("@yearly", "0 0 1 1 *");
        same("@annually", "@yearly");
        same("@weekly", "0\t0  * * SUN");
        same("0 0 1-31 * 1", "0 0 * * *");
        same("0 0 1-31 * */2", "0 0 * * sun,tue,thu,sat");
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in [
            "* * * * *",
            "*/5 9-17 * * mon-fri",
            "0 2 */10 * 1",
            "0 2 */10,5 2,3 1,0",
            "0 0 13 * 5",
            "15 3 1 1 *",
            "0 0 4 7 */2",
            "0 0 29 2 */7",
        ] {
            let cron = Cron::parse(text).unwrap();
            let written = Cron::text(&cron.days, &cron.times).unwrap();
            let again = Cron::parse(&written).unwrap();
            assert_eq!(
                (again.days, again.times),
                (cron.days, cron.times),
                "{text} became {written}"
            );
        }
    }

    #[test]
    fn steps_that_do_not_divide_their_field_are_named() {
        let uneven = |text: &str| Cron::parse(text).unwrap().uneven_steps;
        assert_eq!(uneven("*/15 */6 * */3 *"), []);
        assert_eq!(uneven("0-59/27 */24 1-31/3 1-12/5 *"), []);
        let said = |text: &str| uneven(text).iter().map(UnevenStep::to_string).collect::<Vec<_>>();
        let wraps = "gaps of 27, and of 6 where it wraps";
        assert_eq!(
            said("*/27 * * * *"),
            [format!("`*/27` does not divide the minute field: {wraps}")]
        );
        assert_eq!(
            said("0 */90 * * 1,*/5"),
            [
                "`*/90` reaches past the hour field: it names its first value only",
                "`*/5` does not divide the day of week field: gaps of 5, and of 2 where it wraps",
            ]
        );
    }

    #[test]
    fn leap_days_on_a_weekday_wait_forty_years() {
        let cron = Cron::parse("0 0 29 2 */7").unwrap();
        let day = |year| super::super::civil::days_from_civil(year, 2, 29);
        assert_eq!(cron.days.at_or_after(day(2032) + 1), Some(day(2060)));
        assert_eq!(cron.days.at_or_after(day(2088) + 1), Some(day(2128)));
        assert_eq!(cron.days.before(day(2128)), Some(day(2088)));
        assert_eq!(cron.days.count(day(2032), day(2128) + 1), 4);
    }
}
