//! A schedule as one English sentence.

mod days;
mod times;
mod words;

use crate::time::{Cadence, Calendar, Dst, Fold, Gap, Interval, MS_PER_DAY};

use super::{CatchUp, Definition, FirstRun, Overlap, Phase, Policies, Schedule};
use times::Said;
use words::{counted, every_span, span};

impl Schedule {
    /// The schedule as one English sentence. What is as usual is left out: a window back to the
    /// previous occurrence, a run that starts at once, and every policy by its default.
    ///
    /// ```
    /// use windowpane::schedule::Schedule;
    ///
    /// let json = r#"{"every": {"cron": "0 2 */10 * 1"}, "timezone": "UTC", "max_attempts": 1}"#;
    /// assert_eq!(
    ///     Schedule::from_json(json)?.describe(),
    ///     "Every Monday that is the 1st, 11th, 21st or 31st of the month at 02:00 in UTC, at most \
    ///      once."
    /// );
    /// # Ok::<(), windowpane::schedule::ScheduleError>(())
    /// ```
    pub fn describe(&self) -> String {
        let Schedule { definition, policies } = self;
        let clauses = [data(definition), start(definition.phase)].into_iter().flatten();
        let clauses =
            std::iter::once(when(&definition.cadence)).chain(clauses).chain(told(policies));
        let mut sentence = clauses.collect::<Vec<_>>().join(", ");
        if let Some(first) = sentence.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        sentence.push('.');
        sentence
    }
}

/// When it occurs.
fn when(cadence: &Cadence) -> String {
    match cadence {
        Cadence::Interval(interval) => every_interval(*interval),
        Cadence::Calendar(calendar) => {
            let days = days::days(calendar.days());
            let at = match times::times(calendar.times()) {
                Said::At(at) => format!("{days} {at}"),
                Said::Often(often) if days == "every day" => often,
                Said::Often(often) => format!("{often}, {},", days.trim_end_matches(',')),
            };
            format!("{at} in {}{}", calendar.zone().name(), clock_changes(calendar))
        }
    }
}

fn every_interval(interval: Interval) -> String {
    let every = format!("every {}", every_span(interval.as_ms()));
    match interval.as_ms() {
        MS_PER_DAY => format!("{every} at 00:00 in UTC"),
        longer if longer > MS_PER_DAY => {
            format!("{every} at 00:00 in UTC, counted from Thursday 1970-01-01")
        }
        _ => every,
    }
}

/// What becomes of local times that a clock change skips or repeats, where that is unusual.
fn clock_changes(calendar: &Calendar) -> String {
    let Dst { gap, fold } = calendar.dst();
    let gap = match gap {
        Gap::Shift => None,
        Gap::Next => Some("what a clock change skips occurs right after it"),
        Gap::Skip => Some("what a clock change skips is left out"),
    };
    let fold = match fold {
        Fold::First => None,
        Fold::Last => Some("what it repeats occurs the second time"),
        Fold::Both => Some("what it repeats occurs both times"),
    };
    match (gap, fold) {
        _ if !calendar.zone().changes() => String::new(),
        (None, None) => String::new(),
        (Some(gap), None) => format!(" ({gap})"),
        (None, Some(fold)) => {
            format!(" ({})", fold.replace("it repeats", "a clock change repeats"))
        }
        (Some(gap), Some(fold)) => format!(" ({gap}, {fold})"),
    }
}

/// Which data a run evaluates.
fn data(definition: &Definition) -> Option<String> {
    let delay = span(definition.delay_ms);
    let interval_ms = match definition.cadence {
        Cadence::Interval(interval) => Some(interval.as_ms()),
        Cadence::Calendar(_) => None,
    };
    match (definition.window_ms, definition.delay_ms) {
        (None, 0) => None,
        (Some(window_ms), 0) => Some(format!("over the {} before", span(window_ms))),
        (window_ms, _) => Some(match window_ms.or(interval_ms) {
            Some(window_ms) => {
                format!("over the {} that end {delay} before", span(window_ms))
            }
            None => format!("over the time since the previous one, both ends {delay} earlier"),
        }),
    }
}

/// When a run starts.
fn start(phase: Phase) -> Option<String> {
    match phase {
        Phase::Fixed { phase_ms: 0 } => None,
        Phase::Fixed { phase_ms } => Some(format!("starting {} later", span(phase_ms))),
        Phase::Spread { cap_ms } => Some(format!("starting up to {} later", span(cap_ms))),
    }
}

/// What happens to runs that are missed, meet or fail.
fn told(policies: &Policies) -> impl Iterator<Item = String> {
    let catch_up = match policies.catch_up {
        CatchUp::Latest => None,
        CatchUp::Backfill { limit } => {
            Some(format!("catching up on {} at most", counted(i64::from(limit), "missed run")))
        }
    };
    let max_age =
        policies.max_age_ms.map(|max_age_ms| format!("never more than {} late", span(max_age_ms)));
    let first_run = match policies.first_run {
        FirstRun::Newest => None,
        FirstRun::Next => Some("beginning after its registration".to_owned()),
    };
    let overlap = match policies.overlap {
        Overlap::Allow => None,
        Overlap::Wait => Some("one run at a time".to_owned()),
        Overlap::Skip => Some("skipping what comes due during a run".to_owned()),
    };
    let attempts = match policies.max_attempts {
        Policies::DEFAULT_MAX_ATTEMPTS => None,
        1 => Some("at most once".to_owned()),
        attempts => Some(format!("in at most {attempts} attempts")),
    };
    [catch_up, max_age, first_run, overlap, attempts].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, sentence: &str) {
        let schedule = Schedule::from_json(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(schedule.describe(), sentence);
    }

    #[track_caller]
    fn cron(expression: &str, sentence: &str) {
        let json = format!(r#"{{"every": {{"cron": "{expression}"}}, "timezone": "UTC"}}"#);
        check(&json, &format!("{sentence}."));
    }

    #[test]
    fn intervals() {
        check(r#"{"every": "1s", "phase": {"fixed": "0s"}}"#, "Every second.");
        check(
            r#"{"every": "5m", "delay": "30s"}"#,
            "Every 5 minutes, over the 5 minutes that end 30 seconds before, \
             starting up to 5 minutes later.",
        );
        check(
            r#"{"every": "1h", "window": "24h", "phase": {"fixed": "2m10s"}}"#,
            "Every hour, over the 1 day before, starting 2 minutes 10 seconds later.",
        );
        check(r#"{"every": "1d", "phase": {"fixed": "0s"}}"#, "Every day at 00:00 in UTC.");
        check(
            r#"{"every": "7d", "phase": {"fixed": "0s"}}"#,
            "Every 7 days at 00:00 in UTC, counted from Thursday 1970-01-01.",
        );
    }

    #[test]
    fn calendars() {
        let on = |every: &str, sentence: &str| {
            let json = format!(r#"{{"every": {every}, "timezone": "Europe/Amsterdam"}}"#);
            check(&json, &format!("{sentence} in Europe/Amsterdam."));
        };
        on(r#"{"day": {"at": ["06:00", "18:00:30"]}}"#, "Every day at 06:00 and 18:00:30");
        on(r#"{"week": {"on": "monday", "at": "07:00"}}"#, "Every Monday at 07:00");
        on(r#"{"week": {"on": ["friday", "monday"]}}"#, "Every Monday and Friday at 00:00");
        on(
            r#"{"week": {"on": ["monday", "tuesday", "wednesday", "sunday"]}}"#,
            "Every Monday to Wednesday and Sunday at 00:00",
        );
        on(r#"{"month": {"on": [1, 15]}}"#, "On the 1st and 15th of every month at 00:00");
        on(r#"{"month": {"on": "last"}}"#, "On the last day of every month at 00:00");
        on(r#"{"month": {"on": [1, 31]}}"#, "On the 1st and the last day of every month at 00:00");
        on(
            r#"{"month": {"on": 30}}"#,
            "On the 30th of every month, or on its last day where it is shorter, at 00:00",
        );
        on(
            r#"{"day": {"at": ["00:01", "01:02", "02:03", "03:04", "04:05", "05:06", "06:07", "07:08", "08:09"]}}"#,
            "Every day at 9 times from 00:01 to 08:09",
        );
    }

    #[test]
    fn cron_expressions() {
        cron("* * * * *", "Every minute in UTC");
        cron("*/15 * * * *", "Every 15 minutes in UTC");
        cron(
            "*/5 9-17 * * mon-fri",
            "Every 5 minutes from 09:00 to 17:55, every Monday to Friday, in UTC",
        );
        cron("*/20 */6 * * *", "Every 20 minutes of every 6th hour in UTC");
        cron("*/20 1,5,9 * * *", "Every 20 minutes of the hours 1, 5 and 9 in UTC");
        cron("*/27 * * * *", "At the minutes 0, 27 and 54 of every hour in UTC");
        cron("30 * 1 1 *", "At minute 30 of every hour, on the 1st of January, in UTC");
        cron("0-20 3 * * *", "At the minutes 0 to 20 of the hour 3 in UTC");
        cron("1,2 0-8 * * *", "At the minutes 1 and 2 of the hours 0 to 8 in UTC");
        cron("0 0 13 * 5", "On the 13th of every month and every Friday at 00:00 in UTC");
        cron(
            "0 0 13 6-8 5",
            "On the 13th of June to August and every Friday in June to August at 00:00 in UTC",
        );
        cron("0 0 * 12 *", "Every day in December at 00:00 in UTC");
        cron("0 0 * 1,7 sun", "Every Sunday in January and July at 00:00 in UTC");
        cron("0 0 29 2 *", "On the 29th of February, where it exists, at 00:00 in UTC");
        cron("0 0 31 * *", "On the 31st of every month, where it exists, at 00:00 in UTC");
        cron(
            "*/5 * 31 * *",
            "Every 5 minutes, on the 31st of every month, where it exists, in UTC",
        );
        cron(
            "0 2 */10 3,5 1-5",
            "Every Monday to Friday that is the 1st, 11th, 21st or 31st of March or May at 02:00 in UTC",
        );
        cron("0 0 31 1,3 *", "On the 31st of January and March at 00:00 in UTC");
        cron("0 0 29 2 */7", "Every Sunday that is the 29th of February at 00:00 in UTC");
    }

    #[test]
    fn clock_changes_and_policies() {
        let zone = r#""timezone": "Europe/Amsterdam""#;
        check(
            &format!(r#"{{"every": {{"cron": "0 * * * *"}}, {zone}}}"#),
            "At minute 0 of every hour in Europe/Amsterdam \
             (what a clock change repeats occurs both times).",
        );
        check(
            &format!(
                r#"{{"every": {{"day": {{}}}}, {zone}, "dst": {{"gap": "next", "fold": "last"}}}}"#
            ),
            "Every day at 00:00 in Europe/Amsterdam (what a clock change skips occurs right \
             after it, what it repeats occurs the second time).",
        );
        check(
            &format!(
                r#"{{"every": {{"day": {{}}}}, {zone}, "delay": "1h", "first_run": "next",
                "catch_up": {{"backfill": {{"limit": 48, "max_age": "12h"}}}}, "overlap": "wait",
                "max_attempts": 5}}"#
            ),
            "Every day at 00:00 in Europe/Amsterdam, over the time since the previous one, both \
             ends 1 hour earlier, catching up on 48 missed runs at most, never more than 12 hours \
             late, beginning after its registration, one run at a time, in at most 5 attempts.",
        );
        check(
            r#"{"every": "1m", "phase": {"spread": {"max": "1h"}}, "overlap": "skip", "max_attempts": 1}"#,
            "Every minute, starting up to 1 hour later, skipping what comes due during a run, \
             at most once.",
        );
    }
}
