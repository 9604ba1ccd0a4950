//! The command `windowpane`.

fn main() {}
