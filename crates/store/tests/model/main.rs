//! The same random commands on the store in memory and on a real one: every answer is compared, and in the
//! end everything that they tell.
//!
//! There are few names, keys and sessions, so that commands meet. A command is resolved against the model, so
//! that most are sensible; some are deliberately not.

mod commands;
mod counted;
mod driver;
mod schedules;

use std::sync::Arc;

use ganger_store::Store;
use proptest::prelude::*;

use crate::commands::{Step, steps};
use crate::driver::{Driver, Open};

/// What proptest runs when nobody asks for another number.
const UNASKED: u32 = 256;

/// So many cases, unless `PROPTEST_CASES` asks for another number.
fn config(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if asked.cases == UNASKED { cases } else { asked.cases };
    ProptestConfig { cases, max_shrink_iters: 2_000, ..asked }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn run(steps: Vec<Step>, open: Open) {
    let mut driver = Driver::new(open).await;
    for step in steps {
        driver.step(step).await;
    }
    driver.compare_everything().await;
    driver.reopen().await;
    driver.compare_everything().await;
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use ganger_store::{SqliteOptions, SqliteStore};

    use super::*;

    proptest! {
        #![proptest_config(config(64))]

        #[test]
        fn sqlite_and_memory_tell_the_same(steps in steps()) {
            runtime().block_on(run(steps, open()));
        }
    }

    fn open() -> Open {
        let dir = tempfile::tempdir().unwrap();
        Box::new(move || {
            let store = SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap();
            Box::pin(async { Arc::new(store) as Arc<dyn Store> })
        })
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use ganger_store::testing::Postgres;
    use ganger_store::{PgOptions, PgStore};

    use super::*;

    proptest! {
        #![proptest_config(config(20))]

        #[test]
        fn postgres_and_memory_tell_the_same(steps in steps()) {
            runtime().block_on(async {
                let url = Postgres::shared().migrated_database().await;
                run(steps, open(url)).await;
            });
        }
    }

    fn open(url: String) -> Open {
        Box::new(move || {
            let options = PgOptions { readers: 2, ..PgOptions::new(url.clone()) };
            Box::pin(async move { Arc::new(PgStore::connect(&options).await.unwrap()) as Arc<dyn Store> })
        })
    }
}
