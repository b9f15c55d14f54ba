//! Cron expressions: any text is read or refused, and the next times of what was read come in order and are named by it.
#![no_main]

use ganger_core::schedule::cron::Cron;
use jiff::civil::date;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(cron) = Cron::parse(text) else { return };
    // The days around a leap day, an end of a year, and the last year that a clock can show.
    for from in [date(2024, 2, 28), date(2025, 12, 31), date(9999, 12, 30)] {
        let mut from = from.at(23, 59, 58, 0);
        for _ in 0..4 {
            let Some(next) = cron.next_local(from) else { break };
            assert!(next >= from && cron.matches(next), "{text:?} from {from}: {next}");
            let Ok(later) = next.checked_add(jiff::Span::new().seconds(1)) else { break };
            from = later;
        }
    }
});
