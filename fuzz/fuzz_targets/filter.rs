//! Filters: any text is read or refused at a place within it, and what was read is written so that it reads the same.
#![no_main]

use ganger_core::filter::Filter;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Filter::parse(text) {
        Ok(filter) => {
            let written = filter.to_string();
            let again = Filter::parse(&written);
            assert_eq!(again.as_ref(), Ok(&filter), "{text:?} was written as {written:?}");
        }
        Err(error) => assert!(error.position <= text.len(), "{text:?}: {error}"),
    }
});
