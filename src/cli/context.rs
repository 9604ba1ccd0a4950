//! What every command is given.

use crate::clock::Clock;

use super::args::Common;
use super::console::Console;

/// What every command is given besides its own arguments.
pub(super) struct Context {
    /// Where `now` comes from.
    pub(super) clock: Box<dyn Clock>,
    /// Where it writes.
    pub(super) console: Console,
}

impl Context {
    pub(super) fn new(common: &Common) -> Context {
        Context { clock: common.clock(), console: Console::new(common.format) }
    }
}
