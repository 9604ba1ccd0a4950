//! The one integration test binary.

mod calendar;
