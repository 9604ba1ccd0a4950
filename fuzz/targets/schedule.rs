//! Any text as a schedule: what is read means the same when it is written and read again, can be
//! said in words, and its occurrences are in order, in both directions.

#![no_main]

use libfuzzer_sys::fuzz_target;
use windowpane::schedule::{Definition, Schedule};
use windowpane::time::Instant;

/// 2026-12-01, and a thousand years later.
const MOMENTS_MS: [i64; 2] = [1_796_083_200_000, 33_353_078_400_000];

fuzz_target!(|text: &str| {
    let Ok(schedule) = Schedule::from_json(text) else { return };
    let definition = &schedule.definition;
    let canonical = definition.to_canonical();
    assert_eq!(Definition::from_canonical(&canonical).as_ref(), Some(definition), "{canonical}");
    assert!(!schedule.describe().is_empty());
    let cadence = definition.cadence();
    let moments = MOMENTS_MS.iter().filter_map(|ms| Instant::from_ms(*ms).ok());
    for moment in moments.chain([Instant::MIN, Instant::MAX]) {
        if let Some(next) = cadence.next(moment) {
            assert!(next > moment);
            assert_eq!(cadence.at_or_after(next), Some(next));
            assert!(cadence.prev(next).is_none_or(|prev| prev <= moment));
        }
        if let Some(prev) = cadence.prev(moment) {
            assert!(prev < moment);
            assert!(cadence.next(prev).is_none_or(|next| next >= moment));
        }
    }
});
