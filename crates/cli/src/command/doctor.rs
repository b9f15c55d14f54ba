//! `ganger doctor`: looks at everything that could be wrong, and says what to do about it.

mod disk;
mod finding;
mod host;
mod postgres;
mod server;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use self::finding::{Findings, State};
use crate::clock;
use crate::config::{Key, Layer, Listens, Origin, Place, RawStore};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::output::{Cell, Paint, Table};

/// Look for what is wrong with this machine, the server, its store and its workers, and say what to do.
#[derive(Args, Debug)]
#[command(after_help = "\
It looks at what the settings name (`ganger config show`): run it with those of a server, on its machine, to have its store
looked at too. It changes nothing; it writes a small file into the data directory and removes it, and commits a few empty
transactions to the database, to see how long they take.

Exits with 0 if all is well and with 10 if anything was found.

Examples:
  ganger doctor
  ganger doctor --store postgres://ganger@db/ganger --redis redis://cache:6379
  ganger doctor --url https://jobs.example.com -o json | jq '.checks[] | select(.state == \"finding\")'")]
pub(crate) struct Doctor {
    /// The data directory to look at [env: GANGER_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The database to look at, or sqlite:DIR [env: GANGER_STORE]
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<RawStore>,
    /// The Redis to look at [env: GANGER_REDIS]
    #[arg(long, value_name = "URL")]
    redis: Option<RawStore>,
    /// The addresses that a server is to listen on here; may be repeated [env: GANGER_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<Listens>,
}

impl Doctor {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let mut found = Findings::default();
        let reached = server::look(context, &mut found).await;
        if !elsewhere(context) {
            host::ports(context, reached, &mut found);
            host::exposure(context, &mut found);
        }
        host::files(context, &mut found);
        host::limits(&mut found);
        if elsewhere(context) {
            // Whatever lies in the default place here is another server's.
            let url = &context.config.url.value;
            found.skipped(
                "store",
                format!(
                    "{url} may keep its jobs elsewhere: name its --store or --data to have that looked at"
                ),
            );
            host::redis(context, &mut found).await;
            show(context, &found)?;
            return Ok(if found.any() { Exit::Findings } else { Exit::Success });
        }
        match &context.config.store.value {
            Place::Sqlite(dir) => disk::look(dir, &mut found).await,
            Place::Postgres(url) => postgres::look(url, &mut found).await,
        }
        host::redis(context, &mut found).await;
        show(context, &found)?;
        Ok(if found.any() { Exit::Findings } else { Exit::Success })
    }

    pub(super) fn settings(&self, layer: &mut Layer) -> Option<&Path> {
        layer.set(Key::Store, self.store.as_ref().map(RawStore::text));
        layer.set(Key::Redis, self.redis.as_ref().map(RawStore::text));
        layer.set(Key::Listen, Listens::joined(&self.listen));
        self.data.as_deref()
    }
}

/// Whether the settings name a server, and nothing of where it runs: then the rest of them is about another one.
fn elsewhere(context: &Context) -> bool {
    let config = &context.config;
    let unnamed = [&config.store.origin, &config.data.origin, &config.listen.origin];
    config.url.origin != Origin::Default && unnamed.iter().all(|origin| **origin == Origin::Default)
}

fn show(context: &Context, found: &Findings) -> Fallible<()> {
    let checks: Vec<_> = found.each().iter().map(finding::document).collect();
    let body = json!({ "healthy": !found.any(), "findings": found.count(), "checks": checks }).to_string();
    let name = if found.any() { "findings" } else { "healthy" };
    context.out.show_one(&body, name, |_| {
        let mut table = Table::new(["CHECK", "STATE", "FOUND"]);
        for finding in found.each() {
            let (word, paint) = match finding.state {
                State::Ok => ("ok", Paint::Green),
                State::Finding => ("finding", Paint::Red),
                State::Skipped => ("skipped", Paint::Dim),
            };
            table.row(vec![finding.check.into(), Cell::painted(word, paint), finding.found.as_str().into()]);
        }
        let mut text = table.render(context.out.style());
        for (nth, finding) in found.each().iter().filter(|f| f.state == State::Finding).enumerate() {
            let (found, advice) = (&finding.found, &finding.advice);
            text.push_str(&format!("\n\n{}. {}: {found}\n   do: {advice}", nth + 1, finding.check));
        }
        text.push_str(&match found.count() {
            0 => "\n\nnothing was found".to_owned(),
            1 => "\n\n1 finding".to_owned(),
            n => format!("\n\n{n} findings"),
        });
        text
    })
}

/// The clocks that the stores measure with.
struct Watch(clock::Stopwatch);

impl Watch {
    fn start() -> Watch {
        Watch(clock::Stopwatch::start())
    }
}
