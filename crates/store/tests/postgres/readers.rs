//! What becomes of a read whose connection is gone.

use std::sync::Mutex;
use std::time::Duration;

use ganger_store::Store;
use tokio::time::{sleep, timeout};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::support::{connect, fresh};

const LONG: Duration = Duration::from_secs(30);

/// What the pool warned of.
static WARNED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Listens to the pool, in every task.
struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("deadpool") && *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Words);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Words;

impl Visit for Words {
    fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
        WARNED.lock().unwrap().push(format!("{value:?}"));
    }
}

/// A restart of the database closes every connection. The pool opens another, which is all that there is to say.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_replaced_and_no_operator_is_told_in_words_of_a_library() {
    tracing::subscriber::set_global_default(Listener).unwrap();
    let (store, url) = fresh().await;
    let client = connect(&url).await;
    let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                  WHERE datname = current_database() AND pid <> pg_backend_pid()";
    store.load().await.unwrap();
    assert!(client.query_one(others, &[]).await.unwrap().get::<_, i64>(0) > 0);
    let gone = async {
        while client.query_one(others, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            sleep(Duration::from_millis(5)).await;
        }
        while store.load().await.is_err() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, gone).await.unwrap();
    let warned = WARNED.lock().unwrap();
    assert!(warned.is_empty(), "{warned:?}");
}
