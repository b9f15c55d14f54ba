//! The server as a whole, for whoever looks after it.

use ganger_core::queue::Retention;

use super::{Check, ClusterSeen, Service};
use crate::about::SettingShown;

/// The server as a whole.
#[derive(Clone, Debug)]
pub struct SystemSeen {
    /// Who leads and who is there.
    pub cluster: ClusterSeen,
    /// The checks of `/readyz`.
    pub checks: Vec<Check>,
    /// Where jobs are kept, without passwords.
    pub store: String,
    /// Redis is in front of it.
    pub accelerated: bool,
    /// How long final jobs are kept, in queues that do not say.
    pub retention: Retention,
    /// The settings in force, if they may be told.
    pub settings: Option<Vec<SettingShown>>,
}

impl Service {
    /// The server as a whole. Answers also while the store does not.
    pub async fn system(&self, with_settings: bool) -> SystemSeen {
        let about = self.about();
        SystemSeen {
            cluster: self.cluster().await,
            checks: self.readiness().await,
            store: about.store.clone(),
            accelerated: self.accelerator().is_some(),
            retention: Retention::default(),
            settings: with_settings.then(|| about.settings.clone()),
        }
    }
}
