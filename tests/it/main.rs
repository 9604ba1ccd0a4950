//! The one integration test binary.

mod calendar;
mod cli;
mod lifecycle;
mod store_suite;
mod tidy;
