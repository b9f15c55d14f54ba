//! Deliberate mistakes in the protocol: each must be caught, or the simulator proves nothing.
//!
//! A mistake is caught when a random seed, a story or a trap goes wrong with it. All of them hold without.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ganger_core::sabotage::{self, Bug};

use crate::doors::DOORS;
use crate::limits::LIMITS;
use crate::marks::MARKS;
use crate::operations::OPERATIONS;
use crate::parents::PARENTS;
use crate::random::{setup, try_seed};
use crate::rates::RATES;
use crate::reconcile::RECONCILE;
use crate::stories::STORIES;
use crate::traps::TRAPS;
use crate::turns::TURNS;

/// Seeds that random search may use for one bug.
const SEARCH: u64 = 500;

/// Switches a bug on for this thread, until it is dropped.
struct Sabotaged;

impl Sabotaged {
    fn with(bug: Bug) -> Sabotaged {
        sabotage::set(Some(bug));
        Sabotaged
    }
}

impl Drop for Sabotaged {
    fn drop(&mut self) {
        sabotage::set(None);
    }
}

/// The first of the seeds in which something goes wrong, and what.
fn search(bug: Bug) -> Option<(u64, String)> {
    let _on = Sabotaged::with(bug);
    (0..SEARCH).find_map(|seed| try_seed(setup(seed, false)).err().map(|what| (seed, what)))
}

/// The stories and traps that go wrong.
fn scripts(bug: Bug) -> Vec<(&'static str, String)> {
    let _on = Sabotaged::with(bug);
    let all = STORIES.iter().chain(&TRAPS).chain(&DOORS).chain(&LIMITS).chain(&PARENTS);
    let all = all.chain(&OPERATIONS).chain(&MARKS).chain(&RECONCILE).chain(&RATES).chain(&TURNS);
    all.filter_map(|(name, script)| match catch_unwind(AssertUnwindSafe(script)) {
        Ok(Ok(())) => None,
        Ok(Err(what)) => Some((*name, what.lines().next().unwrap_or_default().to_owned())),
        Err(_) => Some((*name, "a panic".to_owned())),
    })
    .collect()
}

#[test]
fn every_seeded_bug_is_caught() {
    let mut missed = Vec::new();
    for bug in Bug::ALL {
        let (found, scripts) = (search(bug), scripts(bug));
        match &found {
            Some((seed, what)) => println!("{bug:?}: after {} seeds: {what}", seed + 1),
            None => println!("{bug:?}: not in {SEARCH} seeds"),
        }
        for (name, what) in &scripts {
            println!("    {name}: {what}");
        }
        if found.is_none() && scripts.is_empty() {
            missed.push(bug);
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:?}");
}
