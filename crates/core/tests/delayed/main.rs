//! Delayed jobs: what they cost while they wait, and that none of them is early or forgotten.
//!
//! They wait in memory, with a timer each, however far their time is: a million of them cost a few hundred megabytes and
//! nothing per second, which is less than a second place for them, in the store, would cost in what can go wrong.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ganger_core::change::{LiveJob, Snapshot};
use ganger_core::coordinator::Coordinator;
use ganger_core::coordinator::port::{Options, Output};
use ganger_core::event::Event;
use ganger_core::job::{JobOptions, State};
use ganger_core::leadership::Reign;
use ganger_core::rules::Standing;
use ganger_core::{JobId, Mono, Now, Term, Wall};

const START: Wall = Wall(1_750_000_000_000_000);
/// The first is due a day from now, and one more each millisecond after that.
const FIRST: Duration = Duration::from_secs(86_400);

fn at(later: Duration) -> Now {
    Now { mono: Mono(1_000_000) + later, wall: START + later }
}

fn snapshot(jobs: u64) -> Snapshot {
    let (kind, queue) = ("noop".parse().unwrap(), "later".parse().unwrap());
    let options = Arc::new(JobOptions::default());
    let job = |n: u64| LiveJob {
        id: JobId::new(n, [7; 10]),
        kind: ganger_core::name::Kind::clone(&kind),
        queue: ganger_core::name::QueueName::clone(&queue),
        priority: 0,
        seq: n,
        created_at: START,
        due_at: START + FIRST + Duration::from_millis(n),
        retrying: false,
        cancel_wanted: false,
        standing: Standing::default(),
        last_fence: None,
        options: Arc::clone(&options),
    };
    Snapshot { jobs: (0..jobs).map(job).collect(), last_seq: jobs, ..Snapshot::default() }
}

fn leader(jobs: u64) -> Coordinator {
    let term = Term { number: 1, id: 1 };
    let now = at(Duration::ZERO);
    let reign = Reign { term, authority_from: now.mono, waits_from: now.mono };
    Coordinator::new(Options::default(), reign, snapshot(jobs), now)
}

fn counted(coordinator: &Coordinator, state: State) -> u64 {
    coordinator.stats().counts.iter().map(|(.., counts)| counts[state.index()]).sum()
}

/// Jobs that were announced as due.
fn due(out: &[Output]) -> usize {
    let is_due = |output: &&Output| matches!(output, Output::Event(Event::Job { state: State::Queued, .. }));
    out.iter().filter(is_due).count()
}

/// Resident memory of this process, in bytes; nothing where the system does not tell.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[test]
fn a_delayed_job_is_never_early_and_none_is_forgotten() {
    let jobs = 5_000;
    let mut coordinator = leader(jobs);
    assert_eq!(counted(&coordinator, State::Scheduled), jobs);
    let mut out = Vec::new();
    for step in 0..=jobs {
        // One microsecond before a job is due it is not; at its moment it is.
        let moment = FIRST + Duration::from_millis(step);
        coordinator.settle(at(moment - Duration::from_micros(1)), &mut out);
        assert_eq!(due(&out) as u64, step.min(jobs), "before {moment:?}");
        if step < jobs {
            coordinator.settle(at(moment), &mut out);
            assert_eq!(due(&out) as u64, step + 1, "at {moment:?}");
        }
    }
    assert_eq!((counted(&coordinator, State::Scheduled), counted(&coordinator, State::Queued)), (0, jobs));
}

/// Whatever waits, an hour of steps decides nothing, writes nothing but retention, and tells nobody anything.
#[test]
fn waiting_costs_no_work() {
    let mut coordinator = leader(100_000);
    let mut out = Vec::new();
    for second in 1..=3_600 {
        coordinator.settle(at(Duration::from_secs(second)), &mut out);
        let next = coordinator.next_tick();
        assert!(next > at(Duration::from_secs(second)).mono, "it does not wake for them");
    }
    // The comparison with the store asks for one page, which does not come here.
    let pages = out.extract_if(.., |output| matches!(output, Output::ReadLive(_))).count();
    assert!(pages <= 1, "{pages} pages at once");
    let only_prune =
        out.iter().all(|output| matches!(output, Output::Commit(batch) if batch.changes.len() == 1));
    assert!(only_prune && out.len() <= 1, "{out:?}");
    assert_eq!(counted(&coordinator, State::Scheduled), 100_000);
}

/// The figures of docs/benchmarks.md: `cargo test --release -p ganger-core --test delayed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a claim"]
#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a measurement for people")]
fn a_million_delayed_jobs() {
    let jobs = 1_000_000;
    // What is loaded from is gone afterwards, and its memory with it.
    let before = resident();
    let began = Instant::now();
    let mut coordinator = leader(jobs);
    let loaded = began.elapsed();
    let after = resident();
    let bytes = before.zip(after).map(|(before, after)| after.saturating_sub(before) / jobs);
    println!("loading {jobs}: {loaded:?}, at most {bytes:?} bytes of memory each");
    let mut out = Vec::new();
    let began = Instant::now();
    for second in 1..=3_600 {
        coordinator.settle(at(Duration::from_secs(second)), &mut out);
    }
    println!("an hour of steps while they wait: {:?}", began.elapsed());
    let began = Instant::now();
    coordinator.settle(at(FIRST + Duration::from_secs(1_000)), &mut out);
    println!("all of them due at once: {:?}, {} are queued", began.elapsed(), due(&out));
}
