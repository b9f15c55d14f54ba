//! The ready index against a sorted list, and its stories one by one.

use proptest::prelude::*;

use super::*;

fn order(priority: i8, arrival: i64, seq: u64) -> Order {
    Order { priority, arrival: Wall(arrival), seq }
}

fn jobs(ready: &Ready, strand: StrandId) -> Vec<u32> {
    ready.iter(strand).map(|(_, job)| job).collect()
}

#[test]
fn larger_priority_goes_first_then_arrival_then_intake() {
    let mut ready = Ready::new();
    let strand = ready.add_strand();
    ready.push(strand, order(0, 20, 1), 1);
    ready.push(strand, order(0, 10, 3), 2);
    ready.push(strand, order(0, 10, 2), 3);
    ready.push(strand, order(i8::MIN, 0, 0), 4);
    ready.push(strand, order(i8::MAX, 99, 9), 5);
    assert_eq!(jobs(&ready, strand), [5, 3, 2, 1, 4]);
    assert_eq!(ready.pop(strand), Some((order(i8::MAX, 99, 9), 5)));
    assert_eq!(ready.head(strand), Some((order(0, 10, 2), 3)));
}

#[test]
fn a_job_handed_back_takes_its_old_place() {
    let mut ready = Ready::new();
    let strand = ready.add_strand();
    for job in 0..10 {
        ready.push(strand, order(0, 0, u64::from(job)), job);
    }
    let first = ready.pop(strand).unwrap();
    let second = ready.pop(strand).unwrap();
    ready.push(strand, second.0, second.1);
    ready.push(strand, first.0, first.1);
    assert_eq!(jobs(&ready, strand), (0..10).collect::<Vec<_>>());
}

#[test]
fn strands_do_not_mix() {
    let mut ready = Ready::new();
    let (a, b) = (ready.add_strand(), ready.add_strand());
    assert_eq!((a, b), (StrandId(0), StrandId(1)));
    ready.push(a, order(0, 0, 0), 7);
    assert!(ready.is_empty(b) && ready.pop(b).is_none());
    assert_eq!(ready.remove(7), Some(a));
    assert_eq!(ready.remove(7), None);
    assert_eq!(ready.remove(1_000), None);
    ready.push(b, order(0, 0, 0), 7);
    assert_eq!((ready.len(a), ready.len(b)), (0, 1));
}

#[test]
fn the_first_and_the_last_know_their_place_exactly_and_the_middle_says_so_when_it_does_not() {
    let mut ready = Ready::new();
    let strand = ready.add_strand();
    for job in 0..1_000 {
        ready.push(strand, order(5, 0, u64::from(job)), job);
        ready.push(strand, order(0, 0, u64::from(job)), 1_000 + job);
    }
    let ahead = |seq, walk| ready.ahead(strand, order(0, 0, seq), walk);
    assert_eq!(ahead(0, 8), Ahead { count: 1_000, exact: true });
    assert_eq!(ahead(2, 8), Ahead { count: 1_002, exact: true });
    assert_eq!(ahead(998, 8), Ahead { count: 1_998, exact: true });
    assert_eq!(ahead(5_000, 1), Ahead { count: 2_000, exact: true });
    assert_eq!(ahead(500, 8), Ahead { count: 1_004, exact: false });
    assert_eq!(ahead(500, 5_000), Ahead { count: 1_500, exact: true });
    assert_eq!(ahead(500, 0), Ahead { count: 1_000, exact: false });
    assert_eq!(ready.ahead(strand, order(3, 0, 0), 0), Ahead { count: 1_000, exact: true });
}

#[test]
fn a_queued_job_costs_at_most_forty_bytes_and_a_strand_of_one_priority_one_lane() {
    assert!(size_of::<Node>() <= 40);
    let mut ready = Ready::new();
    let strand = ready.add_strand();
    for job in 0..100 {
        ready.push(strand, order(3, 0, u64::from(job)), job);
    }
    assert_eq!(ready.strands[0].lanes.len(), 1);
    while ready.pop(strand).is_some() {}
    assert!(ready.strands[0].lanes.is_empty());
    assert_eq!(ready.strands[0].ranks, [0; 4]);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "job 3 is ready already")]
fn pushing_a_job_twice_is_a_bug() {
    let mut ready = Ready::new();
    let strand = ready.add_strand();
    ready.push(strand, order(0, 0, 0), 3);
    ready.push(strand, order(0, 0, 1), 3);
}

#[derive(Clone, Debug)]
enum Step {
    /// A job that was never here, or is not here now, at a fresh place or (if it has one) its old place.
    Push {
        strand: u32,
        job: u32,
        priority: i8,
        arrival: i64,
        old_place: bool,
    },
    Pop {
        strand: u32,
    },
    Remove {
        job: u32,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let priority = prop_oneof![4 => -2i8..=2, 1 => any::<i8>()];
    prop_oneof![
        6 => (0u32..3, 0u32..40, priority, 0i64..6, any::<bool>()).prop_map(
            |(strand, job, priority, arrival, old_place)| Step::Push { strand, job, priority, arrival, old_place }
        ),
        2 => (0u32..3).prop_map(|strand| Step::Pop { strand }),
        2 => (0u32..40).prop_map(|job| Step::Remove { job }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_ready_order_equals_a_sorted_list(steps in prop::collection::vec(step(), 0..250)) {
        let mut ready = Ready::new();
        let mut model: [Vec<(Order, u32)>; 3] = Default::default();
        for strand in 0..3 {
            prop_assert_eq!(ready.add_strand(), StrandId(strand));
        }
        let mut places: [Option<Order>; 40] = [None; 40];
        for (seq, step) in (0u64..).zip(steps) {
            match step {
                Step::Push { job, .. } if ready.contains(job) => {}
                Step::Push { strand, job, priority, arrival, old_place } => {
                    let fresh = Order { priority, arrival: Wall(arrival), seq };
                    let place = places[job as usize].filter(|_| old_place).unwrap_or(fresh);
                    places[job as usize] = Some(place);
                    ready.push(StrandId(strand), place, job);
                    model[strand as usize].push((place, job));
                    model[strand as usize].sort();
                }
                Step::Pop { strand } => {
                    let jobs = &mut model[strand as usize];
                    let first = (!jobs.is_empty()).then(|| jobs.remove(0));
                    prop_assert_eq!(ready.head(StrandId(strand)), first);
                    prop_assert_eq!(ready.pop(StrandId(strand)), first);
                }
                Step::Remove { job } => {
                    let strand = (0u32..3).find(|c| model[*c as usize].iter().any(|(_, j)| *j == job));
                    model.iter_mut().for_each(|jobs| jobs.retain(|(_, j)| *j != job));
                    prop_assert_eq!(ready.remove(job), strand.map(StrandId));
                    prop_assert!(!ready.contains(job));
                }
            }
            for (strand, jobs) in (0..).map(StrandId).zip(&model) {
                prop_assert_eq!(&ready.iter(strand).collect::<Vec<_>>(), jobs);
                prop_assert_eq!((ready.len(strand), ready.is_empty(strand)), (jobs.len(), jobs.is_empty()));
                prop_assert_eq!(ready.head(strand), jobs.first().copied());
            }
        }
        for (strand, jobs) in (0..).map(StrandId).zip(&model) {
            for (count, (place, _)) in jobs.iter().enumerate() {
                prop_assert_eq!(ready.ahead(strand, *place, 80), Ahead { count, exact: true });
                for walk in 0..6 {
                    let ahead = ready.ahead(strand, *place, walk);
                    prop_assert!(ahead.count == count || (!ahead.exact && ahead.count < count));
                }
            }
        }
    }
}
