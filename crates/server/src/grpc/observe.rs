//! Measures calls, as the REST door measures requests.

use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use ganger_core::access::policy::{self, Found};
use tonic::{Code, Status};

use crate::clock::Clock;
use crate::metrics::Metrics;

/// Around everything that answers. A stream is measured until its answer begins.
pub(super) async fn observe(
    metrics: &Metrics,
    clock: &Clock,
    request: Request,
    next: impl AsyncFnOnce(Request) -> Response,
) -> Response {
    let began = clock.now().mono;
    let path = request.uri().path();
    // Anybody can name calls that are not there: the table bounds the label.
    let route = match policy::find(Method::POST.as_str(), path) {
        Found::Operation(_) => path.to_owned(),
        Found::OtherMethod | Found::Nowhere => "unmatched".to_owned(),
    };
    let response = next(request).await;
    metrics.request(&route, &Method::POST, class(&response), clock.now().mono.since(began));
    response
}

/// The status that REST would have answered with, by class: a gRPC answer says 200 to everything.
fn class(response: &Response) -> StatusCode {
    // Where there is no status yet, the answer has begun well.
    let Some(status) = Status::from_header_map(response.headers()) else { return response.status() };
    match status.code() {
        Code::Ok => StatusCode::OK,
        Code::Unknown | Code::DeadlineExceeded | Code::Internal | Code::Unavailable | Code::DataLoss => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        Code::Cancelled
        | Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::ResourceExhausted
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::OutOfRange
        | Code::Unimplemented
        | Code::Unauthenticated => StatusCode::BAD_REQUEST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_counts_in_the_class_that_rest_would_answer_with() {
        let answered = |status: Status| class(&status.into_http::<axum::body::Body>());
        assert_eq!(answered(Status::not_found("no")), StatusCode::BAD_REQUEST);
        assert_eq!(answered(Status::unavailable("later")), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(class(&Response::default()), StatusCode::OK);
    }
}
