//! A contest: several ways of doing one job, timed in turn in one process, so that what disturbs the
//! machine disturbs all of them.

use std::time::{Duration, Instant};

/// One way of doing the job: a batch of it, which says how often it was done.
pub struct Contender<'a> {
    pub name: &'static str,
    pub batch: Box<dyn FnMut() -> u64 + 'a>,
}

/// What a target says about a contender.
#[derive(Clone, Copy)]
pub enum Target {
    /// Ours is at least so many times as fast.
    Times(f64),
    /// Nothing: it is there to be compared with.
    None,
}

/// A time slice of a contender, long enough to be measured and short enough to be fair.
const SLICE: Duration = Duration::from_millis(8);
/// How often each has its turn. An odd number has a middle.
const ROUNDS: usize = 15;

impl<'a> Contender<'a> {
    pub fn new(name: &'static str, batch: impl FnMut() -> u64 + 'a) -> Contender<'a> {
        Contender { name, batch: Box::new(batch) }
    }

    /// Nanoseconds for each job, over at least one batch and one slice.
    fn slice_ns(&mut self) -> f64 {
        let begun = Instant::now();
        let mut jobs = 0;
        loop {
            jobs += (self.batch)();
            let spent = begun.elapsed();
            if spent >= SLICE {
                return spent.as_nanos() as f64 / jobs as f64;
            }
        }
    }
}

/// Lets ours (the first) and the others run in turn, and prints a line for each of the others.
pub fn run<'a>(job: &str, ours: Contender<'a>, others: Vec<(Contender<'a>, Target)>) {
    let (others, targets): (Vec<_>, Vec<_>) = others.into_iter().unzip();
    let mut all: Vec<_> = std::iter::once(ours).chain(others).collect();
    let mut spent = vec![Vec::with_capacity(ROUNDS); all.len()];
    // One round to warm up.
    for round in 0..=ROUNDS {
        for (one, spent) in all.iter_mut().zip(&mut spent) {
            let ns = one.slice_ns();
            if round > 0 {
                spent.push(ns);
            }
        }
    }
    let ours_ns = &spent[0];
    for ((other, target), other_ns) in all[1..].iter().zip(targets).zip(&spent[1..]) {
        let ratios = other_ns.iter().zip(ours_ns).map(|(other, ours)| other / ours).collect();
        let (ours, others) = (time(median(ours_ns.clone())), time(median(other_ns.clone())));
        line(job, &ours, &format!("{} {others}", other.name), median(ratios), target);
    }
}

/// Prints the head of the table.
pub fn head() {
    println!("| job | ours | beside it | ratio | target | |");
    println!("|---|---|---|---|---|---|");
}

/// Prints a line of the table: how many times as fast as the other ours is.
pub fn line(job: &str, ours: &str, other: &str, ratio: f64, target: Target) {
    let (wanted, verdict) = match target {
        Target::Times(least) => (format!("≥ {least}×"), verdict(ratio >= least)),
        Target::None => (String::new(), ""),
    };
    println!("| {job} | {ours} | {other} | {} | {wanted} | {verdict} |", times(ratio));
}

/// Prints a line about a figure that must stay below another one.
pub fn bound(job: &str, ours: &str, other: &str, is_held: bool, wanted: &str) {
    println!("| {job} | {ours} | {other} | | {wanted} | {} |", verdict(is_held));
}

fn verdict(is_held: bool) -> &'static str {
    if is_held { "held" } else { "**missed**" }
}

fn times(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0}×") } else { format!("{ratio:.1}×") }
}

/// A time with three digits and its unit.
pub fn time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let (size, unit) = units.into_iter().find(|(size, _)| ns >= *size).unwrap_or((1.0, "ns"));
    let number = ns / size;
    let digits = if number >= 100.0 {
        0
    } else if number >= 10.0 {
        1
    } else {
        2
    };
    format!("{number:.digits$} {unit}")
}

/// The middle of some numbers, at least one.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
