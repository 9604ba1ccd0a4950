//! Any text as a duration, an instant, a cron expression and a line of a batch: read or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use windowpane::time::{Cron, Instant, duration};
use windowpane::wire::read_batch;

fuzz_target!(|text: &str| {
    if let Ok(ms) = duration::parse_ms(text) {
        assert_eq!(duration::parse_ms(&duration::format_ms(ms)), Ok(ms), "{text}");
    }
    if let Ok(instant) = Instant::parse_with_date(text) {
        assert_eq!(instant.to_string().parse(), Ok(instant), "{text}");
    }
    let _ = Cron::parse(text);
    let _ = read_batch(text.as_bytes(), &["id", "token", "status"]);
});
