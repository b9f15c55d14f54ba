//! Every way a request can be refused: one table of codes, and how they are answered.
//!
//! A [`Problem`] is an RFC 9457 document. Its code is stable, has a page in `docs/errors/` that the
//! server serves at `/problems/<code>`, and decides status, title, hint and whether to try again.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ganger_core::coordinator::port::{Refusal, ScheduleRefusal};
use ganger_core::filter::FilterError;
use ganger_core::job::State;
use ganger_store::StoreError;

use super::{intake, parents};
use crate::api::{FieldProblem, ProblemBody};
use crate::service::ServiceError;

/// Media type of every refusal.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// The header that carries the code of a refusal, so that nobody need read its body for it.
pub const CODE: &str = "ganger-code";

/// Seconds after which a client should try again, where trying again can help.
const RETRY_AFTER: &str = "1";

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident $code:literal $status:ident $retry:literal $title:literal $hint:literal;)*) => {
        /// The stable name of a problem.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The code as written on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }

            /// The HTTP status it is answered with.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Code::$name => StatusCode::$status,)* }
            }

            /// The sort of problem, in words that never change.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }

            /// What to do about it.
            #[must_use]
            pub const fn hint(self) -> &'static str {
                match self { $(Code::$name => $hint,)* }
            }

            /// Whether the same request may succeed later.
            #[must_use]
            pub const fn retryable(self) -> bool {
                match self { $(Code::$name => $retry,)* }
            }

            /// Its page, in Markdown.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self {
                    $(Code::$name => include_str!(
                        concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors/", $code, ".md")
                    ),)*
                }
            }
        }
    };
}

codes! {
    /// The body is not JSON.
    MalformedJson "malformed_json" BAD_REQUEST false "The body is not valid JSON"
        "Send one JSON document in UTF-8; the detail says where it breaks.";
    /// A path or query parameter, or a header, cannot be read.
    InvalidParameter "invalid_parameter" BAD_REQUEST false "A parameter is not valid"
        "See /v1/docs for the parameters of this route.";
    /// A cursor that this list did not give.
    InvalidCursor "invalid_cursor" BAD_REQUEST false "The cursor does not belong to this list"
        "Repeat the filters of the first page with its cursor, or begin again without one.";
    /// A filter that cannot be understood.
    InvalidFilter "invalid_filter" BAD_REQUEST false "The filter cannot be understood"
        "`position` is the byte at which it stops making sense, `expected` what could stand there; see docs/search.md.";
    /// A server that does not belong to the cluster.
    RelayRefused "relay_refused" UNAUTHORIZED false "The request was not relayed by a server of this cluster"
        "Clients must not send Ganger-Relay. Servers need the same cluster secret, and clocks within 30 s of each other.";
    /// Nobody knows who asks.
    Unauthenticated "unauthenticated" UNAUTHORIZED false "This server wants to know who asks"
        "Send `Authorization: Bearer <token>`; `ganger token create` makes one, and the first is in the data directory of the server.";
    /// Name, password or refresh token is wrong.
    LoginRefused "login_refused" UNAUTHORIZED false "The login was refused"
        "Check name and password, or log in again; an administrator can set another password with `ganger user set`.";
    /// Whoever asks may not do that.
    Forbidden "forbidden" FORBIDDEN false "The caller may not do this"
        "GET /v1/whoami tells what this caller may do; an administrator can give a token or user another role.";
    /// A job must not run a command for just anyone.
    ExecNotAllowed "exec_not_allowed" FORBIDDEN false "Jobs of kind exec are not allowed here"
        "Name the data directory of the server: `ganger run --data DIR -- COMMAND`, as the first lines of `ganger dev` show. Other clients send the content of DIR/exec-token as X-Ganger-Exec-Token. `ganger server` runs no commands.";
    /// A web page of another site asked.
    OriginNotAllowed "origin_not_allowed" FORBIDDEN false "Requests from other web pages are refused"
        "Use the API from a program, or from a page that this server serves.";
    /// The request was meant for another server.
    HostNotAllowed "host_not_allowed" MISDIRECTED_REQUEST false "This server does not answer to that host name"
        "Use the address stated when the server started, or add the name to its allowed hosts.";
    /// Nothing is at that path.
    NoSuchRoute "no_such_route" NOT_FOUND false "There is nothing at this path"
        "See /v1/docs for every route.";
    /// The job does not exist.
    NoSuchJob "no_such_job" NOT_FOUND false "There is no such job"
        "Retention may have removed it; check the id.";
    /// The worker does not exist.
    NoSuchWorker "no_such_worker" NOT_FOUND false "There is no such worker"
        "List the workers with GET /v1/workers.";
    /// The saved view does not exist.
    NoSuchView "no_such_view" NOT_FOUND false "There is no such view"
        "List the views with GET /v1/views.";
    /// The bulk operation does not exist.
    NoSuchOperation "no_such_operation" NOT_FOUND false "There is no such operation"
        "List the operations with GET /v1/operations; the last 200 that are over are remembered.";
    /// The group of failures does not exist.
    NoSuchFailure "no_such_failure" NOT_FOUND false "There is no such group of failures"
        "List the groups with GET /v1/failures; one that was not seen for 90 days is forgotten.";
    /// The schedule does not exist.
    NoSuchSchedule "no_such_schedule" NOT_FOUND false "There is no such schedule"
        "List the schedules with GET /v1/schedules.";
    /// The user does not exist.
    NoSuchUser "no_such_user" NOT_FOUND false "There is no such user"
        "List the users with GET /v1/users.";
    /// The token does not exist.
    NoSuchToken "no_such_token" NOT_FOUND false "There is no such token"
        "List the tokens with GET /v1/tokens.";
    /// The job ended without a result.
    NoResult "no_result" NOT_FOUND false "The job has no result"
        "Only a job that succeeded has one; see its attempts for why it did not.";
    /// The path exists, the method does not.
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED false "This path does not have that method"
        "See /v1/docs for the methods of this path.";
    /// The body did not come in time.
    RequestTimeout "request_timeout" REQUEST_TIMEOUT true "The body did not arrive in time"
        "Send the request again.";
    /// The job's state does not allow it.
    WrongState "wrong_state" CONFLICT false "The job's state does not allow this"
        "Look at the job first: its state has changed.";
    /// The bulk operation is over.
    OperationOver "operation_over" CONFLICT false "The operation is over"
        "What it has done stays done; begin another one.";
    /// More views or operations than are kept.
    TooMany "too_many" CONFLICT false "There are too many of these"
        "Delete a view, or wait for an operation to end.";
    /// Another job holds the unique key.
    UniqueKeyHeld "unique_key_held" CONFLICT false "Another job holds the unique key"
        "Wait for that job to end, or cancel it.";
    /// The queue takes nothing new.
    QueueDraining "queue_draining" CONFLICT false "The queue is draining and takes nothing new"
        "Resume the queue with POST /v1/queues/{queue}:resume, or use another one.";
    /// A user of that name exists.
    UserExists "user_exists" CONFLICT false "There is a user of that name already"
        "Change him with PUT /v1/users/{name}, or choose another name.";
    /// A schedule of that name exists.
    ScheduleExists "schedule_exists" CONFLICT false "There is a schedule of that name already"
        "Change it with PUT /v1/schedules/{name}, or choose another name.";
    /// Another change of the schedule is being written.
    ScheduleBusy "schedule_busy" CONFLICT true "The schedule is being changed at this moment"
        "Nothing was changed. Look at the schedule, then send the request again if it is still wanted.";
    /// There are as many schedules as may be.
    TooManySchedules "too_many_schedules" CONFLICT false "There are as many schedules as may be"
        "Delete schedules that are not needed any more.";
    /// Users' transactions do not reach the store.
    NoTransactions "no_transactions" CONFLICT false "Kinds cannot be transactional in this store"
        "Keep jobs in PostgreSQL, or leave the kind as it is.";
    /// A report under a lease that is over.
    LeaseLost "lease_lost" CONFLICT false "The lease is no longer held"
        "Stop the work: the job was given to another worker, or has ended.";
    /// The body is larger than allowed.
    BodyTooLarge "body_too_large" PAYLOAD_TOO_LARGE false "The body is too large"
        "Keep large data elsewhere and send a reference, or use a smaller batch.";
    /// The address is longer than allowed.
    UriTooLong "uri_too_long" URI_TOO_LONG false "The address of the request is too long"
        "Use fewer or shorter filters.";
    /// The body is of a sort that is not read here.
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE false "The body is of the wrong sort"
        "Send application/json (application/x-ndjson for an import), not compressed.";
    /// A field is missing or out of bounds.
    ValidationFailed "validation_failed" UNPROCESSABLE_ENTITY false "The request has fields that are not valid"
        "Each entry of `errors` names a field and what is wrong with it.";
    /// The key was used for another request.
    IdempotencyKeyReused "idempotency_key_reused" UNPROCESSABLE_ENTITY false
        "The idempotency key was used for another request"
        "Use a fresh key for each new request; repeat a request byte for byte.";
    /// The headers are larger than allowed.
    HeadersTooLarge "headers_too_large" REQUEST_HEADER_FIELDS_TOO_LARGE false "The headers are too large"
        "Send fewer or shorter headers.";
    /// More requests, or failed logins, than allowed.
    RateLimited "rate_limited" TOO_MANY_REQUESTS true "Too many requests in too short a time"
        "Wait as long as Retry-After says; an administrator can give a token a higher rate.";
    /// Too much waits to be written.
    Overloaded "overloaded" TOO_MANY_REQUESTS true "Too many requests are waiting to be written"
        "Wait as long as Retry-After says, then send the same request again.";
    /// The queue has as many jobs waiting as it may.
    QueueFull "queue_full" TOO_MANY_REQUESTS true "The queue is full"
        "Wait as long as Retry-After says, then send the same request again; or raise max_depth with PUT /v1/queues/{queue}.";
    /// As many keys are closed as may be.
    TooManyClosedKeys "too_many_closed_keys" TOO_MANY_REQUESTS true "Too many keys are closed"
        "Wait until some open by themselves, or open some: GET /v1/keys lists them.";
    /// A bug, or something that should never be.
    Internal "internal" INTERNAL_SERVER_ERROR false "The server failed"
        "Look for the request id in the server's log, and report it.";
    /// The store cannot do it, now or later.
    StoreFailed "store_failed" INTERNAL_SERVER_ERROR false "The store failed"
        "Look for the request id in the server's log, which has the reason.";
    /// The disk is full.
    StoreFull "store_full" SERVICE_UNAVAILABLE true "The disk of the server is full"
        "Free space on the server's disk; it recovers without a restart.";
    /// The store cannot serve now.
    StoreUnavailable "store_unavailable" SERVICE_UNAVAILABLE true "The store cannot be written at present"
        "Nothing was changed. Send the same request again after Retry-After.";
    /// The server starts, stops, or has no leader.
    NotReady "not_ready" SERVICE_UNAVAILABLE true "The server is not ready"
        "Send the same request again after Retry-After; see /readyz?verbose.";
    /// There is no leader, and none came in time.
    NoLeader "no_leader" SERVICE_UNAVAILABLE true "No server leads at the moment"
        "Nothing was changed. Send the same request again after Retry-After; see GET /v1/cluster.";
    /// Another server relayed a request to a server that does not lead.
    NotLeading "not_leading" SERVICE_UNAVAILABLE true "This server does not lead"
        "Nothing was changed. The server that relayed the request finds the leader by itself.";
    /// The write may or may not have happened.
    OutcomeUnknown "outcome_unknown" SERVICE_UNAVAILABLE true "It is not known whether the request was carried out"
        "Send the same request again with the same Idempotency-Key; it settles the question.";
    /// Too many listeners.
    TooManyStreams "too_many_streams" SERVICE_UNAVAILABLE true "Too many clients listen to events"
        "Close listeners that are not needed, or try again later.";
}

impl Code {
    /// The code of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

/// A refusal: a code, this occurrence in words, and the fields concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What sort of problem.
    pub code: Code,
    /// This occurrence, for people.
    pub detail: String,
    /// What is wrong with which part of the request.
    pub errors: Vec<FieldProblem>,
    /// Where a filter stops making sense.
    pub filter: Option<Box<FilterError>>,
    /// Seconds after which to try again, where it is known.
    pub after: Option<u64>,
}

impl Problem {
    /// A problem of that sort.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Problem {
        Problem { code, detail: detail.into(), errors: Vec::new(), filter: None, after: None }
    }

    /// Fields that are not valid, at least one.
    #[must_use]
    pub fn fields(errors: Vec<FieldProblem>) -> Problem {
        let mut detail = String::from("the request is not valid");
        if let Some(first) = errors.first() {
            let name = first.pointer.trim_start_matches('/').replace('/', ".");
            detail =
                if name.is_empty() { first.detail.clone() } else { format!("`{name}` {}", first.detail) };
        }
        if errors.len() > 1 {
            detail.push_str(&format!(" (and {} more)", errors.len() - 1));
        }
        Problem { code: Code::ValidationFailed, detail, errors, filter: None, after: None }
    }

    /// A parameter that cannot be read.
    #[must_use]
    pub fn parameter(name: &str, detail: impl Into<String>) -> Problem {
        let detail = detail.into();
        Problem {
            code: Code::InvalidParameter,
            errors: vec![FieldProblem::new(format!("?{name}"), detail.clone())],
            detail: format!("`{name}` {detail}"),
            filter: None,
            after: None,
        }
    }

    /// A filter that cannot be understood, in that part of the request: `?q`, `/filter`.
    #[must_use]
    pub fn filter(pointer: &str, error: FilterError) -> Problem {
        let detail = error.to_string();
        Problem {
            code: Code::InvalidFilter,
            errors: vec![FieldProblem::new(pointer, detail.clone())],
            detail,
            filter: Some(Box::new(error)),
            after: None,
        }
    }

    /// The same, with so many seconds after which to try again.
    #[must_use]
    pub fn after(mut self, seconds: u64) -> Problem {
        self.after = Some(seconds);
        self
    }

    /// As it travels.
    #[must_use]
    pub fn body(&self, request_id: Option<&str>) -> ProblemBody {
        ProblemBody {
            kind: format!("/problems/{}", self.code.as_str()),
            title: self.code.title().into(),
            status: self.code.status().as_u16(),
            code: self.code.as_str().into(),
            detail: self.detail.clone(),
            hint: Some(self.code.hint().into()),
            errors: self.errors.clone(),
            retryable: self.code.retryable(),
            request_id: request_id.map(Into::into),
            position: self.filter.as_ref().map(|filter| filter.position),
            expected: self.filter.iter().flat_map(|f| &f.expected).map(|text| (*text).to_owned()).collect(),
        }
    }

    /// The whole answer. The problem also travels in the extensions, so that `observe` can
    /// log it and add the request's id.
    #[must_use]
    pub fn answer(self, request_id: Option<&str>) -> Response {
        // A document of texts and numbers cannot fail to serialise.
        let body = serde_json::to_vec(&self.body(request_id)).unwrap_or_default();
        let mut response = (self.code.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        headers.insert(CODE, HeaderValue::from_static(self.code.as_str()));
        if self.code.retryable() {
            let after = self.after.map_or(HeaderValue::from_static(RETRY_AFTER), HeaderValue::from);
            headers.insert(header::RETRY_AFTER, after);
        }
        if self.code.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"ganger\""));
        }
        response.extensions_mut().insert(self);
        response
    }

    fn wrong_state(state: State) -> Problem {
        Problem::new(Code::WrongState, format!("the job is {}", state.as_str()))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.answer(None)
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Problem {
        let detail = error.to_string();
        match error {
            ServiceError::NoSuchJob(_) => Problem::new(Code::NoSuchJob, detail),
            ServiceError::WrongState(..) => Problem::new(Code::WrongState, detail),
            ServiceError::NoSuchView(_) => Problem::new(Code::NoSuchView, detail),
            ServiceError::NoSuchOperation(_) => Problem::new(Code::NoSuchOperation, detail),
            ServiceError::NoSuchFailure(_) => Problem::new(Code::NoSuchFailure, detail),
            ServiceError::NoSuchWorker(_) => Problem::new(Code::NoSuchWorker, detail),
            ServiceError::OperationOver(..) => Problem::new(Code::OperationOver, detail),
            ServiceError::Invalid(error) => Problem::fields(vec![intake::at_field("", &error)]),
            ServiceError::Filter(field, error) => Problem::filter(&format!("/{field}"), *error),
            ServiceError::TooMany(..) => Problem::new(Code::TooMany, detail),
            ServiceError::KeyReused => Problem::new(Code::IdempotencyKeyReused, detail),
            ServiceError::Refused(refusal) => refusal.into(),
            ServiceError::Store(error) => error.into(),
            ServiceError::NotReady(_) => Problem::new(Code::NotReady, detail),
            ServiceError::Unknown(_) => Problem::new(Code::OutcomeUnknown, detail),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let detail = refusal.to_string();
        match refusal {
            Refusal::NoSuchJob => Problem::new(Code::NoSuchJob, detail),
            Refusal::WrongState(state) => Problem::wrong_state(state),
            Refusal::NotFinal => Problem::new(Code::WrongState, detail),
            Refusal::UniqueHeld(_) => Problem::new(Code::UniqueKeyHeld, detail),
            Refusal::QueueDraining(_) => Problem::new(Code::QueueDraining, detail),
            Refusal::QueueFull { .. } => Problem::new(Code::QueueFull, detail),
            Refusal::TooManyClosed => Problem::new(Code::TooManyClosedKeys, detail),
            Refusal::NoSuchWorker => Problem::new(Code::NoSuchWorker, detail),
            Refusal::NoTransactions(_) => Problem::new(Code::NoTransactions, detail),
            Refusal::Parents(wrong) => parents::wrong(&wrong),
            Refusal::Schedule(refusal) => refusal.into(),
            // The coordinator passes on what the store said, and knows nothing of disks.
            Refusal::Store(reason) if reason.contains(StoreError::DISK_IS_FULL) => {
                Problem::new(Code::StoreFull, detail)
            }
            Refusal::Store(_) => Problem::new(Code::StoreUnavailable, detail),
            Refusal::Overloaded => Problem::new(Code::Overloaded, detail),
        }
    }
}

impl From<ScheduleRefusal> for Problem {
    fn from(refusal: ScheduleRefusal) -> Problem {
        let detail = refusal.to_string();
        let range = |detail: String| Problem::fields(vec![FieldProblem::new("/from", detail)]);
        match refusal {
            ScheduleRefusal::NoSuch(_) => Problem::new(Code::NoSuchSchedule, detail),
            ScheduleRefusal::Exists(_) => Problem::new(Code::ScheduleExists, detail),
            ScheduleRefusal::TooMany => Problem::new(Code::TooManySchedules, detail),
            ScheduleRefusal::Busy(_) => Problem::new(Code::ScheduleBusy, detail),
            ScheduleRefusal::Invalid(error) => {
                let pointer = format!("/{}", error.field.replace('.', "/"));
                Problem::fields(vec![FieldProblem::new(pointer, error.problem)])
            }
            ScheduleRefusal::TooLong | ScheduleRefusal::NoRange | ScheduleRefusal::Forgotten(_) => {
                range(detail)
            }
            ScheduleRefusal::QueueDraining(_) => Problem::new(Code::QueueDraining, detail),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        match error {
            StoreError::Unavailable(_) => Problem::new(Code::StoreUnavailable, error.to_string()),
            StoreError::Full(_) => Problem::new(Code::StoreFull, error.to_string()),
            StoreError::Failed(reason) => {
                // What the store says may name files and statements: that is for the log only.
                tracing::error!(error = %reason, "the store failed: {reason}");
                Problem::new(Code::StoreFailed, "the store could not do it; the server's log has the reason")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_that_begins_with_its_name() {
        for code in Code::ALL {
            let first = code.page().lines().next().unwrap_or_default();
            assert_eq!(first, format!("# {}", code.as_str()));
            assert!(code.page().contains(code.status().as_str()), "{} names its status", code.as_str());
            assert_eq!(Code::parse(code.as_str()), Some(*code));
        }
    }

    #[test]
    fn what_may_succeed_later_says_when() {
        for code in Code::ALL {
            let answer = Problem::new(*code, "x").answer(Some("req_1"));
            assert_eq!(answer.headers().contains_key(header::RETRY_AFTER), code.retryable());
            assert_eq!(answer.status(), code.status());
        }
    }

    #[test]
    fn a_refusal_of_fields_names_the_first_and_counts_the_rest() {
        let errors = vec![
            FieldProblem::new("/retry/base", "is not a duration"),
            FieldProblem::new("/kind", "is missing"),
        ];
        let problem = Problem::fields(errors);
        assert_eq!(problem.detail, "`retry.base` is not a duration (and 1 more)");
        assert_eq!(problem.body(Some("req_1")).errors.len(), 2);
    }

    #[test]
    fn a_failed_store_does_not_tell_its_secrets() {
        let problem = Problem::from(StoreError::Failed("no such table: /var/lib/x".into()));
        assert_eq!(problem.code, Code::StoreFailed);
        assert!(!problem.detail.contains("table"));
    }
}
