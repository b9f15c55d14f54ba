//! Who asks, beside the request, and what of the answer is his.
//!
//! The porter has let him in and knows what he may do at all. What depends on the request's content is asked here, by the doors:
//! whose queue it names, which jobs a list may show him, whether a filter would tell him what he may not read.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use ganger_core::JobId;
use ganger_core::access::{Caller, Lacking, Permission};
use ganger_core::coordinator::view::{Explanation, QueueAhead};
use ganger_core::filter::Filter;
use ganger_core::name::QueueName;
use ganger_core::operation::Action;
use ganger_store::read::ListQuery;

use crate::http::problem::{Code, Problem};
use crate::service::{NewOperation, NewTarget, Service, ServiceError};

/// How often it is looked whether somebody with a stream would still be let in.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// Who asks, as every door finds it beside its request.
#[derive(Clone, Debug)]
pub struct Asking(pub Arc<Caller>);

impl Asking {
    /// Whether he may see what is in jobs.
    pub(crate) fn reads_payloads(&self) -> bool {
        self.0.may.contains(Permission::ReadPayload)
    }

    /// Refuses to show, or to tell anything about, what is in jobs to whoever may not see it.
    ///
    /// # Errors
    /// He may not.
    pub(crate) fn must_read_payloads(&self, what: &str) -> Result<(), Problem> {
        if self.reads_payloads() {
            return Ok(());
        }
        Err(Problem::new(Code::Forbidden, format!("{what} it needs the permission `read_payload`")))
    }

    /// A filter that he may use: one that asks for what is in jobs tells it, match by match.
    ///
    /// # Errors
    /// It does, and he may not see that.
    pub(crate) fn may_use(&self, filter: &Filter) -> Result<(), Problem> {
        match filter.asks_for_contents() {
            true => self.must_read_payloads("to look for what is in payloads or results"),
            false => Ok(()),
        }
    }

    /// The same question, about jobs of his queues only.
    ///
    /// # Errors
    /// It asks for what is in jobs, and he may not see that.
    pub(crate) fn confine(&self, mut query: ListQuery) -> Result<ListQuery, Problem> {
        if let Some(filter) = &query.filter {
            self.may_use(filter)?;
        }
        if !self.0.queues.is_all() {
            let his = Filter::in_queues(self.0.queues.globs());
            query.filter = Some(Arc::new(match query.filter.take() {
                Some(filter) => Arc::unwrap_or_clone(filter).and(his),
                None => his,
            }));
        }
        Ok(query)
    }

    /// Whether a queue is his.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn must_see(&self, queue: &QueueName) -> Result<(), Problem> {
        match self.0.sees(queue) {
            true => Ok(()),
            false => Err(not_his(queue)),
        }
    }

    /// Takes out of what comes first the names of queues that the caller may not see.
    pub(crate) fn hide_queues(&self, others: Option<&mut Vec<QueueAhead>>) {
        if let Some(others) = others {
            QueueAhead::hide(others, |queue| self.0.sees(queue));
        }
    }

    /// Whether he is confined to no queues.
    ///
    /// # Errors
    /// He is.
    pub(crate) fn must_see_all(&self) -> Result<(), Problem> {
        match self.0.queues.is_all() {
            true => Ok(()),
            false => Err(Problem::new(Code::Forbidden, Lacking::Queues.to_string())),
        }
    }

    /// Whether he may start such an operation: what it does to many jobs he must be allowed to do to one.
    ///
    /// # Errors
    /// He may not.
    pub(crate) fn may_begin(&self, new: &NewOperation) -> Result<(), Problem> {
        let needed = match new.action {
            Action::Replay => Permission::Replay,
            Action::Cancel => Permission::Cancel,
            Action::Delete => Permission::Purge,
        };
        if !self.0.may.contains(needed) {
            return Err(Problem::new(Code::Forbidden, Lacking::Permission(needed).to_string()));
        }
        match &new.target {
            NewTarget::Filter(_, filter) => self.may_use(filter),
            NewTarget::Ids(_) | NewTarget::All => Ok(()),
        }
    }

    /// Whoever opened a stream must be let in as long as it lives: resolves once he is not.
    pub(crate) async fn until_not_let_in(&self, service: &Service) {
        while service.still_admits(&self.0).await {
            // Whatever this server itself changes is looked at at once.
            let _ = tokio::time::timeout(ASK_AGAIN, service.auth().directory().next_change()).await;
        }
    }

    /// An explanation without the jobs and queues that are not this caller's.
    ///
    /// # Errors
    /// The queues cannot be read.
    pub(crate) async fn may_know(
        &self,
        service: &Service,
        mut explanation: Explanation,
    ) -> Result<Explanation, Problem> {
        if self.0.queues.is_all() {
            return Ok(explanation);
        }
        self.hide_queues(explanation.position.as_mut().map(|position| &mut position.others));
        let queues = service.queues().await?;
        let foreign: Vec<String> = queues
            .iter()
            .filter(|queue| !self.0.sees(&queue.queue))
            .map(|queue| format!("`{}`", queue.queue))
            .collect();
        let texts = explanation.gates.iter_mut().map(|gate| &mut gate.evidence);
        let texts = texts.chain([&mut explanation.summary]).chain(&mut explanation.next_step);
        for text in texts {
            for id in job_ids(text) {
                if id != explanation.job && self.must_see_job(service, id).await.is_err() {
                    *text = text.replace(&id.to_string(), "a job of another queue");
                }
            }
            for queue in &foreign {
                *text = text.replace(queue.as_str(), "another queue");
            }
        }
        Ok(explanation)
    }

    /// Whether a job is his. One that is not is not there.
    ///
    /// # Errors
    /// It is not, or cannot be read.
    pub(crate) async fn must_see_job(&self, service: &Service, id: JobId) -> Result<(), Problem> {
        must_see_job(service, &self.0, id).await
    }
}

/// The jobs that a text names.
fn job_ids(text: &str) -> Vec<JobId> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter_map(|word| word.parse().ok()).collect()
}

/// See [`Asking::must_see_job`].
pub(super) async fn must_see_job(service: &Service, caller: &Caller, id: JobId) -> Result<(), Problem> {
    if caller.queues.is_all() {
        return Ok(());
    }
    let view = service.job(id).await.map_err(Problem::from)?;
    match caller.sees(&view.stored.spec.queue) {
        true => Ok(()),
        false => Err(ServiceError::NoSuchJob(id).into()),
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asking {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Asking, Problem> {
        // A door without a porter lets nobody in.
        let found = parts.extensions.get::<Asking>().cloned();
        found.ok_or_else(|| Problem::new(Code::Unauthenticated, "nobody found out who asks"))
    }
}

/// The refusal of a queue that is not the caller's.
pub(super) fn not_his(queue: &QueueName) -> Problem {
    Problem::new(Code::Forbidden, format!("queue `{queue}` is not among those of this caller"))
}
