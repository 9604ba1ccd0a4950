//! Does each path once, for `benches/instructions` to count its machine instructions.
//!
//! Each path is named with how many of its job one batch does. An argument chooses paths by a part of
//! their name.

mod paths;

/// The only function whose instructions are counted; it is dumped each time it returns.
#[inline(never)]
fn counted_batch(batch: &mut dyn FnMut() -> u64) -> u64 {
    std::hint::black_box(batch())
}

fn main() {
    // Cargo itself passes `--bench`.
    let chosen =
        std::env::args().skip(1).find(|argument| argument != "--bench").unwrap_or_default();
    for mut path in paths::all().into_iter().filter(|path| path.name.contains(&chosen)) {
        // What is made once for each process, such as the table of a zone, is made here.
        (path.batch)();
        let jobs = counted_batch(&mut path.batch);
        println!("{jobs} {}", path.name);
    }
}
