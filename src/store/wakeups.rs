//! Being told that other writers have made work due earlier, instead of only looking again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Is called, from another thread, when there may be work earlier than anybody knew. It may be called
/// without need, and where the store is out of reach for a while it may not be called at all: look
/// again now and then all the same.
pub type Wake = Box<dyn Fn() + Send>;

/// Listens to other writers of a store until it is dropped.
#[derive(Debug)]
pub struct Wakeups {
    is_over: Arc<AtomicBool>,
}

impl Wakeups {
    /// What is dropped to end the listening, and what tells the one who listens that it was.
    #[cfg(feature = "postgres")]
    pub(super) fn new() -> (Wakeups, Arc<AtomicBool>) {
        let is_over = Arc::new(AtomicBool::new(false));
        (Wakeups { is_over: Arc::clone(&is_over) }, is_over)
    }
}

impl Drop for Wakeups {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
