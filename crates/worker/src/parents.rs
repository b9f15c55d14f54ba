//! The jobs that a job waited for.

use ganger_core::JobId;
use ganger_core::job::State;
use ganger_proto::v1;
use serde::de::DeserializeOwned;

use crate::client::{Client, ClientError, Jobs};

/// Parents that are asked for at a time.
const PAGE: u32 = 100;

/// A job that another one waited for.
#[derive(Clone, Debug)]
pub struct Parent {
    client: Client,
    id: JobId,
    ended: Option<State>,
}

impl Parent {
    /// Its identity.
    #[must_use]
    pub fn id(&self) -> JobId {
        self.id
    }

    /// How it ended: succeeded, dead or cancelled. `None` while that is not settled.
    #[must_use]
    pub fn ended(&self) -> Option<State> {
        self.ended
    }

    /// What its handler returned; `None` if it did not succeed. Fetched when it is asked for.
    ///
    /// # Errors
    /// The job is not kept any more, its result is not an `R`, or the server is away for too long.
    pub async fn result<R: DeserializeOwned>(&self) -> Result<Option<R>, ClientError> {
        let request = v1::GetRequest { id: self.id.to_string(), wait: None };
        let get = |mut jobs: Jobs| {
            let request = request.clone();
            async move { jobs.get(request).await }
        };
        let job = self.client.patiently(get).await?;
        if State::parse(&job.state) != Some(State::Succeeded) {
            return Ok(None);
        }
        let text = if job.result.is_empty() { "null" } else { &job.result };
        serde_json::from_str(text).map(Some).map_err(|cause| ClientError::Json { what: "result", cause })
    }
}

impl Client {
    /// The jobs that a job waits for, or waited for, oldest first.
    ///
    /// # Errors
    /// There is no such job, or the server is away for too long.
    pub async fn parents(&self, job: JobId) -> Result<Vec<Parent>, ClientError> {
        let mut parents = Vec::new();
        let mut cursor = String::new();
        // Bounded: a job has at most `limits::DEPENDENCIES` parents.
        loop {
            let request = v1::RelatedRequest { id: job.to_string(), children: false, cursor, limit: PAGE };
            let ask = |mut jobs: Jobs| {
                let request = request.clone();
                async move { jobs.related(request).await }
            };
            let page = self.patiently(ask).await?;
            for found in page.jobs {
                let id = found.id.parse();
                let id =
                    id.map_err(|e: ganger_core::ids::ParseIdError| ClientError::Answer(e.to_string()))?;
                parents.push(Parent { client: self.clone(), id, ended: State::parse(&found.settled) });
            }
            cursor = page.next_cursor;
            if cursor.is_empty() {
                return Ok(parents);
            }
        }
    }
}
