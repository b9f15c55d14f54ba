//! How much room a disk has left, and when that is too little.

/// A disk with less room than this is nearly full, if it is large.
pub const LOW_BYTES: u64 = 1 << 30;
/// A small disk is nearly full when less than one part in so many is free.
pub const LOW_PART: u64 = 10;

/// The disk that a store writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    /// What an unprivileged process may still write.
    pub free_bytes: u64,
    /// The whole of it.
    pub total_bytes: u64,
    /// What the store itself takes up.
    pub used_bytes: u64,
}

impl Disk {
    /// Room below which an operator should know: 1 GiB, or a tenth of a disk that is smaller than ten.
    #[must_use]
    pub const fn low_below(&self) -> u64 {
        let part = self.total_bytes / LOW_PART;
        if part < LOW_BYTES { part } else { LOW_BYTES }
    }

    /// Whether it is time to make room.
    #[must_use]
    pub const fn is_low(&self) -> bool {
        self.free_bytes < self.low_below()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_low_below_a_gibibyte_or_below_a_tenth_of_a_small_one() {
        let disk = |free_bytes, total_bytes| Disk { free_bytes, total_bytes, used_bytes: 0 };
        let tib = 1 << 40;
        assert!(!disk(LOW_BYTES, tib).is_low());
        assert!(disk(LOW_BYTES - 1, tib).is_low());
        assert!(!disk(100 << 20, 1000 << 20).is_low(), "a tenth of a small disk is enough");
        assert!(disk((100 << 20) - 1, 1000 << 20).is_low());
        assert!(!disk(0, 0).is_low(), "of a disk that tells nothing nothing is known");
    }
}
