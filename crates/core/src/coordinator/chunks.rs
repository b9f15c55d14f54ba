//! Many small things by number, kept in pieces of one size.
//!
//! A vector that grows moves everything that it holds, while all else waits, and needs the room twice meanwhile. A piece more moves
//! nothing.

use std::ops::{Index, IndexMut};

/// Things of a piece.
const PIECE: usize = 1_024;

/// Things by number, from 0.
#[derive(Clone, Debug)]
pub(crate) struct Chunks<T> {
    /// Each but the last is full.
    pieces: Vec<Vec<T>>,
    len: u32,
}

impl<T> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks { pieces: Vec::new(), len: 0 }
    }
}

impl<T> Chunks<T> {
    /// How many there are.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// The thing of this number, if there are so many.
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        let (piece, place) = place(number);
        self.pieces.get(piece)?.get(place)
    }

    /// Adds one, and tells its number.
    pub(crate) fn push(&mut self, thing: T) -> u32 {
        let number = self.len;
        self.len = number.checked_add(1).expect("fewer than four billion live jobs fit in memory");
        match self.pieces.last_mut() {
            Some(last) if last.len() < PIECE => last.push(thing),
            Some(_) | None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(thing);
                self.pieces.push(piece);
            }
        }
        number
    }
}

impl<T> Index<u32> for Chunks<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        let (piece, place) = place(number);
        &self.pieces[piece][place]
    }
}

impl<T> IndexMut<u32> for Chunks<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        let (piece, place) = place(number);
        &mut self.pieces[piece][place]
    }
}

fn place(number: u32) -> (usize, usize) {
    (number as usize / PIECE, number as usize % PIECE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_keep_their_numbers_and_their_places_over_the_ends_of_pieces() {
        let mut chunks = Chunks::default();
        let many = u32::try_from(3 * PIECE).unwrap() + 1;
        let mut first = None;
        for n in 0..many {
            assert_eq!(chunks.push(n), n);
            first = first.or(Some(&raw const chunks[0]));
        }
        assert_eq!(chunks.len(), many);
        assert!((0..many).all(|n| chunks[n] == n && chunks.get(n) == Some(&n)));
        assert_eq!((chunks.get(many), chunks.get(u32::MAX)), (None, None));
        chunks[1_024] = 7;
        assert_eq!((chunks[1_023], chunks[1_024], chunks[1_025]), (1_023, 7, 1_025));
        assert_eq!(Some(&raw const chunks[0]), first, "nothing was moved");
    }
}
