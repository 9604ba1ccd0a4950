//! The numbers that stand for words in stored rows. They are part of the format: a code is never
//! given another meaning.

use crate::plan::SkipReason;
use crate::schedule::{FirstRun, Overlap};
use crate::time::Resolution;

use super::record::{ClockKind, Outcome, Resume, RunState};

/// A value that is stored as a small number.
pub(crate) trait Code: Sized + Copy {
    /// The number.
    fn code(self) -> i64;
    /// The value that a number stands for.
    fn from_code(code: i64) -> Option<Self>;
}

/// Both directions from one list; a new variant does not compile until it has a number.
macro_rules! codes {
    ($type:ident { $($variant:ident = $code:literal),+ $(,)? }) => {
        impl Code for $type {
            fn code(self) -> i64 {
                match self { $($type::$variant => $code),+ }
            }

            fn from_code(code: i64) -> Option<$type> {
                match code { $($code => Some($type::$variant),)+ _ => None }
            }
        }
    };
}

codes!(RunState {
    Pending = 0,
    Claimed = 1,
    Succeeded = 2,
    Failed = 3,
    Abandoned = 4,
    Cancelled = 5,
});
codes!(Outcome { Succeeded = 0, Failed = 1, Released = 2, Expired = 3 });
codes!(ClockKind { System = 0, Test = 1 });
codes!(SkipReason {
    FirstRun = 0,
    Superseded = 1,
    BeyondLimit = 2,
    TooOld = 3,
    Overlap = 4,
    Paused = 5,
    Retired = 6,
    TzChange = 7,
    TzPassed = 8,
    CursorSet = 9,
});
codes!(Resolution { Exact = 0, GapShifted = 1, GapNext = 2, FoldFirst = 3, FoldLast = 4 });
codes!(Resume { CatchUp = 0, Drop = 1 });
codes!(FirstRun { Newest = 0, Next = 1 });
codes!(Overlap { Allow = 0, Wait = 1, Skip = 2 });
