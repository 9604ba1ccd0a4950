//! Whether to do something, or only to tell what would be done.

/// Whether to carry a change out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Carry it out.
    Write,
    /// Only tell what it would change.
    DryRun,
}

impl Mode {
    /// [`Mode::DryRun`] where it is asked for.
    pub fn dry_run(is_asked_for: bool) -> Mode {
        if is_asked_for { Mode::DryRun } else { Mode::Write }
    }
}
