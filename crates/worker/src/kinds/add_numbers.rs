//! `add_numbers`: the sum of two 64-bit numbers.

use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const ADD_NUMBERS: Job<Numbers, Sum> = Job::new("add_numbers");

/// What to add.
#[derive(Debug, Deserialize)]
pub(super) struct Numbers {
    x: i64,
    y: i64,
}

/// What they come to.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Sum {
    sum: i64,
}

pub(super) async fn run(_: Ctx, Numbers { x, y }: Numbers) -> Result<Sum, JobError> {
    let sum = x.checked_add(y).ok_or_else(|| JobError::fatal(format!("{x} + {y} overflows 64 bits")))?;
    Ok(Sum { sum })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn numbers_are_added_up_to_the_edge_of_64_bits_and_not_beyond() {
        let add = |x, y| run(Ctx::for_test("add_numbers"), Numbers { x, y });
        assert_eq!(add(2, 3).await.unwrap(), Sum { sum: 5 });
        assert_eq!(add(i64::MAX - 1, 1).await.unwrap(), Sum { sum: i64::MAX });
        assert_eq!(add(i64::MIN, 0).await.unwrap(), Sum { sum: i64::MIN });
        for (x, y) in [(i64::MAX, 1), (i64::MIN, -1)] {
            let error = add(x, y).await.unwrap_err();
            assert!(error.is_fatal() && error.to_string().ends_with("overflows 64 bits"), "{error}");
        }
    }

    #[test]
    fn what_is_no_pair_of_numbers_does_not_fit() {
        for bad in [
            "null",
            "{}",
            r#"{"x":1}"#,
            r#"{"x":"1","y":2}"#,
            r#"{"x":1.5,"y":2}"#,
            r#"{"x":9223372036854775808,"y":0}"#,
        ] {
            assert!(serde_json::from_str::<Numbers>(bad).is_err(), "{bad}");
        }
    }
}
