//! What the end of a command says about its run.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::store::lifecycle::{self, Finish};

use super::output::Output;
use super::tail::Tail;

/// The exit status that asks for another attempt: `EX_TEMPFAIL` of sysexits.
const RETRY_STATUS: i32 = 75;

/// The delay of that attempt: a minute.
const RETRY_IN_MS: i64 = 60 * 1_000;

/// What becomes of a run whose command has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The attempt is over.
    Finish(Finish),
    /// The run is given back.
    Release,
}

/// The verdict on a command that ended by itself.
///
/// Status 0 is success, 75 a failure to be retried in a minute, any other a failure for good. A
/// command that leaves something other than JSON as its output has failed, whatever its status.
pub(super) fn of_exit(status: ExitStatus, output: Output, tail: &Tail) -> Verdict {
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    };
    let retry_in_ms = (status.code() == Some(RETRY_STATUS)).then_some(RETRY_IN_MS);
    match output {
        Output::Bad(problem) => {
            let how = format!("{how}, but WINDOWPANE_OUTPUT is no output: {problem}");
            failure(retry_in_ms, &how, tail, None)
        }
        Output::None if status.success() => success(None),
        Output::Json(json) if status.success() => success(Some(json)),
        Output::None => failure(retry_in_ms, &how, tail, None),
        Output::Json(json) => failure(retry_in_ms, &how, tail, Some(json)),
    }
}

/// The verdict on a command that was ended because it took too long: a failure for good.
pub(super) fn of_timeout(timeout: &str, output: Output, tail: &Tail) -> Verdict {
    let output = match output {
        Output::Json(json) => Some(json),
        Output::None | Output::Bad(_) => None,
    };
    failure(None, &format!("ended after the timeout of {timeout}"), tail, output)
}

/// The verdict on a command that the machine could not start or lost track of: another attempt in
/// a minute.
pub(super) fn of_trouble(error: &std::io::Error) -> Verdict {
    let error = format!("the command could not be carried out: {error}");
    failure(Some(RETRY_IN_MS), &error, &Tail::default(), None)
}

fn success(output: Option<String>) -> Verdict {
    Verdict::Finish(Finish { verdict: lifecycle::Verdict::Succeeded, error: None, output })
}

fn failure(retry_in_ms: Option<i64>, how: &str, tail: &Tail, output: Option<String>) -> Verdict {
    let tail = tail.to_text();
    let error = if tail.is_empty() { how.to_owned() } else { format!("{how}\n{tail}") };
    let verdict = lifecycle::Verdict::Failed { retry_in_ms };
    Verdict::Finish(Finish { verdict, error: Some(error), output })
}
