//! `ganger server`: API and scheduling, without workers.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::config::{Key, Layer, Listen, ServerUrl};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::serving::{Serving, server_failure};
use crate::signals::Stops;

/// Start a server: API and scheduling, without workers.
#[derive(Args, Debug)]
#[command(after_help = "\
Jobs wait until a worker connects: ganger worker --url http://HOST:PORT

Examples:
  ganger server --data /var/lib/ganger
  ganger server --data ./data --listen 127.0.0.1:9090 --log json")]
pub(crate) struct Serve {
    /// Where to listen [default: 127.0.0.1:8080] [env: GANGER_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<Listen>,
    /// Where the data is kept [default: ~/.local/share/ganger/dev] [env: GANGER_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Listen on an address that other machines can reach, although nobody is asked for a token
    #[arg(long)]
    insecure_no_auth: bool,
    /// Accept `exec` jobs from whoever can read the token file in the data directory
    #[arg(long)]
    allow_exec: bool,
}

impl Serve {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let mut stops = Stops::listen()?;
        let config = &context.config;
        let serving = Serving {
            listen: config.listen.value,
            data: &config.data.value,
            insecure_no_auth: self.insecure_no_auth,
            allow_exec: self.allow_exec,
            local_sessions: Vec::new(),
        };
        let server = serving.start().await?;
        let address = server.addresses().first().copied().unwrap_or(serving.listen);
        let url = ServerUrl::from(address);
        let data = config.data.value.display();
        let ready = json!({ "url": url.to_string(), "data": data.to_string(), "pid": std::process::id() });
        context.out.show_one(&ready.to_string(), &url.to_string(), |_| {
            format!(
                "ganger {} listens on {url}\n  data     {data}\n  worker   ganger worker --url {url}",
                env!("CARGO_PKG_VERSION")
            )
        })?;
        tokio::select! {
            () = stops.next() => {}
            error = server.failed() => return Err(server_failure(&error)),
        }
        context.out.note("stopping; ctrl-C again stops at once");
        tokio::select! {
            () = server.stop() => Ok(Exit::Success),
            () = stops.next() => Ok(Exit::Interrupted),
        }
    }

    pub(super) fn settings(&self, layer: &mut Layer) -> Option<&Path> {
        layer.set(Key::Listen, self.listen);
        self.data.as_deref()
    }
}
