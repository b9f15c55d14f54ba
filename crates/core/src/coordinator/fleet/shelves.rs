//! Places by their value: "the first place of the smallest value that is at least so much".
//!
//! Each value in use is a *shelf*: a bitmap of places with a bitmap of its words above it. Moving a place from
//! one shelf to another touches two bits, however many places there are; ordered sets did the same and
//! cost most of a dispatch with ten thousand workers.

/// Places of a line by value.
#[derive(Debug, Default)]
pub(super) struct Shelves {
    /// In order of value. A shelf that became empty stays, for its memory, until [`Shelves::clear`].
    shelves: Vec<Shelf>,
}

#[derive(Debug)]
struct Shelf {
    value: i32,
    count: usize,
    places: Vec<u64>,
    /// Which words of `places` are not zero.
    words: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl Shelves {
    /// Puts a place on the shelf of a value.
    pub(super) fn put(&mut self, value: i32, place: usize) {
        let at = self.shelves.partition_point(|shelf| shelf.value < value);
        if self.shelves.get(at).is_none_or(|shelf| shelf.value != value) {
            self.shelves.insert(at, Shelf { value, count: 0, places: Vec::new(), words: Vec::new() });
        }
        self.shelves[at].put(place);
    }

    /// Takes a place off the shelf of its value.
    pub(super) fn take(&mut self, value: i32, place: usize) {
        if let Ok(at) = self.shelves.binary_search_by_key(&value, |shelf| shelf.value) {
            self.shelves[at].take(place);
        }
    }

    /// The smallest value that is at least so much, and its first place.
    pub(super) fn smallest(&self, at_least: i32) -> Option<(i32, usize)> {
        let from = self.shelves.partition_point(|shelf| shelf.value < at_least);
        self.shelves[from..].iter().find_map(|shelf| Some((shelf.value, shelf.places().next()?)))
    }

    /// Every place, larger values first, each value in order of place.
    pub(super) fn largest_first(&self) -> impl Iterator<Item = (i32, usize)> + '_ {
        self.shelves.iter().rev().flat_map(|shelf| shelf.places().map(|place| (shelf.value, place)))
    }

    /// Clears every shelf, and takes away those that were not in use.
    pub(super) fn clear(&mut self) {
        self.shelves.retain(|shelf| shelf.count > 0);
        for shelf in &mut self.shelves {
            shelf.count = 0;
            shelf.places.clear();
            shelf.words.clear();
        }
    }
}

impl Shelf {
    fn put(&mut self, place: usize) {
        let word = place / BITS;
        if self.places.len() <= word {
            self.places.resize(word + 1, 0);
            self.words.resize(word / BITS + 1, 0);
        }
        self.places[word] |= 1 << (place % BITS);
        self.words[word / BITS] |= 1 << (word % BITS);
        self.count += 1;
    }

    fn take(&mut self, place: usize) {
        let word = place / BITS;
        self.places[word] &= !(1 << (place % BITS));
        if self.places[word] == 0 {
            self.words[word / BITS] &= !(1 << (word % BITS));
        }
        self.count -= 1;
    }

    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let words = if self.count == 0 { &[] } else { self.words.as_slice() };
        ones(words).flat_map(|word| ones(&self.places[word..=word]).map(move |bit| word * BITS + bit))
    }
}

/// The positions of the bits that are set.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(at, word)| {
        let rest = |word: u64| Some(word).filter(|word| *word != 0);
        std::iter::successors(rest(*word), move |word| rest(word & (word - 1)))
            .map(move |word| at * BITS + word.trailing_zeros() as usize)
    })
}
