//! Taking turns by weight: tenants within a queue, and queues within a group of workers.
//!
//! Whoever waits has a *turn*: a number that grows by the price of each job started, one divided by the weight. The
//! smallest turn is next. So over any stretch in which two of them wait, they start jobs in proportion to their weights,
//! however many jobs either has and whoever came first.
//!
//! Nobody saves up. One that begins to wait gets the present time, the turn of whoever was served last. One that
//! waited while none of its jobs fitted is served first once one fits, but only once: then its turn is the present
//! time as well.
//! Nobody is let off either: a turn is remembered after the last job until the time has passed it, so that it is no
//! advantage to come back with every job.

/// The price of a job of weight 1. Divisible by most weights, and 2⁶⁴ of it is more jobs than ever run.
const PRICE: u64 = 720_720;

/// What a job of that weight costs.
pub(crate) fn price(weight: u16) -> u64 {
    PRICE / u64::from(weight.max(1))
}

/// The time that those who take turns share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// The turn of whoever was served last.
    now: u64,
    /// The largest turn of all.
    latest: u64,
    /// How many wait.
    waiting: usize,
}

/// One of those who take turns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seat {
    turn: u64,
    /// Places in which it waits.
    places: u32,
}

impl Seat {
    pub(crate) fn turn(&self) -> u64 {
        self.turn
    }

    pub(crate) fn waits(&self) -> bool {
        self.places > 0
    }
}

impl Clock {
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The turn of a seat, if it were to wait from now.
    pub(crate) fn turn(&self, seat: &Seat) -> u64 {
        if seat.waits() { seat.turn } else { seat.turn.max(self.now) }
    }

    /// It waits in one more place. Its turn.
    pub(crate) fn enter(&mut self, seat: &mut Seat) -> u64 {
        seat.turn = self.turn(seat);
        seat.places += 1;
        self.waiting += usize::from(seat.places == 1);
        seat.turn
    }

    /// It waits in one place less.
    pub(crate) fn leave(&mut self, seat: &mut Seat) {
        seat.places -= 1;
        self.waiting -= usize::from(seat.places == 0);
        if self.waiting == 0 {
            // Nobody waits who could be owed anything.
            self.now = self.now.max(self.latest);
        }
    }

    /// One of its jobs starts. Its next turn.
    pub(crate) fn serve(&mut self, seat: &mut Seat, weight: u16) -> u64 {
        let (turn, price) = (self.turn(seat), price(weight));
        self.now = self.now.max(turn);
        seat.turn = turn.max(self.now.saturating_sub(price)) + price;
        self.latest = self.latest.max(seat.turn);
        seat.turn
    }

    /// The turn at which a seat starts its n-th job from now, counted from 0.
    pub(crate) fn nth_turn(&self, seat: &Seat, weight: u16, n: u64) -> u64 {
        let (turn, price) = (self.turn(seat), price(weight));
        if n == 0 {
            return turn;
        }
        turn.max(self.now.saturating_sub(price)).saturating_add(price.saturating_mul(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts of each seat when the first of those that wait is served, so many times.
    fn served(clock: &mut Clock, seats: &mut [(Seat, u16)], count: usize) -> Vec<usize> {
        let mut starts = vec![0; seats.len()];
        for _ in 0..count {
            let next = (0..seats.len()).min_by_key(|at| clock.turn(&seats[*at].0)).unwrap();
            let (seat, weight) = &mut seats[next];
            clock.serve(seat, *weight);
            starts[next] += 1;
        }
        starts
    }

    fn waiting(clock: &mut Clock, weights: &[u16]) -> Vec<(Seat, u16)> {
        let mut seats: Vec<(Seat, u16)> = weights.iter().map(|weight| (Seat::default(), *weight)).collect();
        seats.iter_mut().for_each(|(seat, _)| _ = clock.enter(seat));
        seats
    }

    #[test]
    fn starts_are_in_proportion_to_weights() {
        let mut clock = Clock::default();
        let mut seats = waiting(&mut clock, &[1, 2, 4]);
        assert_eq!(served(&mut clock, &mut seats, 700), [100, 200, 400]);
    }

    #[test]
    fn one_that_was_passed_over_is_served_once_and_then_in_turn() {
        let mut clock = Clock::default();
        let mut seats = waiting(&mut clock, &[1, 1]);
        for _ in 0..1_000 {
            clock.serve(&mut seats[0].0, 1);
        }
        let starts = served(&mut clock, &mut seats, 100);
        assert!(starts[1] <= 51, "{starts:?}: it does not make up for a thousand");
    }

    #[test]
    fn a_turn_is_remembered_when_nothing_waits() {
        let mut clock = Clock::default();
        let mut seats = waiting(&mut clock, &[1, 1]);
        let (light, heavy) = seats.split_at_mut(1);
        clock.serve(&mut light[0].0, 1);
        clock.leave(&mut light[0].0);
        assert!(clock.turn(&light[0].0) > clock.turn(&heavy[0].0), "it comes back behind the other");
    }
}
