//! Does each path once, for `benches/instructions` to count its machine instructions.
//!
//! With no argument each path is named with how many of its job one batch does.

mod paths;

/// The only function whose instructions are counted; it is dumped each time it returns.
#[inline(never)]
fn counted_batch(batch: &mut dyn FnMut() -> u64) -> u64 {
    std::hint::black_box(batch())
}

fn main() {
    for mut path in paths::all() {
        // What is made once for each process, such as the table of a zone, is made here.
        (path.batch)();
        let jobs = counted_batch(&mut path.batch);
        println!("{jobs} {}", path.name);
    }
}
