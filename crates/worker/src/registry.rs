//! Which handler runs which kind.

use std::collections::BTreeMap;

use ganger_core::limits;
use ganger_core::name::Kind;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::Ctx;
use crate::error::{JobError, WorkerError};
use crate::handler::Handler;
use crate::job::Job;

/// Handlers by kind. A mistake made while filling it is kept and told when the worker starts, so
/// that registering reads as one chain.
#[derive(Default)]
pub struct Registry {
    handlers: BTreeMap<Kind, Handler>,
    mistake: Option<WorkerError>,
}

impl Registry {
    /// Without any handler.
    #[must_use]
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Runs jobs of this kind with an async function.
    #[must_use]
    pub fn handle<P, R, F, Fut>(self, job: &Job<P, R>, handler: F) -> Registry
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(Ctx, P) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, JobError>> + Send + 'static,
    {
        self.put(job.kind(), Handler::new_async(handler))
    }

    /// Runs jobs of this kind with a function that blocks, on a thread of its own.
    #[must_use]
    pub fn handle_blocking<P, R, F>(self, job: &Job<P, R>, handler: F) -> Registry
    where
        P: DeserializeOwned + 'static,
        R: Serialize,
        F: Fn(Ctx, P) -> Result<R, JobError> + Send + Sync + 'static,
    {
        self.put(job.kind(), Handler::new_blocking(handler))
    }

    /// Takes over the handlers of another.
    #[must_use]
    pub fn with(mut self, other: Registry) -> Registry {
        self.mistake = self.mistake.or(other.mistake);
        for (kind, handler) in other.handlers {
            self = self.put(kind.as_str(), handler);
        }
        self
    }

    /// Keeps only the handlers of these kinds.
    #[must_use]
    pub fn only(mut self, kinds: &[Kind]) -> Registry {
        self.handlers.retain(|kind, _| kinds.contains(kind));
        self
    }

    /// The kinds it has a handler for, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> + '_ {
        self.handlers.keys()
    }

    pub(crate) fn get(&self, kind: &Kind) -> Option<&Handler> {
        self.handlers.get(kind)
    }

    /// The registry, if it can be used.
    pub(crate) fn checked(mut self) -> Result<Registry, WorkerError> {
        if let Some(mistake) = self.mistake.take() {
            return Err(mistake);
        }
        let (value, high) = (self.handlers.len(), limits::WORKER_NAMES);
        if !(1..=high).contains(&value) {
            return Err(WorkerError::Bound { what: "number of handlers", value, low: 1, high });
        }
        Ok(self)
    }

    pub(crate) fn put(mut self, kind: &str, handler: Handler) -> Registry {
        let problem = match kind.parse::<Kind>() {
            Ok(kind) => match self.handlers.insert(kind.clone(), handler) {
                None => return self,
                Some(_) => WorkerError::TwoHandlers(kind.to_string()),
            },
            Err(cause) => WorkerError::Name { what: "kind", text: kind.into(), cause },
        };
        self.mistake.get_or_insert(problem);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Job<(), ()> = Job::new("plain");
    const ODD: Job<(), ()> = Job::new("no spaces allowed");

    async fn nothing(_: Ctx, (): ()) -> Result<(), JobError> {
        Ok(())
    }

    #[test]
    fn mistakes_made_while_registering_are_told_at_the_start() {
        let problem = |registry: Registry| registry.checked().err().map(|e| e.to_string());
        assert_eq!(problem(Registry::new().handle(&PLAIN, nothing)), None);
        assert_eq!(
            problem(Registry::new()).as_deref(),
            Some("number of handlers is 0, allowed are 1 to 256")
        );
        let twice = Registry::new().handle(&PLAIN, nothing).with(Registry::new().handle(&PLAIN, nothing));
        assert_eq!(problem(twice).as_deref(), Some("kind `plain` has two handlers"));
        let odd = problem(Registry::new().handle(&ODD, nothing)).unwrap();
        assert!(odd.starts_with("kind `no spaces allowed` contains ' '"), "{odd}");
    }
}
