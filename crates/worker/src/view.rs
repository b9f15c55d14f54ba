//! A job as the server shows it.

use ganger_core::JobId;
use ganger_core::job::State;
use ganger_proto::v1;
use serde::de::DeserializeOwned;

use crate::client::{Client, ClientError, Jobs};

/// A job as it was when the server was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobView {
    /// Its identity.
    pub id: JobId,
    /// What sort of job it is.
    pub kind: String,
    /// The queue it waits in.
    pub queue: String,
    /// Where it is.
    pub state: State,
    /// Which attempt it is at, or ended with; 0 before the first.
    pub attempt: u32,
    /// Attempts allowed in all.
    pub max_attempts: u32,
    /// What its last attempt failed of.
    pub last_error: Option<String>,
    /// Why it is dead or cancelled.
    pub reason: Option<String>,
    result: Option<String>,
}

impl JobView {
    /// What its handler returned; `None` if it did not succeed.
    ///
    /// # Errors
    /// The result is not an `R`.
    pub fn result<R: DeserializeOwned>(&self) -> Result<Option<R>, ClientError> {
        let read = |text: &String| serde_json::from_str(text);
        self.result
            .as_ref()
            .map(read)
            .transpose()
            .map_err(|cause| ClientError::Json { what: "result", cause })
    }

    fn read(job: v1::Job) -> Result<JobView, ClientError> {
        let unknown = || ClientError::Answer(format!("unknown state `{}`", job.state));
        let state = State::parse(&job.state).ok_or_else(unknown)?;
        let id = job.id.parse();
        let text = |text: String| (!text.is_empty()).then_some(text);
        Ok(JobView {
            id: id.map_err(|e: ganger_core::ids::ParseIdError| ClientError::Answer(e.to_string()))?,
            kind: job.kind,
            queue: job.queue,
            state,
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            last_error: text(job.last_error),
            reason: text(job.reason),
            result: (state == State::Succeeded).then(|| text(job.result).unwrap_or_else(|| "null".into())),
        })
    }
}

impl Client {
    /// A job as it is now.
    ///
    /// # Errors
    /// There is no such job, or the server is away for too long.
    pub async fn get(&self, job: JobId) -> Result<JobView, ClientError> {
        let request = v1::GetRequest { id: job.to_string(), wait: None };
        let get = |mut jobs: Jobs| {
            let request = request.clone();
            async move { jobs.get(request).await }
        };
        JobView::read(self.patiently(get).await?)
    }
}
