//! The server as a whole, for whoever looks after it.

use ganger_core::limits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CheckBody, ClusterBody, RetentionBody, duration};
use crate::service::SystemSeen;

/// The server that was asked, and the cluster that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SystemBody {
    /// Version of the server.
    pub version: String,
    /// What people call this installation, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Whether everything that `/readyz` checks is well.
    pub ready: bool,
    /// What `/readyz` checks.
    pub checks: Vec<CheckBody>,
    /// Where jobs are kept.
    pub store: SystemStoreBody,
    /// Who leads, in which term, and who is there.
    pub cluster: ClusterBody,
    /// How long things are kept.
    pub retention: SystemRetentionBody,
    /// The settings in force, by name; secrets are masked. Absent for callers without the permission `admin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Vec<SettingBody>>,
}

/// Where jobs are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SystemStoreBody {
    /// sqlite, postgres or memory.
    pub kind: String,
    /// Its address without passwords. Absent for callers without the permission `admin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Redis is in front of it.
    pub accelerated: bool,
}

/// How long things are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SystemRetentionBody {
    /// Final jobs, in queues that do not say.
    pub jobs: RetentionBody,
    /// What happened per minute.
    #[schema(example = "7d")]
    pub minutes: String,
    /// Idempotency keys.
    #[schema(example = "1d")]
    pub idempotency_keys: String,
    /// Most entries of the audit log.
    pub audit_entries: usize,
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingBody {
    /// Its name in a settings file.
    pub setting: String,
    /// Its value; a secret is masked.
    pub value: String,
    /// Where it came from: a flag, the environment, a file or the default.
    pub origin: String,
}

impl SystemBody {
    /// What is seen of a server of that version.
    #[must_use]
    pub fn new(version: &str, environment: Option<String>, seen: SystemSeen) -> SystemBody {
        let checks: Vec<CheckBody> = seen.checks.iter().map(CheckBody::from).collect();
        let kind = match seen.store.split_once(':') {
            Some((scheme, _)) if scheme.starts_with("postgres") => "postgres",
            Some((_, _)) => "sqlite",
            None => "memory",
        };
        let settings = seen.settings.map(|settings| {
            let each = settings.into_iter().map(|setting| SettingBody {
                setting: setting.name.to_owned(),
                value: setting.value,
                origin: setting.origin,
            });
            each.collect()
        });
        SystemBody {
            version: version.to_owned(),
            environment,
            ready: checks.iter().all(|check| check.ok),
            checks,
            store: SystemStoreBody {
                kind: kind.to_owned(),
                place: settings.as_ref().map(|_: &Vec<SettingBody>| seen.store).filter(|p| !p.is_empty()),
                accelerated: seen.accelerated,
            },
            cluster: seen.cluster.into(),
            retention: SystemRetentionBody {
                jobs: RetentionBody {
                    finished: seen.retention.finished.into(),
                    dead: seen.retention.dead.into(),
                },
                minutes: duration::format(limits::MINUTES_KEPT),
                idempotency_keys: duration::format(limits::IDEMPOTENCY_KEPT),
                audit_entries: limits::AUDIT_ENTRIES,
            },
            settings,
        }
    }
}
