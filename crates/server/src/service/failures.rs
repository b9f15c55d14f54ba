//! Groups of failures, and what can be done with the dead jobs of one.

use std::time::Duration;

use ganger_core::Wall;
use ganger_core::filter::Filter;
use ganger_core::fingerprint::{FailureGroup, Fingerprint};
use ganger_core::name::Kind;

use super::{Answer, NewTarget, Service, ServiceError};

/// Groups that were seen within this time are listed, unless told otherwise.
pub const FAILURES_WINDOW: Duration = Duration::from_secs(24 * 3600);

impl Service {
    /// Groups of failures that were seen since, of a kind or of all, the last seen first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn failures(&self, since: Wall, kind: Option<Kind>, limit: usize) -> Answer<Vec<FailureGroup>> {
        Ok(self.0.store.failures(since, kind.as_ref(), limit).await?)
    }

    /// One group of failures.
    ///
    /// # Errors
    /// There is no such group, or the store cannot be read.
    pub async fn failure(&self, fingerprint: Fingerprint) -> Answer<FailureGroup> {
        let found = self.0.store.failure(fingerprint).await?;
        found.ok_or(ServiceError::NoSuchFailure(fingerprint))
    }

    /// The dead jobs whose last attempt failed as those of a group.
    ///
    /// # Errors
    /// There is no such group, or the store cannot be read.
    pub async fn dead_of_failure(&self, fingerprint: Fingerprint) -> Answer<NewTarget> {
        let group = self.failure(fingerprint).await?;
        let text = format!("state:dead kind:\"{}\" failure:{fingerprint}", group.kind);
        let filter =
            Filter::parse(&text).map_err(|error| ServiceError::Filter("fingerprint", Box::new(error)))?;
        Ok(NewTarget::Filter(text, filter))
    }
}
