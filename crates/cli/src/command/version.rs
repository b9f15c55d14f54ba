//! `ganger version`: of this program, and of the server if there is one.

use clap::Args;
use ganger_server::api::CapabilitiesBody;
use serde_json::json;

use crate::client::Call;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;

/// The version of this program.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ganger version
  ganger version --server        also ask the server for its version")]
pub(crate) struct Version {
    /// Also ask the server for its version
    #[arg(long)]
    server: bool,
}

impl Version {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let own = env!("CARGO_PKG_VERSION");
        let server = if self.server {
            let call = Call::get("ask for the server's version", "/v1/capabilities");
            Some(context.client()?.send(&call).await?.read::<CapabilitiesBody>()?.version)
        } else {
            None
        };
        let body = json!({ "version": own, "server": server }).to_string();
        context.out.show_one(&body, own, |_| match &server {
            Some(server) => format!("ganger {own}\nserver {server}"),
            None => format!("ganger {own}"),
        })?;
        Ok(Exit::Success)
    }
}
