//! Step-by-step stories: `fixtures/stories/*.story`, each played on every store.
//!
//! A line at the margin is a step; the indented lines below it are the answer. Lines that begin
//! with `#` tell what the story is about. `UPDATE_FIXTURES=1 cargo test` rewrites the answers.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use windowpane::clock::FixedClock;
use windowpane::engine::{
    self, Absent, Change, ClaimRequest, EngineError, Mode, Moved, Note, Only, Paused, Pruned,
    RunRequest, Selection, SyncOptions, Windows,
};
use windowpane::schedule::{Reference, Schedule};
use windowpane::store::fate::Fate;
use windowpane::store::lifecycle::{Finish, Verdict};
use windowpane::store::model::ModelStore;
use windowpane::store::record::{Resume, RunFilter, RunRecord, SkipFilter, SkipRecord, Trigger};
use windowpane::store::sqlite::SqliteStore;
use windowpane::store::{RunId, Store};
use windowpane::time::{Instant, Window, duration};

/// Longer than any story, where the story names no lease.
const LEASE_MS: i64 = 1_000 * 86_400_000;

/// A story that is being told on one store.
struct Telling<'a> {
    store: &'a mut dyn Store,
    now: Instant,
}

/// Plays a story and gives it back with the answers that the store gave.
fn tell(text: &str, store: &mut dyn Store) -> String {
    let mut telling = Telling { store, now: Instant::from_ms(0).unwrap() };
    let mut told = String::new();
    for line in text.lines().filter(|line| !line.starts_with(' ')) {
        writeln!(told, "{line}").unwrap();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let answer =
            telling.step(line).unwrap_or_else(|error| format!("error {}: {error}\n", error.code()));
        for line in answer.lines().map(str::to_owned).chain(telling.faults()) {
            writeln!(told, "  {line}").unwrap();
        }
    }
    told
}

impl Telling<'_> {
    /// What is wrong with the records; there never is anything, but for incidents.
    fn faults(&mut self) -> Vec<String> {
        let clock = self.clock();
        let findings = engine::verify(self.store, &clock).unwrap();
        let faults = findings.into_iter().map(|finding| format!("WRONG {finding}"));
        faults.filter(|fault| !fault.contains("needs a look")).collect()
    }

    fn step(&mut self, line: &str) -> Result<String, EngineError> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "at" => {
                self.now = rest.parse().unwrap();
                Ok(String::new())
            }
            "sync" => self.sync(rest, Mode::Write),
            "sync-dry-run" => self.sync(rest, Mode::DryRun),
            "claim" => self.claim(rest),
            "heartbeat" | "finish" | "release" => self.lease(verb, rest),
            "pause" | "resume" => self.pause(verb, rest),
            "request" => self.request(rest),
            "cancel" => self.cancel(rest),
            "due" => self.due(),
            "list" => self.list(),
            "runs" => self.runs(),
            "skips" => self.skips(),
            "attempts" => self.attempts(rest),
            "prune" => self.prune(rest, Mode::Write),
            "prune-dry-run" => self.prune(rest, Mode::DryRun),
            "cursor" => self.cursor(rest),
            "explain" => self.explain(rest),
            "coverage" => self.coverage(rest),
            _ => panic!("there is no step `{verb}`"),
        }
    }

    fn clock(&self) -> FixedClock {
        FixedClock(self.now)
    }

    fn sync(&mut self, rest: &str, mode: Mode) -> Result<String, EngineError> {
        let absent = if rest.starts_with("retire-absent ") { Absent::Retire } else { Absent::Keep };
        let rest = rest.strip_prefix("retire-absent ").unwrap_or(rest);
        let (options, documents) = match rest.strip_prefix("source ") {
            Some(rest) => rest.split_once(' ').unwrap(),
            None => ("default", rest),
        };
        let documents: Vec<(Reference, Option<Schedule>)> = documents
            .split(" ; ")
            .map(|document| {
                let (reference, schedule) = document.split_once(' ').unwrap();
                let schedule = (schedule != "false").then(|| crate::schedule(schedule));
                (Reference::new(reference).unwrap(), schedule)
            })
            .collect();
        let clock = self.clock();
        let report = engine::sync(
            self.store,
            &clock,
            &documents,
            &SyncOptions { source: options, mode, absent },
        )?;
        let mut answer = String::new();
        for synced in report.workflows {
            let change = match synced.change {
                Change::New => "new".to_owned(),
                Change::Policies => "policies".to_owned(),
                Change::Unchanged => "unchanged".to_owned(),
                Change::Retired { skipped } => {
                    skipped.iter().fold("retired".to_owned(), |text, skip| {
                        format!("{text}, {}", skip_line(skip))
                    })
                }
                Change::Edited { cut } => {
                    let mut text = format!("edited at {}", cut.at);
                    for (word, span) in [("gap", cut.gap), ("counted twice", cut.overlap)] {
                        span.iter()
                            .for_each(|span| write!(text, ", {word} {}", window(*span)).unwrap());
                    }
                    text
                }
            };
            writeln!(answer, "{} revision {}: {change}", synced.reference, synced.revision)
                .unwrap();
        }
        Ok(answer)
    }

    fn claim(&mut self, rest: &str) -> Result<String, EngineError> {
        let (worker, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let options = options(rest);
        let prefix = options.get("prefix").copied().unwrap_or("");
        let request = ClaimRequest {
            worker,
            limit: options.get("limit").map_or(100, |limit| limit.parse().unwrap()),
            lease_ms: options
                .get("lease")
                .map_or(LEASE_MS, |lease| duration::parse_ms(lease).unwrap()),
            matches: &|reference| reference.starts_with(prefix),
            trigger: options.get("trigger").map(|word| Trigger::from_word(word).unwrap()),
        };
        let clock = self.clock();
        let claimed = engine::claim(self.store, &clock, &request)?;
        let mut answer = String::new();
        claimed.skipped.iter().for_each(|skip| writeln!(answer, "{}", skip_line(skip)).unwrap());
        for run in &claimed.runs {
            let attempt = run.attempt.as_ref().unwrap();
            let window = window(run.plan.window);
            writeln!(
                answer,
                "{} window {window} attempt {} token {}",
                run.id(),
                attempt.number,
                attempt.token
            )
            .unwrap();
        }
        for reference in &claimed.cursors_ahead {
            writeln!(answer, "cursor ahead {reference}").unwrap();
        }
        let next = claimed.next_due.map_or("never".to_owned(), |next| next.to_string());
        writeln!(answer, "next {next}").unwrap();
        Ok(answer)
    }

    fn lease(&mut self, verb: &str, rest: &str) -> Result<String, EngineError> {
        let (id, rest) = rest.split_once(" token ").unwrap();
        let (token, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let (id, token): (RunId, i64) = (id.parse().unwrap(), token.parse().unwrap());
        let clock = self.clock();
        let run = match verb {
            "heartbeat" => {
                let options = options(rest);
                let lease_ms = options
                    .get("lease")
                    .map_or(LEASE_MS, |lease| duration::parse_ms(lease).unwrap());
                engine::heartbeat(
                    self.store,
                    &clock,
                    &id,
                    token,
                    lease_ms,
                    options.get("output").copied(),
                )?
            }
            "release" => engine::release(self.store, &clock, &id, token)?,
            _ => {
                let (status, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                let options = options(rest);
                let verdict = match status {
                    "succeeded" => Verdict::Succeeded,
                    "failed" => Verdict::Failed {
                        retry_in_ms: options
                            .get("retry-in")
                            .map(|delay| duration::parse_ms(delay).unwrap()),
                    },
                    _ => panic!("there is no status `{status}`"),
                };
                let text = |key| options.get(key).map(|text: &&str| (*text).to_owned());
                let finish = Finish { verdict, error: text("error"), output: text("output") };
                engine::finish(self.store, &clock, &id, token, &finish)?
            }
        };
        Ok(run_line(&run))
    }

    fn pause(&mut self, verb: &str, rest: &str) -> Result<String, EngineError> {
        let (reference, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let matches = |name: &str| name == reference;
        let clock = self.clock();
        let changed = if verb == "pause" {
            let note = Note { by: None, reason: Some(rest).filter(|reason| !reason.is_empty()) };
            engine::pause(self.store, &clock, &matches, note)?
        } else {
            let policy =
                Resume::from_word(if rest.is_empty() { "catch-up" } else { rest }).unwrap();
            engine::resume(self.store, &clock, &matches, policy)?
        };
        let mut answer = String::new();
        for Paused { reference, pause, skipped, ended } in changed {
            let text = |instant: Option<Instant>| {
                instant.map_or("now".to_owned(), |instant| instant.to_string())
            };
            let span = pause.map_or("nothing to do".to_owned(), |pause| {
                format!("paused from {} to {}", pause.from, text(pause.to))
            });
            writeln!(answer, "{reference} {span}").unwrap();
            skipped.iter().for_each(|skip| writeln!(answer, "{}", skip_line(skip)).unwrap());
            answer.extend(ended.iter().map(run_line));
        }
        Ok(answer)
    }

    /// `request REF ID from T to T [only WORD] [rewindow yes]`, or `covering START/END`, `latest yes`,
    /// `window START/END` in place of `from` and `to`.
    fn request(&mut self, rest: &str) -> Result<String, EngineError> {
        let (reference, rest) = rest.split_once(' ').unwrap();
        let (id, rest) = rest.split_once(' ').unwrap();
        let options = options(rest);
        let instant = |key: &str| options.get(key).map(|text| text.parse::<Instant>().unwrap());
        let span = |key: &str| {
            let (start, end) = options.get(key)?.split_once('/').unwrap();
            Some(Window { start: start.parse().unwrap(), end: end.parse().unwrap() })
        };
        let selection = if options.contains_key("latest") {
            Selection::Latest
        } else if let Some(window) = span("window") {
            Selection::Window(window)
        } else if let Some(span) = span("covering") {
            Selection::Covering(span)
        } else {
            Selection::Occurrences { from: instant("from").unwrap(), to: instant("to").unwrap() }
        };
        let only = match options.get("only").copied() {
            None | Some("missing") => Only::Missing,
            Some("failed") => Only::Failed,
            _ => Only::All,
        };
        let windows =
            if options.contains_key("rewindow") { Windows::Present } else { Windows::Pinned };
        let note = Note::default();
        let request = RunRequest { reference, id, selection, only, windows, note };
        let clock = self.clock();
        let requested = engine::request(self.store, &clock, &request, Mode::Write)?;
        let mut answer = String::new();
        for run in &requested.runs {
            writeln!(
                answer,
                "{} {} window {}",
                run.id(),
                run.state.as_str(),
                window(run.plan.window)
            )
            .unwrap();
        }
        for (reason, count) in requested.left_out {
            writeln!(answer, "left out {count} {reason}").unwrap();
        }
        Ok(answer)
    }

    /// `cancel ID`, or `cancel REF request ID`.
    fn cancel(&mut self, rest: &str) -> Result<String, EngineError> {
        let clock = self.clock();
        Ok(match rest.split_once(" request ") {
            Some((reference, id)) => engine::cancel_request(self.store, &clock, reference, id)?
                .iter()
                .map(run_line)
                .collect(),
            None => run_line(&engine::cancel(self.store, &clock, &rest.parse().unwrap())?),
        })
    }

    fn due(&mut self) -> Result<String, EngineError> {
        let clock = self.clock();
        let due = engine::due(self.store, &clock)?;
        let mut answer = String::new();
        for (reference, skip) in due.skipped {
            let reason = skip.reason.as_str();
            writeln!(
                answer,
                "skip {reference} {} to {} count {} {reason}",
                skip.first, skip.last, skip.count
            )
            .unwrap();
        }
        for run in due.runs {
            writeln!(
                answer,
                "{} {} due {} attempt {}",
                run.reference, run.plan.occurrence, run.plan.due, run.attempt
            )
            .unwrap();
        }
        writeln!(
            answer,
            "next {}",
            due.next_due.map_or("never".to_owned(), |next| next.to_string())
        )
        .unwrap();
        Ok(answer)
    }

    fn list(&mut self) -> Result<String, EngineError> {
        let clock = self.clock();
        let mut answer = String::new();
        for standing in engine::list(self.store, &clock)? {
            let text = |instant: Option<Instant>| {
                instant.map_or("none".to_owned(), |instant| instant.to_string())
            };
            writeln!(
                answer,
                "{} revision {} cursor {} next due {} lag {} live {}{}",
                standing.workflow.reference,
                standing.revision,
                text(standing.workflow.progress.cursor),
                text(standing.next_due),
                duration::format_ms(standing.lag_ms),
                standing.live_claims,
                standing
                    .incidents
                    .iter()
                    .fold(String::new(), |text, incident| format!("{text} {incident}")),
            )
            .unwrap();
        }
        Ok(answer)
    }

    fn runs(&mut self) -> Result<String, EngineError> {
        let runs = self.store.begin_read()?.runs(&RunFilter::default())?;
        Ok(runs.iter().map(run_line).collect())
    }

    fn skips(&mut self) -> Result<String, EngineError> {
        let skips = self.store.begin_read()?.skips(&SkipFilter::default())?;
        Ok(skips.iter().map(|skip| skip_line(skip) + "\n").collect())
    }

    fn attempts(&mut self, id: &str) -> Result<String, EngineError> {
        let id: RunId = id.parse().unwrap();
        let mut tx = self.store.begin_read()?;
        let runs = tx.runs(&RunFilter::default())?;
        let run = runs.into_iter().find(|run| run.id() == id).unwrap();
        let mut answer = String::new();
        for attempt in tx.past_attempts(&run.key)?.iter().chain(&run.attempt) {
            let outcome = attempt.outcome.map_or("running", |outcome| outcome.as_str());
            let error =
                attempt.error.as_ref().map_or(String::new(), |error| format!(" error {error}"));
            writeln!(
                answer,
                "attempt {} token {} by {} {outcome}{error}",
                attempt.number, attempt.token, attempt.worker
            )
            .unwrap();
        }
        Ok(answer)
    }
}

impl Telling<'_> {
    /// `cursor REF set T`, or `cursor ahead set T`.
    fn cursor(&mut self, rest: &str) -> Result<String, EngineError> {
        let (reference, to) = rest.split_once(" set ").unwrap();
        let (to, clock) = (to.parse().unwrap(), self.clock());
        let moved = match reference {
            "ahead" => engine::set_cursors_back(self.store, &clock, to, Mode::Write)?,
            reference => vec![engine::set_cursor(self.store, &clock, reference, to, Mode::Write)?],
        };
        let mut answer = String::new();
        for Moved { reference, before, cursor, skipped, restored } in moved {
            let text = |cursor: Option<Instant>| {
                cursor.map_or("none".to_owned(), |cursor| cursor.to_string())
            };
            let (before, cursor) = (text(before), text(cursor));
            writeln!(answer, "{reference} from {before} to {cursor} restored {restored}").unwrap();
            skipped.iter().for_each(|skip| writeln!(answer, "{}", skip_line(skip)).unwrap());
        }
        Ok(answer)
    }

    /// `prune DURATION [prefix REF]`.
    fn prune(&mut self, rest: &str, mode: Mode) -> Result<String, EngineError> {
        let (older_than, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let older_than_ms = duration::parse_ms(older_than).unwrap();
        let prefix = options(rest).get("prefix").copied().unwrap_or("");
        let matches = |reference: &str| reference.starts_with(prefix);
        let clock = self.clock();
        let mut answer = String::new();
        for pruned in engine::prune(self.store, &clock, &matches, older_than_ms, mode)? {
            let Pruned { reference, horizon, runs, skips } = pruned;
            writeln!(answer, "{reference} runs {runs} skips {skips} horizon {horizon}").unwrap();
        }
        Ok(answer)
    }

    /// `explain REF FROM TO`.
    fn explain(&mut self, rest: &str) -> Result<String, EngineError> {
        let (reference, from, to) = stretch(rest);
        let clock = self.clock();
        let mut answer = String::new();
        engine::explain(self.store, &clock, reference, (from, to), |explained| {
            let paused =
                explained.pause.map_or(String::new(), |pause| format!(" paused {}", pause.from));
            let fate = match explained.fate {
                Fate::Recorded { run, .. } => run_line(&run).trim_end().to_owned(),
                Fate::Skipped(skip) => skip_line(&skip),
                Fate::ToBeSkipped(skip) => format!(
                    "to be skipped {} to {} count {} {}",
                    skip.first,
                    skip.last,
                    skip.count,
                    skip.reason.as_str()
                ),
                Fate::Owed(run) => format!("{} owed", run.occurrence),
                Fate::NotYetDue(run) => format!("{} not yet due", run.occurrence),
                Fate::Pruned(run) => format!("{} pruned", run.occurrence),
                Fate::PrunedRequest { occurrence, request_id } => {
                    format!("{occurrence} pruned, request {request_id}")
                }
                Fate::BeforeRegistration(run) => format!("{} not owed", run.occurrence),
                Fate::NoSchedule { from, to, .. } => format!("{from} to {to} no schedule"),
            };
            writeln!(answer, "{fate}{paused}").unwrap();
            Ok::<(), EngineError>(())
        })?;
        Ok(answer)
    }

    /// `coverage REF FROM TO`.
    fn coverage(&mut self, rest: &str) -> Result<String, EngineError> {
        let (reference, from, to) = stretch(rest);
        let clock = self.clock();
        let coverage = engine::coverage(self.store, &clock, reference, from, to)?;
        let mut answer = String::new();
        for (span, cover) in &coverage.spans {
            writeln!(answer, "{} {}", window(*span), cover.as_str()).unwrap();
        }
        let share = coverage.evaluated_millionths();
        let share = share.map_or("nothing".to_owned(), |millionths| millionths.to_string());
        writeln!(answer, "evaluated {share} of a million").unwrap();
        Ok(answer)
    }
}

/// `REF FROM TO`.
fn stretch(text: &str) -> (&str, Instant, Instant) {
    let mut parts = text.split(' ');
    let mut next = || parts.next().unwrap();
    (next(), next().parse().unwrap(), next().parse().unwrap())
}

/// `key value` pairs; the value of `error` and `output` is the rest of the line.
fn options(text: &str) -> HashMap<&str, &str> {
    let mut options = HashMap::new();
    let mut rest = text;
    while let Some((key, value)) = rest.split_once(' ') {
        let (value, after) = match key {
            "error" | "output" => (value, ""),
            _ => value.split_once(' ').unwrap_or((value, "")),
        };
        options.insert(key, value);
        rest = after;
    }
    options
}

fn window(window: Window) -> String {
    format!("{}/{}", window.start, window.end)
}

fn run_line(run: &RunRecord) -> String {
    let available = match (run.available, run.state.as_str()) {
        (Some(expiry), "claimed") => format!(" until {expiry}"),
        (Some(from), _) => format!(" from {from}"),
        (None, _) => String::new(),
    };
    let output = run.output.as_ref().map_or(String::new(), |output| format!(" output {output}"));
    format!("{} {}{available} attempts {}{output}\n", run.id(), run.state.as_str(), run.attempts)
}

fn skip_line(skip: &SkipRecord) -> String {
    let reason = skip.reason.as_str();
    format!("skip {} {} to {} count {} {reason}", skip.reference, skip.first, skip.last, skip.count)
}

#[test]
fn every_story_goes_as_told_on_every_store() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stories");
    let scratch = tempfile::tempdir().unwrap();
    let mut told = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let on_model = tell(&text, &mut ModelStore::new());
        let on_sqlite = tell(&text, &mut SqliteStore::open(&scratch.path().join(&name)).unwrap());
        assert_eq!(on_model, on_sqlite, "{name}: the model (left) and SQLite (right) differ");
        #[cfg(feature = "postgres")]
        if let Some(scratch) = crate::postgres::scratch() {
            let on_postgres = tell(&text, &mut scratch.open());
            assert_eq!(on_model, on_postgres, "{name}: the model (left) and PostgreSQL differ");
        }
        if crate::setting("UPDATE_FIXTURES").is_some() {
            fs::write(&path, &on_model).unwrap();
        } else if on_model != text {
            let differing = on_model.lines().zip(text.lines()).find(|(is, told)| is != told);
            wrong.push(format!("{name}: now (left), told (right): {differing:?}"));
        }
        told += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(told >= 30, "only {told} stories were told");
}
