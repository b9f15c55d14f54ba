//! The coordinator alone: what it costs to take in, dispatch and end a job.
//!
//! No store and no network: every batch is committed as soon as it is handed over, and every job has succeeded as soon as a
//! worker has it. So many jobs wait from the start, so many workers are connected, and so many jobs go through while as many
//! come in. What is told is the time inside the coordinator per job; `bench/instructions` runs it under callgrind, which
//! counts the instructions there, and nothing else.
//!
//! ```sh
//! coordinator --waiting 1000000 --workers 1000 --jobs 200000
//! coordinator --table                     # 10 k to 5 M jobs, 10 to 10 k workers
//! ```

mod world;

use std::time::Instant;

use world::World;

#[cfg(feature = "shipped-allocator")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// One point that is measured.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Jobs that wait all the time.
    waiting: u64,
    /// Workers that are connected.
    workers: u64,
    /// Jobs that go through.
    jobs: u64,
    /// Everything that is told to the coordinator is copied three times, within what is counted: to see that the gate can fail.
    wasteful: bool,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let told = if args.iter().any(|arg| arg == "--table") { table() } else { Point::read(&args).map(tell) };
    if let Err(why) = told {
        eprintln!("error: {why}\nusage: coordinator [--waiting N] [--workers N] [--jobs N] | --table");
        std::process::exit(2);
    }
}

impl Point {
    fn read(args: &[String]) -> Result<Point, String> {
        let mut point = Point { waiting: 10_000, workers: 10, jobs: 10_000, wasteful: false };
        let wasteful = |arg: &&String| *arg == "--wasteful";
        point.wasteful = args.iter().any(|arg| wasteful(&arg));
        let args: Vec<&String> = args.iter().filter(|arg| !wasteful(arg)).collect();
        for pair in args.chunks(2) {
            let [name, value] = *pair else { return Err(format!("{} needs a number", pair[0])) };
            let value = value.parse().map_err(|error| format!("{name} {value}: {error}"))?;
            match name.as_str() {
                "--waiting" => point.waiting = value,
                "--workers" => point.workers = value,
                "--jobs" => point.jobs = value,
                other => return Err(format!("{other} is not known")),
            }
        }
        if point.workers == 0 || point.jobs == 0 || point.waiting < point.jobs.min(1_000) {
            return Err(
                "there must be workers and jobs, and at least 1,000 (or as many as go through) must wait"
                    .into(),
            );
        }
        Ok(point)
    }
}

/// 10 k to 5 M jobs with 10 workers, then 10 to 10 k workers with a million jobs.
fn table() -> Result<(), String> {
    for waiting in [10_000, 100_000, 1_000_000, 5_000_000] {
        tell(Point { waiting, workers: 10, jobs: 200_000, wasteful: false });
    }
    for workers in [100, 1_000, 10_000] {
        tell(Point { waiting: 1_000_000, workers, jobs: 200_000, wasteful: false });
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a measurement: this is its clock")]
fn tell(point: Point) {
    let Point { waiting, workers, jobs, wasteful } = point;
    let clock = Instant::now();
    let mut world = World::new(clock);
    world.submit(waiting);
    world.staff(workers);
    // What every path allocates at first is not part of it.
    world.run(1_000.min(jobs));
    world.count(wasteful);
    let (through, took) = world.run(jobs);
    assert!(world.counted().abs_diff(world.live()) <= 2 * 1_000.max(workers), "its count is ours");
    let each = took.as_nanos() as f64 / through as f64;
    println!("{{\"waiting\":{waiting},\"workers\":{workers},\"jobs\":{through},\"ns_per_job\":{each:.0}}}");
}
