//! How much faster `large_array_sum` is on more threads: the same ten million numbers, on one thread and on two.
//!
//! `cargo run --release -p ganger-worker --example array_sum`

use std::hint::black_box;
use std::num::NonZero;
use std::process::ExitCode;
use std::time::Duration;

use ganger_worker::kinds::large_array_sum::sum;
use tokio::time::Instant;

/// How many are added up. As JSON they would be far beyond the largest payload: this is the handler without its parser.
const NUMBERS: usize = 10_000_000;
/// Runs of which the fastest counts: whatever else the machine does only ever makes one slower.
const RUNS: u32 = 15;
/// What two threads must bring.
const SPEED_UP: f64 = 1.6;

fn fastest(numbers: &[i64], threads: u16) -> Duration {
    let threads = NonZero::new(threads).expect("not zero");
    let run = |_| {
        let began = Instant::now();
        black_box(sum(black_box(numbers), threads).expect("threads"));
        began.elapsed()
    };
    (0..RUNS).map(run).min().expect("some runs")
}

fn main() -> ExitCode {
    // Any numbers do; these differ and are the same each time.
    let numbers: Vec<i64> =
        (0..NUMBERS as i64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)).collect();
    let (one, two) = (fastest(&numbers, 1), fastest(&numbers, 2));
    let faster = one.as_secs_f64() / two.as_secs_f64();
    println!(
        "large_array_sum of {NUMBERS} numbers: {one:.2?} on one thread, {two:.2?} on two, {faster:.2} times as fast"
    );
    if faster < SPEED_UP {
        println!("less than {SPEED_UP}: is a second core free?");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
