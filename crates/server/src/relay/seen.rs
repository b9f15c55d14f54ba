//! Which seals were seen before, in bounded memory.
//!
//! A server numbers its seals from one, under a random number that it takes at its start. Of each such life the
//! last few tens of thousands of numbers are remembered in a bitmap: a number that is set was seen, a
//! number below the bitmap is too old to tell and refused with the rest. A life that sealed nothing for longer
//! than a seal is valid can be forgotten, because its seals are refused by their time.

use std::collections::HashMap;
use std::time::Duration;

use ganger_core::Wall;

/// Numbers remembered of one life: how far requests may overtake each other on their way.
const REMEMBERED: u64 = 1 << 16;
const WORDS: usize = (REMEMBERED / 64) as usize;
/// Lives of servers remembered at the same time.
const LIVES: usize = 64;

/// Seals that were accepted.
#[derive(Debug)]
pub(super) struct Seen {
    lives: HashMap<u64, Window>,
    /// A life without a seal for so long is forgotten.
    forget_after: Duration,
}

#[derive(Debug)]
struct Window {
    highest: u64,
    last: Wall,
    bits: Box<[u64; WORDS]>,
}

impl Seen {
    /// Nothing seen yet.
    pub(super) fn new(forget_after: Duration) -> Seen {
        Seen { lives: HashMap::new(), forget_after }
    }

    /// Whether this number of this life comes for the first time, as far as can be told.
    pub(super) fn first_time(&mut self, life: u64, number: u64, now: Wall) -> bool {
        if !self.lives.contains_key(&life) && self.lives.len() >= LIVES {
            let forget_after = self.forget_after;
            self.lives.retain(|_, window| now.since(window.last) <= forget_after);
            if self.lives.len() >= LIVES {
                return false;
            }
        }
        self.lives.entry(life).or_insert_with(|| Window::new(now)).first_time(number, now)
    }
}

impl Window {
    fn new(now: Wall) -> Window {
        Window { highest: 0, last: now, bits: Box::new([0; WORDS]) }
    }

    fn first_time(&mut self, number: u64, now: Wall) -> bool {
        if number == 0 || self.highest.saturating_sub(number) >= REMEMBERED {
            return false;
        }
        if number > self.highest {
            // What lies between was not seen; further back than the bitmap there is nothing to clear.
            let from = self.highest.max(number.saturating_sub(REMEMBERED));
            for passed in from + 1..=number {
                let (word, bit) = place(passed);
                self.bits[word] &= !bit;
            }
            self.highest = number;
        }
        let (word, bit) = place(number);
        let first = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.last = now.max(self.last);
        first
    }
}

fn place(number: u64) -> (usize, u64) {
    let slot = number % REMEMBERED;
    ((slot / 64) as usize, 1 << (slot % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Wall = Wall(1_700_000_000_000_000);

    #[test]
    fn a_number_counts_once_in_whatever_order_it_comes() {
        let mut seen = Seen::new(Duration::from_secs(60));
        for number in [1, 3, 2, 70, 64, 63, 65, 1_000] {
            assert!(seen.first_time(7, number, NOW), "{number}");
        }
        for number in [1, 2, 3, 63, 64, 65, 70, 1_000, 0] {
            assert!(!seen.first_time(7, number, NOW), "{number} again");
        }
        assert!(seen.first_time(8, 1, NOW), "another life");
    }

    #[test]
    fn what_is_too_old_to_tell_is_refused_and_the_last_that_can_be_told_is_not() {
        let mut seen = Seen::new(Duration::from_secs(60));
        assert!(seen.first_time(7, REMEMBERED * 3, NOW));
        assert!(seen.first_time(7, REMEMBERED * 2 + 1, NOW));
        assert!(!seen.first_time(7, REMEMBERED * 2, NOW));
        assert!(seen.first_time(7, u64::MAX, NOW));
        assert!(!seen.first_time(7, u64::MAX, NOW));
        assert!(seen.first_time(7, u64::MAX - 1, NOW));
    }

    #[test]
    fn lives_are_bounded_and_only_silent_ones_are_forgotten() {
        let mut seen = Seen::new(Duration::from_secs(60));
        for life in 0..LIVES as u64 {
            assert!(seen.first_time(life, 1, NOW));
        }
        assert!(!seen.first_time(1_000, 1, NOW), "no room");
        let later = NOW + Duration::from_secs(61);
        assert!(seen.first_time(0, 2, later));
        assert!(seen.first_time(1_000, 1, later));
        assert!(!seen.first_time(0, 1, later), "one that still speaks is remembered");
    }
}
