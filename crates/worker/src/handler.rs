//! A user's code for a kind, with its types erased: JSON text in, JSON text out.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::Ctx;
use crate::error::{Fatal, JobError};

type Outcome = Result<String, JobError>;

/// One handler.
#[derive(Clone)]
pub(crate) enum Handler {
    /// Runs on the runtime; can be dropped when it does not stop.
    Async(Arc<dyn Fn(Ctx, String) -> BoxFuture<'static, Outcome> + Send + Sync>),
    /// Runs on a thread of its own; ends when it ends.
    Blocking(Arc<dyn Fn(Ctx, String) -> Outcome + Send + Sync>),
}

impl Handler {
    pub(crate) fn new_async<P, R, F, Fut>(handler: F) -> Handler
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(Ctx, P) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, JobError>> + Send + 'static,
    {
        Handler::Async(Arc::new(move |ctx, payload| match read::<P>(&payload) {
            Ok(payload) => {
                let running = handler(ctx, payload);
                Box::pin(async move { write(&running.await?) })
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }))
    }

    pub(crate) fn new_blocking<P, R, F>(handler: F) -> Handler
    where
        P: DeserializeOwned + 'static,
        R: Serialize,
        F: Fn(Ctx, P) -> Result<R, JobError> + Send + Sync + 'static,
    {
        Handler::Blocking(Arc::new(move |ctx, payload| write(&handler(ctx, read::<P>(&payload)?)?)))
    }
}

/// A payload of the wrong shape does not get better by trying again.
fn read<P: DeserializeOwned>(payload: &str) -> Result<P, JobError> {
    serde_json::from_str(payload).map_err(|e| format!("payload does not fit the handler: {e}")).fatal()
}

fn write<R: Serialize>(result: &R) -> Outcome {
    serde_json::to_string(result).map_err(|e| format!("result cannot be written as JSON: {e}")).fatal()
}
