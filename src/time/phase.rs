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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the reference implementation (xxhash 0.8). They never change.
    #[test]
    fn phases_are_frozen() {
        let hashes = [
            ("", 0x2d06_8005_38d3_94c2_u64),
            ("a", 0xe6c6_32b6_1e96_4e1f),
            ("workflow/checkout-slo", 0x2042_c79f_4f79_28f9),
        ];
        for (reference, hash) in hashes {
            for cap_ms in [1, 1_000, 300_000, PHASE_CAP_MS, 3_660 * 86_400_000] {
                let phase_ms = (hash % cap_ms as u64) as i64;
                assert_eq!(
                    spread_phase_ms(reference, cap_ms),
                    phase_ms,
                    "{reference} below {cap_ms}"
                );
            }
        }
    }
}
