//! What every command is given: the settings, the output, and a client on demand.

use std::path::PathBuf;

use crate::client::Client;
use crate::config::{Config, Environment};
use crate::failure::Fallible;
use crate::output::Out;

/// What every command is given.
#[derive(Debug)]
pub(crate) struct Context {
    /// The settings.
    pub(crate) config: Config,
    /// The environment that this process was started in.
    pub(crate) environment: Environment,
    /// Where answers go.
    pub(crate) out: Out,
    /// The working directory.
    pub(crate) directory: PathBuf,
}

impl Context {
    /// From resolved settings.
    pub(crate) fn new(config: Config, environment: Environment, directory: PathBuf) -> Context {
        let out = Out::new(&config);
        Context { config, environment, out, directory }
    }

    /// A client for the server that the settings name.
    pub(crate) fn client(&self) -> Fallible<Client> {
        Client::new(&self.config)
    }
}
