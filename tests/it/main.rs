//! The one integration test binary.

mod lifecycle;
mod store_suite;
