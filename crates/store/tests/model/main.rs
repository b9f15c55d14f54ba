//! The same random commands on the store in memory and on SQLite: every answer is compared, and in the
//! end everything that they tell.
//!
//! There are few names, keys and sessions, so that commands meet. A command is resolved against the model, so
//! that most are sensible; some are deliberately not.

#![cfg(feature = "sqlite")]

mod commands;
mod driver;

use proptest::prelude::*;

use crate::commands::{Step, steps};
use crate::driver::Driver;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_and_memory_tell_the_same(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(steps));
    }
}

async fn run(steps: Vec<Step>) {
    let mut driver = Driver::new().await;
    for step in steps {
        driver.step(step).await;
    }
    driver.compare_everything().await;
    driver.reopen();
    driver.compare_everything().await;
}
