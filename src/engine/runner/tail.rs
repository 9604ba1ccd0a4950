//! The last lines of what a command writes to its stderr.

/// No more than so many bytes of them are kept.
const TAIL_BYTES: usize = 4 * 1024;

/// No more than so many of them become the error text.
const TAIL_LINES: usize = 20;

/// The end of a stream of text.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Tail {
    /// Takes the next piece.
    pub(super) fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        let surplus = self.bytes.len().saturating_sub(TAIL_BYTES);
        if surplus > 0 {
            self.bytes.drain(..surplus);
            self.is_cut = true;
        }
    }

    /// The last lines, without blanks around them.
    pub(super) fn to_text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let whole = match text.split_once('\n') {
            // What a cut leaves of its line tells nothing, unless there is no other.
            Some((_, rest)) if self.is_cut && !rest.trim().is_empty() => rest,
            _ => &text,
        };
        let lines: Vec<&str> = whole.trim().lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &str) {
        let mut tail = Tail::default();
        for piece in pieces {
            tail.push(piece.as_bytes());
        }
        assert_eq!(tail.to_text(), expected);
    }

    #[test]
    fn last_lines() {
        check(&[], "");
        check(&["one\ntw", "o\n\n"], "one\ntwo");
        let many: Vec<String> = (0..30).map(|line| format!("line {line}\n")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        check(&many, many[10..].concat().trim());
    }

    #[test]
    fn bounded() {
        let long = "x".repeat(TAIL_BYTES + 1);
        check(&[&long], &long[1..]);
        check(&[&long, "\nlast\n"], "last");
        let mut tail = Tail::default();
        tail.push(b"\xff\xfe bad");
        assert_eq!(tail.to_text(), "\u{fffd}\u{fffd} bad");
    }
}
