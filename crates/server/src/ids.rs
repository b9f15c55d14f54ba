//! Fresh ids of jobs: unique, and in the order in which they were made.
//!
//! A job's id begins with the millisecond of its making. Within one millisecond a counter follows,
//! so that the jobs of a batch are listed in the order in which they were submitted; the rest is random.

use std::sync::{Mutex, PoisonError};

use ganger_core::{JobId, Wall};

/// Bits of the counter. It starts in the lower half, so a millisecond has room for 2^25 ids.
const COUNTER_BITS: u32 = 26;

/// Makes ids.
#[derive(Debug, Default)]
pub struct JobIds(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    millis: u64,
    counter: u32,
}

impl JobIds {
    /// The next id, larger than every one before.
    pub fn next(&self, now: Wall) -> JobId {
        let random: [u8; 10] = rand::random();
        // A panic while the lock is held leaves a whole pair.
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.advance(now.unix_millis(), u32::from_be_bytes([random[0], random[1], random[2], random[3]]));
        JobId::new(last.millis, with_counter(random, last.counter))
    }
}

impl Last {
    fn advance(&mut self, millis: u64, random: u32) {
        if millis > self.millis {
            self.millis = millis;
            self.counter = random >> (32 - COUNTER_BITS + 1);
        } else if self.counter + 1 < 1 << COUNTER_BITS {
            self.counter += 1;
        } else {
            // More ids than a millisecond can hold, or a clock that was set back: borrow from the next.
            self.millis += 1;
            self.counter = 0;
        }
    }
}

/// Puts the counter where it is compared right after the millisecond. A UUIDv7 keeps the lower 4
/// bits of the first byte and the lower 6 of the third for us.
fn with_counter(mut random: [u8; 10], counter: u32) -> [u8; 10] {
    random[0] = (counter >> 22) as u8 & 0x0F;
    random[1] = (counter >> 14) as u8;
    random[2] = (counter >> 8) as u8 & 0x3F;
    random[3] = counter as u8;
    random
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_within_a_millisecond_and_when_the_clock_is_set_back() {
        let ids = JobIds::default();
        let mut last = ids.next(Wall(5_000_000));
        for at in [5_000_000; 1_000].into_iter().chain([4_000_000; 10]).chain([5_001_000]) {
            let next = ids.next(Wall(at));
            assert!(next > last, "{next} after {last}");
            last = next;
        }
    }

    #[test]
    fn a_full_counter_borrows_the_next_millisecond() {
        let mut last = Last { millis: 9, counter: (1 << COUNTER_BITS) - 1 };
        let full = JobId::new(9, with_counter([0xFF; 10], last.counter));
        last.advance(9, 77);
        assert_eq!((last.millis, last.counter), (10, 0));
        assert!(JobId::new(10, with_counter([0; 10], 0)) > full);
    }
}
