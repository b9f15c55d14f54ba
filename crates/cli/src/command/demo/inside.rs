//! The demonstration inside `ganger dev --demo`: the same traffic, on the server of the same process, for as long as that runs.

use std::time::Duration;

use ganger_worker::{Credential, WorkerHandle};

use super::{Demo, Sent, site};
use crate::client::Client;
use crate::config::{Origin, ServerUrl, ServerUrls};
use crate::context::Context;
use crate::failure::Fallible;

/// Taking the schedules away again does not hold up the end for longer.
const RETIRE_WITHIN: Duration = Duration::from_secs(5);

/// A demonstration for the server at one address.
pub(in crate::command) struct Inside {
    demo: Demo,
    client: Client,
    url: ServerUrl,
}

impl Inside {
    pub(in crate::command) fn new(url: &ServerUrl) -> Fallible<Inside> {
        // A day: by then everybody has seen enough.
        let demo = Demo {
            minutes: 1_440.0,
            rate: 20,
            seed: 1,
            keep: false,
            cleanup: false,
            remove: false,
            yes: false,
        };
        let client = Client::to(ServerUrls::from(url.clone()), Origin::Default)?;
        Ok(Inside { demo, client, url: url.clone() })
    }

    /// Its workers; whoever asks stops them.
    pub(in crate::command) async fn workers(&self) -> Fallible<Vec<WorkerHandle>> {
        self.demo.workers(&self.url.to_string(), Credential::default()).await
    }

    /// Sends jobs. That it cannot go on is told, and ends nothing else.
    pub(in crate::command) async fn traffic(&self, context: &Context) {
        let mut sent = Sent::default();
        let traffic = async {
            site::prepare(&self.client).await?;
            self.demo.send(&self.client, &mut sent, None).await
        };
        match traffic.await {
            Ok(()) => {
                context.out.note("the demonstration has sent jobs for a day, and ends; the server goes on")
            }
            Err(failure) => context.out.note(&format!(
                "the demonstration sends no more jobs: {}: {}; the server goes on",
                failure.what, failure.why
            )),
        }
    }

    /// Takes its schedules and limits away: without its workers nobody would run what they make.
    pub(in crate::command) async fn retire(&self, context: &Context) {
        let retired = tokio::time::timeout(RETIRE_WITHIN, site::retire(&self.client)).await;
        if !matches!(retired, Ok(Ok(()))) {
            context.out.note(
                "the schedules of the demonstration are still there: `ganger demo --remove` takes them away",
            );
        }
    }
}
