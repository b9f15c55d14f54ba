//! What a call is about, where only its message tells: the jobs that it reads, or that it may be buffered.
//!
//! REST says both in places that a server sees without reading a message. So that a standby does the same by both doors
//! (history itself, `buffered` without a leader), it looks into the few calls for which that can matter.

use axum::body::{self, Body};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::Response;
use bytes::Bytes;
use ganger_core::JobId;
use ganger_proto::{Message, v1};

use super::call::{BODY_WITHIN, KEPT_BYTES, too_slow};
use super::route;
use crate::http::problem::{CODE, Code, Problem};

/// What is before a message: whether it is compressed, and its length.
const FRAME: usize = 5;

/// What a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// This job is read.
    Job(JobId),
    /// Jobs are looked for, and only among final ones.
    FinalJobs,
    /// Jobs are submitted that may be buffered.
    Buffered,
    /// Something that is the leader's, or that cannot be read.
    Other,
}

/// A call whose message was read.
pub(super) struct Told {
    parts: Parts,
    body: Bytes,
    pub(super) about: About,
}

impl Told {
    /// Reads the message of a call.
    ///
    /// # Errors
    /// It is too large, or broke off.
    pub(super) async fn read(request: Request) -> Result<Told, Problem> {
        let (parts, body) = request.into_parts();
        let read = tokio::time::timeout(BODY_WITHIN, body::to_bytes(body, KEPT_BYTES)).await;
        let body = match read {
            Ok(Ok(body)) => body,
            Ok(Err(error)) => {
                return Err(Problem::new(Code::BodyTooLarge, format!("the message cannot be read: {error}")));
            }
            Err(_) => return Err(too_slow()),
        };
        let about = about(parts.uri.path(), &body).unwrap_or(About::Other);
        Ok(Told { parts, body, about })
    }

    /// The call as it came.
    pub(super) fn request(&self) -> Request {
        Request::from_parts(self.parts.clone(), Body::from(self.body.clone()))
    }
}

/// Whether an answer says that nothing was done, for want of a leader.
pub(super) fn wants_a_leader(response: &Response) -> bool {
    let code = response.headers().get(CODE).and_then(|code| code.to_str().ok());
    code.is_some_and(|code| code == Code::NotReady.as_str() || code == Code::NotLeading.as_str())
}

fn about(path: &str, body: &[u8]) -> Option<About> {
    // A compressed one is the leader's to read.
    let message = body.get(FRAME..).filter(|_| body.first() == Some(&0))?;
    let job = |id: String| id.parse().ok().map(About::Job);
    match path.strip_prefix("/ganger.v1.Jobs/")? {
        "Get" => job(v1::GetRequest::decode(message).ok()?.id),
        "Attempts" => job(v1::AttemptsRequest::decode(message).ok()?.id),
        "List" => final_jobs(&v1::ListRequest::decode(message).ok()?),
        "Histogram" => final_jobs(&v1::HistogramRequest::decode(message).ok()?.jobs.unwrap_or_default()),
        "Logs" => job(v1::LogsRequest::decode(message).ok()?.id),
        "Enqueue" => v1::EnqueueRequest::decode(message).ok()?.buffered.then_some(About::Buffered),
        "EnqueueBatch" => v1::EnqueueBatchRequest::decode(message).ok()?.buffered.then_some(About::Buffered),
        _ => None,
    }
}

fn final_jobs(asked: &v1::ListRequest) -> Option<About> {
    let filters = Some(asked.q.as_str()).filter(|q| !q.is_empty());
    let states = asked.states.iter().map(String::as_str);
    route::speaks_only_of_final_jobs(filters.into_iter(), states).then_some(About::FinalJobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(message: &impl Message) -> Vec<u8> {
        let mut body = vec![0];
        body.extend((message.encoded_len() as u32).to_be_bytes());
        body.extend(message.encode_to_vec());
        body
    }

    #[test]
    fn a_call_tells_what_it_is_about() {
        let id = JobId::new(1, [7; 10]);
        let read = framed(&v1::GetRequest { id: id.to_string(), wait: None });
        assert_eq!(about("/ganger.v1.Jobs/Get", &read), Some(About::Job(id)));
        assert_eq!(about("/ganger.v1.Jobs/Attempts", &read), Some(About::Job(id)));
        assert_eq!(about("/ganger.v1.Jobs/Cancel", &read), None);
        let nonsense = framed(&v1::GetRequest { id: "nonsense".into(), wait: None });
        assert_eq!(about("/ganger.v1.Jobs/Get", &nonsense), None);
        let mut submission = v1::EnqueueRequest { buffered: true, ..v1::EnqueueRequest::default() };
        assert_eq!(about("/ganger.v1.Jobs/Enqueue", &framed(&submission)), Some(About::Buffered));
        submission.buffered = false;
        assert_eq!(about("/ganger.v1.Jobs/Enqueue", &framed(&submission)), None);
    }

    #[test]
    fn a_search_is_about_final_jobs_if_it_can_find_no_others() {
        for (states, q, about_final) in [
            (&["dead"][..], "", true),
            (&["dead", "cancelled"], "kind:a", true),
            (&["dead", "queued"], "", false),
            (&["rubbish"], "", false),
            (&[], "", false),
            (&[], "state:dead kind:a", true),
            (&["queued"], "state:dead", true),
            (&[], "-state:dead", false),
        ] {
            let states = states.iter().map(ToString::to_string).collect();
            let asked = v1::ListRequest { states, q: q.into(), ..v1::ListRequest::default() };
            let expected = about_final.then_some(About::FinalJobs);
            assert_eq!(about("/ganger.v1.Jobs/List", &framed(&asked)), expected, "{asked:?}");
            let counted = v1::HistogramRequest { jobs: Some(asked), buckets: 3 };
            assert_eq!(about("/ganger.v1.Jobs/Histogram", &framed(&counted)), expected, "{counted:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_the_leaders() {
        let mut compressed = framed(&v1::GetRequest { id: JobId::new(1, [7; 10]).to_string(), wait: None });
        compressed[0] = 1;
        for body in [&compressed[..], b"", b"\0\0\0", b"\0\0\0\0\x02\xff\xff"] {
            assert_eq!(about("/ganger.v1.Jobs/Get", body), None, "{body:?}");
        }
    }
}
