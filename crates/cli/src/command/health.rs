//! `ganger health`: is the server alive, is it ready? Fit for a container's health check.

use clap::Args;
use ganger_server::api::{ReadyBody, StatsBody, VerdictBody};

use crate::client::Call;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::output::{Cell, Paint, Table};

use super::stats;

/// Is the server, or the worker, alive, is it ready?
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 0 if all is well, 10 if the server says that something is not, 9 if it cannot be reached.

Examples:
  ganger health
  ganger health --live && echo alive
  ganger health --url http://127.0.0.1:9090    # a worker with --health 127.0.0.1:9090")]
pub(crate) struct Health {
    /// Only whether the process answers
    #[arg(long, conflicts_with = "ready")]
    live: bool,
    /// Whether it can serve: store, leadership, disk (the default)
    #[arg(long)]
    ready: bool,
}

impl Health {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let client = context.client()?;
        if self.live {
            client.send(&Call::get("check that the server is alive", "/livez")).await?;
            context.out.show_one(r#"{"live":true}"#, "live", |_| "live".into())?;
            return Ok(Exit::Success);
        }
        let call = Call::get("check that the server is ready", "/readyz?verbose").once();
        let answer = client.send_for_any(&call).await?;
        let body = answer.read::<ReadyBody>()?;
        // Only whoever leads can judge, and a server that is not ready has said what is wrong.
        // A worker has no clock to tell, and nothing to judge.
        let judged = if body.ready && body.now.is_some() && context.out.is_for_people() {
            verdict(context).await
        } else {
            None
        };
        context.out.show_one(&answer.body, if body.ready { "ready" } else { "not ready" }, |_| {
            let mut table = Table::new(["CHECK", "STATE", "DETAIL"]);
            for check in &body.checks {
                let (word, paint) = match (check.ok, &check.warning) {
                    (true, None) => ("ok", Paint::Green),
                    (true, Some(_)) => ("warning", Paint::Yellow),
                    (false, _) => ("failing", Paint::Red),
                };
                let detail = check.warning.as_deref().filter(|_| check.ok).unwrap_or(&check.detail);
                table.row(vec![check.name.as_str().into(), Cell::painted(word, paint), detail.into()]);
            }
            let judged =
                judged.map(|verdict| format!("\n\n{}", stats::judged(&verdict, context.out.style())));
            table.render(context.out.style()) + &judged.unwrap_or_default()
        })?;
        Ok(if body.ready { Exit::Success } else { Exit::Findings })
    }
}

/// How things are, if the server can tell.
async fn verdict(context: &Context) -> Option<VerdictBody> {
    let call = Call::get("read the statistics", "/v1/stats").once();
    context.client().ok()?.send(&call).await.ok()?.read::<StatsBody>().ok()?.verdict
}
