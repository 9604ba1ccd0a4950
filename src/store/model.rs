//! The reference store: ordered maps in memory, as plain as can be.
