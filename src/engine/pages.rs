//! Rows of a store, read page by page.

use std::collections::VecDeque;

use crate::store::StoreError;

use super::EngineError;

/// How many rows are read from the store at once: few at first, since most claims want few.
const FIRST_PAGE: usize = 2;
const PAGE_AT_MOST: usize = 256;

/// Rows of the store in the order of their reading, of which one page is kept.
pub(super) struct Pages<T> {
    rows: VecDeque<T>,
    last: Option<T>,
    ended: bool,
    /// How many are read next.
    page: usize,
}

/// Whether rows were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// What was there was enough.
    Nothing,
    /// At least one page.
    More,
}

impl<T: Clone> Pages<T> {
    pub(super) fn new() -> Pages<T> {
        Pages { rows: VecDeque::new(), last: None, ended: false, page: FIRST_PAGE }
    }

    pub(super) fn front(&self) -> Option<&T> {
        self.rows.front()
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        self.rows.pop_front()
    }

    /// Reads on until a row that is wanted stands at the front, or there are no more. `read` gives
    /// up to so many rows that come after the one it is given.
    pub(super) fn fill(
        &mut self,
        mut read: impl FnMut(Option<&T>, usize) -> Result<Vec<T>, StoreError>,
        wanted: impl Fn(&T) -> bool,
    ) -> Result<Taken, EngineError> {
        let mut taken = Taken::Nothing;
        while self.rows.is_empty() && !self.ended {
            taken = Taken::More;
            let page = read(self.last.as_ref(), self.page)?;
            self.ended = page.len() < self.page;
            self.page = (4 * self.page).min(PAGE_AT_MOST);
            self.last = page.last().cloned().or(self.last.take());
            self.rows.extend(page.into_iter().filter(&wanted));
        }
        Ok(taken)
    }
}
