//! The checksum over the columns of a row: XXH3-64, so that a flipped bit does not pass as data.
