//! Fences and job ids: any text is read or refused, and what was read is written so that it reads the same.
#![no_main]

use ganger_core::{Fence, JobId};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(fence) = text.parse::<Fence>() {
        assert_eq!(fence.to_string().parse(), Ok(fence), "{text:?}");
    }
    if let Ok(id) = text.parse::<JobId>() {
        assert_eq!(id.to_string().parse(), Ok(id), "{text:?}");
    }
});
