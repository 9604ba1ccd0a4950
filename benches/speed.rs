//! How long each path takes: `cargo bench --bench speed`.

mod paths;

use std::time::Duration;

use criterion::{Criterion, Throughput};

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for mut path in paths::all() {
        let jobs = (path.batch)();
        let mut group = criterion.benchmark_group("paths");
        group.throughput(Throughput::Elements(jobs));
        group.bench_function(path.name, |bencher| bencher.iter(&mut path.batch));
        group.finish();
    }
    criterion.final_summary();
}
