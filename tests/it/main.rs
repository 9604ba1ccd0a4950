//! The one integration test binary.

mod calendar;
mod lifecycle;
mod store_suite;
mod tidy;
