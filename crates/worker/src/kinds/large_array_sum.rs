//! `large_array_sum`: the sum of many numbers, on as many threads as the attempt was granted.
//!
//! The numbers are split in chunks of equal length, one for each thread. Sums are kept in 128 bits: no payload that fits in
//! memory can overflow them.

use std::num::NonZero;
use std::thread;

use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const LARGE_ARRAY_SUM: Job<Numbers, Sum> = Job::new("large_array_sum");

/// What to sum up.
#[derive(Debug, Deserialize)]
pub(super) struct Numbers {
    #[serde(alias = "array")]
    numbers: Vec<i64>,
}

/// What they come to.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Sum {
    sum: i128,
}

pub(super) fn run(ctx: Ctx, Numbers { numbers }: Numbers) -> Result<Sum, JobError> {
    Ok(Sum { sum: sum(&numbers, NonZero::new(ctx.threads()).unwrap_or(NonZero::<u16>::MIN))? })
}

/// The sum of these numbers, each chunk of them on a thread of its own.
///
/// # Errors
/// The system gave no thread.
pub fn sum(numbers: &[i64], threads: NonZero<u16>) -> std::io::Result<i128> {
    let chunk = numbers.len().div_ceil(usize::from(threads.get())).max(1);
    thread::scope(|scope| {
        let chunks = numbers.chunks(chunk).map(|chunk| {
            thread::Builder::new()
                .name("sum".into())
                .spawn_scoped(scope, || chunk.iter().copied().map(i128::from).sum::<i128>())
        });
        // All of them are started before the first is waited for.
        let started = chunks.collect::<std::io::Result<Vec<_>>>()?;
        Ok(started.into_iter().map(|thread| thread.join().expect("adding does not panic")).sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn on(threads: u16, numbers: &[i64]) -> i128 {
        sum(numbers, NonZero::new(threads).unwrap()).unwrap()
    }

    #[test]
    fn the_handler_takes_either_name_and_uses_what_it_was_granted() {
        for payload in [r#"{"array":[1,2,3,4,5,6,7,8,9,10]}"#, r#"{"numbers":[1,2,3,4,5,6,7,8,9,10]}"#] {
            let numbers = serde_json::from_str(payload).unwrap();
            assert_eq!(run(Ctx::for_test("large_array_sum"), numbers).unwrap(), Sum { sum: 55 });
        }
        for bad in [
            "{}",
            r#"{"array":[1],"numbers":[2]}"#,
            r#"{"array":["1"]}"#,
            r#"{"array":[1.5]}"#,
            r#"{"array":7}"#,
        ] {
            assert!(serde_json::from_str::<Numbers>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sums_beyond_64_bits_are_exact_and_written_as_numbers() {
        let sum = on(2, &[i64::MAX; 4]);
        assert_eq!(sum, 4 * i128::from(i64::MAX));
        assert_eq!(serde_json::to_string(&Sum { sum }).unwrap(), r#"{"sum":36893488147419103228}"#);
    }

    proptest! {
        #[test]
        fn the_number_of_threads_does_not_matter(numbers: Vec<i64>, threads in 1u16..9) {
            let expected: i128 = numbers.iter().copied().map(i128::from).sum();
            prop_assert_eq!(on(threads, &numbers), expected);
        }
    }
}
