//! The wheel against a sorted map, and its stories one by one.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

const DAY: Duration = Duration::from_secs(24 * 3600);

fn fire(wheel: &mut Wheel<u32>, now: Mono) -> Vec<(Mono, u32)> {
    let mut fired = Vec::new();
    wheel.advance(now, &mut fired);
    fired
}

#[test]
fn a_timer_fires_at_its_microsecond_and_not_one_earlier() {
    let mut wheel = Wheel::new(Mono(1_000_000));
    wheel.insert(Mono(1_002_500), 1);
    wheel.insert(Mono(1_002_501), 2);
    assert_eq!(fire(&mut wheel, Mono(1_002_499)), []);
    assert_eq!(fire(&mut wheel, Mono(1_002_500)), [(Mono(1_002_500), 1)]);
    assert_eq!(fire(&mut wheel, Mono(1_002_500)), []);
    assert_eq!(fire(&mut wheel, Mono(1_002_501)), [(Mono(1_002_501), 2)]);
    assert!(wheel.is_empty());
}

#[test]
fn timers_of_one_moment_fire_in_order_of_insertion_wherever_they_waited() {
    let at = Mono(0) + DAY;
    let mut wheel = Wheel::new(Mono(0));
    wheel.insert(at, 1);
    wheel.insert(at, 2);
    assert_eq!(fire(&mut wheel, at - Duration::from_millis(70)), []);
    wheel.insert(at, 3);
    assert_eq!(fire(&mut wheel, at - Duration::from_micros(1)), []);
    wheel.insert(at, 4);
    wheel.insert(at - Duration::from_micros(1), 0);
    let order: Vec<u32> = fire(&mut wheel, at).into_iter().map(|(_, item)| item).collect();
    assert_eq!(order, [0, 1, 2, 3, 4]);
}

#[test]
fn a_timer_set_in_the_past_fires_at_the_next_advance_under_its_own_moment() {
    let mut wheel = Wheel::new(Mono(5_000_000));
    wheel.insert(Mono(7), 1);
    assert_eq!(wheel.next(), Some(Mono(1_000)));
    assert_eq!(fire(&mut wheel, Mono(5_000_000)), [(Mono(7), 1)]);
}

#[test]
fn an_old_id_cancels_nothing_even_when_its_place_was_taken_again() {
    let mut wheel = Wheel::new(Mono(0));
    let old = wheel.insert(Mono(10), 1);
    assert_eq!(fire(&mut wheel, Mono(10)), [(Mono(10), 1)]);
    let new = wheel.insert(Mono(20_000), 2);
    assert_eq!(new.place, old.place);
    assert_eq!(wheel.cancel(old), None);
    assert_eq!(wheel.cancel(new), Some(2));
    assert_eq!(wheel.cancel(new), None);
    assert_eq!(wheel.next(), None);
}

#[test]
fn a_place_that_used_up_its_generations_is_never_given_out_again() {
    let mut wheel = Wheel::new(Mono(0));
    let first = wheel.insert(Mono(10), 1);
    wheel.nodes[first.place as usize].generation = u32::MAX;
    let last = TimerId { generation: u32::MAX, ..first };
    assert_eq!(wheel.cancel(last), Some(1));
    assert_eq!(wheel.cancel(last), None);
    assert_ne!(wheel.insert(Mono(10), 2).place, first.place);
}

#[test]
fn a_timer_beyond_the_range_of_the_wheel_is_neither_lost_nor_early() {
    let range = Duration::from_millis(1 << 36);
    let mut wheel = Wheel::new(Mono(123_456));
    let moments =
        [range - DAY, range, range + DAY, range * 2, range * 100].map(|after| Mono(123_456) + after);
    for (item, at) in (0..).zip(moments) {
        wheel.insert(at, item);
    }
    wheel.insert(Mono(u64::MAX), 99);
    for (item, at) in (0..).zip(moments) {
        assert_eq!(fire(&mut wheel, at - Duration::from_micros(1)), []);
        assert_eq!(fire(&mut wheel, at), [(at, item)]);
    }
    assert_eq!(fire(&mut wheel, Mono(u64::MAX - 1)), []);
    assert_eq!(fire(&mut wheel, Mono(u64::MAX)), [(Mono(u64::MAX), 99)]);
}

/// Following `next` blindly must reach a far timer in a bounded number of steps: one per level.
#[test]
fn waking_only_when_told_reaches_a_far_timer_within_a_step_per_level() {
    let at = Mono(987_654_321) + DAY * 300;
    let mut wheel = Wheel::new(Mono(987_654_321));
    wheel.insert(at, 1);
    for steps in 1.. {
        assert!(steps <= LEVELS + 1, "still waiting after {steps} steps");
        let next = wheel.next().unwrap();
        let fired = fire(&mut wheel, next);
        if !fired.is_empty() {
            assert_eq!(fired, [(at, 1)]);
            assert!(next.since(at) < Duration::from_micros(TICK));
            break;
        }
    }
    assert_eq!(wheel.next(), None);
}

#[test]
fn an_id_is_eight_bytes() {
    assert_eq!(size_of::<TimerId>(), 8);
}

#[derive(Clone, Debug)]
enum Step {
    Insert { after: i64 },
    Cancel { which: prop::sample::Index },
    Advance { by: u64 },
    FollowNext,
}

/// Spans of every size, from within one tick to beyond the wheel's range.
fn span() -> impl Strategy<Value = u64> {
    let of_any_size = (0u32..48, any::<u64>()).prop_map(|(bits, n)| n & ((1 << bits) - 1));
    prop_oneof![20 => of_any_size, 6 => 0u64..3_000, 1 => (1u64 << 44)..(1 << 52)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => span().prop_map(|after| Step::Insert { after: after as i64 }),
        1 => (0i64..5_000_000).prop_map(|ago| Step::Insert { after: -ago }),
        3 => any::<prop::sample::Index>().prop_map(|which| Step::Cancel { which }),
        4 => span().prop_map(|by| Step::Advance { by }),
        3 => Just(Step::FollowNext),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_wheel_equals_a_sorted_map(start in span(), steps in prop::collection::vec(step(), 0..150)) {
        let mut now = Mono(start);
        let mut wheel = Wheel::new(now);
        let mut model: BTreeMap<(Mono, u32), TimerId> = BTreeMap::new();
        let mut ids: Vec<(Mono, u32, TimerId)> = Vec::new();
        for (item, step) in (0u32..).zip(steps) {
            match step {
                Step::Insert { after } => {
                    let at = Mono(now.0.saturating_add_signed(after));
                    let id = wheel.insert(at, item);
                    model.insert((at, item), id);
                    ids.push((at, item, id));
                }
                Step::Cancel { which } if !ids.is_empty() => {
                    let (at, item, id) = *which.get(&ids);
                    let there = model.remove(&(at, item)).map(|_| item);
                    prop_assert_eq!(wheel.cancel(id), there);
                }
                Step::Cancel { .. } => {}
                Step::Advance { by } => now = Mono(now.0 + by),
                Step::FollowNext => now = wheel.next().map_or(now, |next| next.max(now)),
            }
            if let Some(((first, _), _)) = model.first_key_value() {
                let rounded = Mono(first.0.div_ceil(TICK) * TICK);
                prop_assert!(wheel.next().is_some_and(|next| next <= rounded));
            } else {
                prop_assert_eq!(wheel.next(), None);
            }
            let mut expected = Vec::new();
            while let Some(entry) = model.first_entry().filter(|entry| entry.key().0 <= now) {
                expected.push(entry.remove_entry().0);
            }
            prop_assert_eq!(fire(&mut wheel, now), expected);
            prop_assert_eq!(wheel.len(), model.len());
        }
        let rest: Vec<(Mono, u32)> = model.into_keys().collect();
        prop_assert_eq!(fire(&mut wheel, Mono(u64::MAX)), rest);
        prop_assert!(wheel.is_empty() && wheel.occupied == [0; LEVELS] && wheel.near.is_empty());
    }
}
