//! Phase: a hash of the workflow's name spreads the starts of its runs.

use twox_hash::XxHash3_64;

/// The longest default phase of an interval, and the cap of `{"spread": {}}` on a calendar
/// cadence: 15 minutes.
pub const PHASE_CAP_MS: i64 = 15 * 60 * 1_000;

/// The phase of the workflow named `reference` under a cap of `cap_ms` (at least 1), in
/// milliseconds from 0 up to but not including the cap.
///
/// It is XXH3-64 with seed 0 over the name's UTF-8 bytes, modulo the cap, and frozen for ever:
/// the same on every host and in every version.
///
/// ```
/// assert_eq!(windowpane::time::spread_phase_ms("workflow/checkout-slo", 300_000), 65_145);
/// ```
pub fn spread_phase_ms(reference: &str, cap_ms: i64) -> i64 {
    let cap = u64::try_from(cap_ms.max(1)).unwrap_or(1);
    (XxHash3_64::oneshot(reference.as_bytes()) % cap) as i64
}
