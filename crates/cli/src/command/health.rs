//! `ganger health`: is the server alive, is it ready? Fit for a container's health check.

use clap::Args;
use ganger_server::api::ReadyBody;

use crate::client::Call;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::output::{Cell, Paint, Table};

/// Is the server alive, is it ready?
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 0 if all is well, 10 if the server says that something is not, 9 if it cannot be reached.

Examples:
  ganger health
  ganger health --live && echo alive")]
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
            table.render(context.out.style())
        })?;
        Ok(if body.ready { Exit::Success } else { Exit::Findings })
    }
}
