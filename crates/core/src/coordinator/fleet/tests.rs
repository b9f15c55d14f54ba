//! The fleet against a plain list of workers, and its stories one by one.

use std::cmp::Reverse;

use proptest::prelude::*;

use super::*;

fn signature(labels: u32) -> Signature {
    let labels = (0..labels).map(|n| (format!("label-{n}"), "yes".to_owned())).collect();
    Signature { queues: BTreeSet::new(), kinds: BTreeSet::new(), labels }
}

/// `n` shown workers of four threads in one group.
fn fleet_of(n: u32) -> (Fleet, GroupId) {
    let mut fleet = Fleet::new();
    for worker in 0..n {
        fleet.join(worker, signature(0), 4);
        fleet.show(worker);
    }
    (fleet, GroupId(0))
}

/// Chooses and assigns so often, and tells who it was.
fn serve(fleet: &mut Fleet, ring: &mut Ring, policy: Policy, times: usize) -> Vec<u32> {
    let mut served = Vec::new();
    for _ in 0..times {
        let worker = fleet.choose(&[GroupId(0)], 1, policy, ring).unwrap();
        fleet.assigned(worker);
        ring.served(fleet, worker);
        served.push(worker);
    }
    served
}

#[test]
fn an_empty_set_serves_all_and_every_required_label_must_match() {
    let queue: QueueName = "mail".parse().unwrap();
    let kind: Kind = "email.send".parse().unwrap();
    let require = |pairs: &[(&str, &str)]| -> Labels {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let mut worker = Signature { labels: require(&[("zone", "a"), ("gpu", "")]), ..signature(0) };
    assert!(worker.serves(&queue, &kind, &Labels::new()));
    assert!(worker.serves(&queue, &kind, &require(&[("zone", "a")])));
    assert!(!worker.serves(&queue, &kind, &require(&[("zone", "b")])));
    assert!(!worker.serves(&queue, &kind, &require(&[("zone", "a"), ("disk", "ssd")])));
    worker.kinds.insert("video.encode".parse().unwrap());
    assert!(!worker.serves(&queue, &kind, &Labels::new()));
    worker.kinds.insert(kind.clone());
    worker.queues.insert("default".parse().unwrap());
    assert!(!worker.serves(&queue, &kind, &Labels::new()));
    worker.queues.insert(queue.clone());
    assert!(worker.serves(&queue, &kind, &Labels::new()));
}

#[test]
fn the_least_recently_used_comes_first_and_newcomers_before_all_others() {
    let (mut fleet, _) = fleet_of(3);
    let mut ring = Ring::default();
    let lru = Policy::LeastRecentlyUsed;
    assert_eq!(serve(&mut fleet, &mut ring, lru, 7), [0, 1, 2, 0, 1, 2, 0]);
    fleet.assigned(1);
    assert_eq!(serve(&mut fleet, &mut ring, lru, 3), [2, 0, 1]);
    for worker in [8, 7] {
        fleet.join(worker, signature(0), 4);
        fleet.show(worker);
    }
    assert_eq!(serve(&mut fleet, &mut ring, lru, 5), [8, 7, 2, 0, 1]);
    fleet.set_free(8, 0);
    assert_eq!(serve(&mut fleet, &mut ring, lru, 2), [7, 2]);
    fleet.set_free(8, 1);
    assert_eq!(serve(&mut fleet, &mut ring, lru, 2), [8, 0]);
}

#[test]
fn round_robin_goes_on_after_the_last_served_even_if_that_one_left() {
    let (mut fleet, group) = fleet_of(4);
    let mut ring = Ring::default();
    let robin = Policy::RoundRobin;
    assert_eq!(serve(&mut fleet, &mut ring, robin, 6), [0, 1, 2, 3, 0, 1]);
    fleet.leave(1);
    fleet.set_free(2, 0);
    assert_eq!(fleet.choose(&[group], 1, robin, &ring), Some(3));
    fleet.set_free(2, 1);
    assert_eq!(serve(&mut fleet, &mut ring, robin, 2), [2, 3]);
    fleet.join(1, signature(0), 4);
    fleet.show(1);
    assert_eq!(serve(&mut fleet, &mut ring, robin, 5), [1, 0, 2, 3, 1]);
    for worker in 0..4 {
        fleet.leave(worker);
    }
    assert_eq!(fleet.choose(&[group], 1, robin, &ring), None);
}

#[test]
fn best_fit_packs_and_spread_spreads_and_ties_go_to_the_least_recently_used() {
    let (mut fleet, group) = fleet_of(4);
    for (worker, free) in [(0, 1), (1, 3), (2, 3), (3, -2)] {
        fleet.set_free(worker, free);
    }
    let choose = |fleet: &Fleet, at_least, policy| fleet.choose(&[group], at_least, policy, &Ring::default());
    assert_eq!(choose(&fleet, 1, Policy::BestFit), Some(0));
    assert_eq!(choose(&fleet, 2, Policy::BestFit), Some(1));
    assert_eq!(choose(&fleet, -2, Policy::BestFit), Some(3));
    assert_eq!(choose(&fleet, -9, Policy::Spread), Some(1));
    fleet.assigned(1);
    assert_eq!(choose(&fleet, 2, Policy::BestFit), Some(2));
    assert_eq!(choose(&fleet, 2, Policy::Spread), Some(2));
    assert_eq!(choose(&fleet, 4, Policy::Spread), None);
    assert_eq!(choose(&fleet, 4, Policy::BestFit), None);
}

#[test]
fn a_hidden_worker_counts_for_capacity_but_is_never_chosen() {
    let (mut fleet, group) = fleet_of(1);
    fleet.join(9, signature(0), limits::THREADS);
    assert_eq!((fleet.widest(group), fleet.members(group)), (limits::THREADS, 2));
    assert_eq!(fleet.max_free(group), Some(4));
    assert_eq!(fleet.roomiest(group, 5), None);
    fleet.show(9);
    fleet.set_free(9, -i32::from(limits::PREFETCH));
    assert_eq!(fleet.roomiest(group, 5), Some(9));
    assert_eq!(fleet.roomiest(group, 4), Some(0));
    fleet.hide(0);
    fleet.hide(9);
    assert_eq!(fleet.max_free(group), None);
    assert_eq!(fleet.choose(&[group], i32::MIN, Policy::LeastRecentlyUsed, &Ring::default()), None);
}

#[test]
fn a_group_keeps_its_number_until_it_is_forgotten() {
    let mut fleet = Fleet::new();
    let one = fleet.join(0, signature(1), 4);
    assert!(!fleet.forget(one));
    fleet.leave(0);
    assert_eq!((fleet.groups().count(), fleet.widest(one)), (0, 0));
    assert_eq!(fleet.join(0, signature(1), 4), one);
    fleet.leave(0);
    assert!(fleet.forget(one) && fleet.forget(one));
    assert_eq!(fleet.join(0, signature(2), 4), one);
    assert_eq!(fleet.signature(one), &signature(2));
    assert_ne!(fleet.join(1, signature(1), 4), one);
}

#[test]
fn forgetting_a_number_twice_does_not_touch_the_group_that_has_its_signature_now() {
    let mut fleet = Fleet::new();
    let (a, b) = (fleet.join(0, signature(1), 4), fleet.join(1, signature(2), 4));
    for (worker, group) in [(0, a), (1, b)] {
        fleet.leave(worker);
        assert!(fleet.forget(group));
    }
    assert_eq!(fleet.join(0, signature(1), 4), b);
    assert!(fleet.forget(a));
    assert_eq!(fleet.join(1, signature(1), 4), b);
    assert_eq!(fleet.join(2, signature(2), 4), a);
}

/// More workers than a bitmap of bitmaps has bits in its first word, in a fixed but irregular sequence.
#[test]
fn five_thousand_workers_are_chosen_from_as_few_are() {
    const MANY: u32 = 5_000;
    let (mut fleet, group) = fleet_of(MANY);
    let member = |worker| Model {
        worker,
        signature: 0,
        threads: 4,
        free: 4,
        shown: true,
        joined: worker as usize,
        used: (false, worker as usize),
    };
    let mut model: Vec<Model> = (0..MANY).map(member).collect();
    let mut random = 1u64;
    for moment in 0..12_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let worker = (random >> 40) as u32 % MANY;
        let free = (random >> 33) as i32 % 5;
        fleet.assigned_leaving(worker, free);
        model[worker as usize].free = free;
        model[worker as usize].used = (true, moment);
        if moment % 100 == 0 {
            let mut ring = Ring::default();
            ring.served(&fleet, worker);
            let fit: Vec<&Model> = model.iter().filter(|m| m.free >= free).collect();
            for policy in Policy::ALL {
                let chosen = fleet.choose(&[group], free, policy, &ring);
                assert_eq!(chosen, choose(&fit, policy, Some(worker as usize)), "{policy:?} at {moment}");
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Join { worker: u32, signature: u32, threads: u16 },
    Leave { worker: u32 },
    Show { worker: u32 },
    Hide { worker: u32 },
    SetFree { worker: u32, free: i32 },
    Assigned { worker: u32 },
    AssignedLeaving { worker: u32, free: i32 },
    Serve { groups: u32, at_least: i32, policy: usize },
}

#[derive(Clone, Debug)]
struct Model {
    worker: u32,
    signature: u32,
    threads: u16,
    free: i32,
    shown: bool,
    joined: usize,
    /// Smaller is less recent; joining counts as long ago.
    used: (bool, usize),
}

const WORKERS: u32 = 24;

fn step() -> impl Strategy<Value = Step> {
    let worker = || 0..WORKERS;
    let free = || prop_oneof![6 => -3i32..=6, 1 => -256i32..=1024];
    prop_oneof![
        4 => (worker(), 0u32..3, 1u16..6).prop_map(|(worker, signature, threads)| Step::Join { worker, signature, threads }),
        1 => worker().prop_map(|worker| Step::Leave { worker }),
        4 => worker().prop_map(|worker| Step::Show { worker }),
        1 => worker().prop_map(|worker| Step::Hide { worker }),
        4 => (worker(), free()).prop_map(|(worker, free)| Step::SetFree { worker, free }),
        2 => worker().prop_map(|worker| Step::Assigned { worker }),
        1 => (worker(), free()).prop_map(|(worker, free)| Step::AssignedLeaving { worker, free }),
        8 => (1u32..8, free(), 0usize..4).prop_map(|(groups, at_least, policy)| Step::Serve { groups, at_least, policy }),
    ]
}

/// What the policies say, word by word.
fn choose(fit: &[&Model], policy: Policy, last: Option<usize>) -> Option<u32> {
    let chosen = match policy {
        Policy::LeastRecentlyUsed => fit.iter().min_by_key(|m| m.used),
        Policy::RoundRobin => {
            fit.iter().min_by_key(|m| (last.is_some_and(|last| m.joined <= last), m.joined))
        }
        Policy::BestFit => fit.iter().min_by_key(|m| (m.free, m.used)),
        Policy::Spread => fit.iter().min_by_key(|m| (Reverse(m.free), m.used)),
    };
    chosen.map(|m| m.worker)
}

/// Everything a group says about itself.
fn compare(fleet: &Fleet, model: &[Model], groups: &[Option<GroupId>; 3]) -> Result<(), TestCaseError> {
    for (number, group) in (0..).zip(groups) {
        let members: Vec<&Model> = model.iter().filter(|m| m.signature == number).collect();
        let Some(group) = *group else { continue };
        let shown = || members.iter().filter(|m| m.shown);
        prop_assert_eq!(fleet.members(group), members.len());
        prop_assert_eq!(fleet.max_free(group), shown().map(|m| m.free).max());
        let free: i32 = shown().map(|m| m.free.max(0)).sum();
        prop_assert_eq!(fleet.free_threads(group), u64::try_from(free).unwrap());
        prop_assert_eq!(fleet.widest(group), members.iter().map(|m| m.threads).max().unwrap_or(0));
        for threads in 0..6 {
            let wide = shown().filter(|m| m.threads >= threads);
            let roomiest = wide.min_by_key(|m| (Reverse(m.free), m.used)).map(|m| m.worker);
            prop_assert_eq!(fleet.roomiest(group, threads), roomiest);
        }
        let listed = fleet.groups().any(|(id, is)| id == group && *is == signature(number));
        prop_assert_eq!(listed, !members.is_empty());
    }
    for m in model {
        let said = (fleet.free(m.worker), fleet.threads(m.worker), fleet.is_shown(m.worker));
        prop_assert_eq!(said, (m.free, m.threads, m.shown));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_fleet_chooses_as_a_plain_search_does(steps in prop::collection::vec(step(), 0..250)) {
        let mut fleet = Fleet::new();
        let mut model: Vec<Model> = Vec::new();
        let mut groups: [Option<GroupId>; 3] = [None; 3];
        let mut ring = Ring::default();
        let mut last = None;
        for (moment, step) in steps.into_iter().enumerate() {
            let find = |model: &[Model], worker| model.iter().position(|m| m.worker == worker);
            match step {
                Step::Join { worker, signature: number, threads } if !fleet.has(worker) => {
                    let id = fleet.join(worker, signature(number), threads);
                    prop_assert_eq!(*groups[number as usize].get_or_insert(id), id);
                    prop_assert_eq!(fleet.group(worker), id);
                    let free = i32::from(threads);
                    model.push(Model {
                        worker, signature: number, threads, free, shown: false, joined: moment, used: (false, moment),
                    });
                }
                Step::Join { .. } => {}
                Step::Leave { worker } => {
                    fleet.leave(worker);
                    model.retain(|m| m.worker != worker);
                }
                Step::Show { worker } => if let Some(at) = find(&model, worker) {
                    fleet.show(worker);
                    model[at].shown = true;
                },
                Step::Hide { worker } => if let Some(at) = find(&model, worker) {
                    fleet.hide(worker);
                    model[at].shown = false;
                },
                Step::SetFree { worker, free } => if let Some(at) = find(&model, worker) {
                    fleet.set_free(worker, free);
                    model[at].free = free;
                },
                Step::Assigned { worker } => if let Some(at) = find(&model, worker) {
                    fleet.assigned(worker);
                    model[at].used = (true, moment);
                },
                Step::AssignedLeaving { worker, free } => if let Some(at) = find(&model, worker) {
                    fleet.assigned_leaving(worker, free);
                    model[at].used = (true, moment);
                    model[at].free = free;
                },
                Step::Serve { groups: among, at_least, policy } => {
                    let asked = |number: u32| among & (1 << number) != 0;
                    let ids: Vec<GroupId> =
                        (0..3).filter(|n| asked(*n)).filter_map(|n| groups[n as usize]).collect();
                    let fit: Vec<&Model> =
                        model.iter().filter(|m| m.shown && m.free >= at_least && asked(m.signature)).collect();
                    for policy in Policy::ALL {
                        prop_assert_eq!(
                            fleet.choose(&ids, at_least, policy, &ring), choose(&fit, policy, last), "{:?}", policy
                        );
                    }
                    if let Some(worker) = choose(&fit, Policy::ALL[policy], last) {
                        fleet.assigned(worker);
                        ring.served(&fleet, worker);
                        let at = find(&model, worker).unwrap();
                        model[at].used = (true, moment);
                        last = Some(model[at].joined);
                    }
                }
            }
            compare(&fleet, &model, &groups)?;
        }
    }
}
