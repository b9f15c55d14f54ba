//! The JSON of a job: any text is refused, or is a job within every bound, whose payload is kept as it was written.
#![no_main]

use ganger_core::Wall;
use ganger_server::testing::read_job;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(spec) = read_job(text, Wall(1_750_000_000_000_000)) {
        assert_eq!(spec.check(), Ok(()), "{text:?}");
        assert!(spec.payload == "null" || text.contains(&spec.payload), "{text:?}");
    }
});
