//! Many jobs in one request.

use ganger_core::limits;
use ganger_proto::v1;
use ganger_proto::v1::batch_item::Answer;

use crate::client::{Client, ClientError, Enqueue, Enqueued, Jobs};

impl Client {
    /// Enqueues up to a thousand jobs of one type in one request, and answers each: one that the server refuses does not keep the
    /// others back.
    ///
    /// ```no_run
    /// # use ganger_worker::{Client, ClientError, Job};
    /// # const GREET: Job<String, String> = Job::new("greet");
    /// # async fn run(client: Client) -> Result<(), ClientError> {
    /// let jobs = ["Ada", "Bob"].map(|name| client.enqueue(&GREET, name.to_owned()).priority(3));
    /// for enqueued in client.enqueue_batch(jobs).await? {
    ///     println!("{}", enqueued?.id());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A job has a mistake that can be seen here, there are none or too many, or the server is away for too long. Then nothing was
    /// enqueued, unless the last answer was lost.
    pub async fn enqueue_batch<R>(
        &self,
        jobs: impl IntoIterator<Item = Enqueue<R>>,
    ) -> Result<Vec<Result<Enqueued<R>, ClientError>>, ClientError> {
        let jobs = jobs.into_iter().map(|job| Ok(job.checked()?.into()));
        let jobs: Vec<v1::NewJob> = jobs.collect::<Result<_, ClientError>>()?;
        if !(1..=limits::BATCH_JOBS).contains(&jobs.len()) {
            let problem = format!("has {} jobs, allowed are 1 to {}", jobs.len(), limits::BATCH_JOBS);
            return Err(ClientError::Bounds { field: "batch", problem });
        }
        let idempotency_key = uuid::Uuid::new_v4().to_string();
        let request = v1::EnqueueBatchRequest { jobs, idempotency_key, ..Default::default() };
        let enqueue = |mut jobs: Jobs| {
            let request = request.clone();
            async move { jobs.enqueue_batch(request).await }
        };
        let answer = self.patiently(enqueue).await?;
        Ok(answer.items.into_iter().map(|item| self.one_of_batch(item)).collect())
    }

    fn one_of_batch<R>(&self, item: v1::BatchItem) -> Result<Enqueued<R>, ClientError> {
        match item.answer {
            Some(Answer::Job(job)) => Enqueued::read(self, &job),
            Some(Answer::Problem(problem)) => {
                Err(ClientError::Refused(Box::new(tonic::Status::invalid_argument(problem.detail))))
            }
            None => Err(ClientError::Answer("a job of the batch has no answer".into())),
        }
    }
}
