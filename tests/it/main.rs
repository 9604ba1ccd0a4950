//! The one integration test binary.

mod calendar;
mod tidy;
