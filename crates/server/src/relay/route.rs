//! What a standby does with a request, judged by its method and its address alone.

use axum::extract::Query;
use axum::http::{Method, Uri};
use ganger_core::filter::Filter;
use ganger_core::job::State;
use ganger_core::{JobId, Wall};

/// How a request is treated by a server that does not lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) place: Place,
    pub(crate) again: Again,
    pub(crate) body: Reading,
}

/// Where a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// By the server that was asked, whoever leads.
    Here,
    /// Here if this job is final: then the store knows all there is to know.
    HereIfFinal(JobId),
    /// As its message tells.
    ByMessage,
    /// By the leader.
    Leader,
}

/// Whether a request whose answer was lost may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// Doing it twice is doing it once, and the second answer is as good as the first.
    Harmless,
    /// It is, under an idempotency key.
    Keyed,
    /// The second time could change something else, or be refused because of the first.
    No,
}

/// How the body of a request is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Read first and kept, so that it can be sent again.
    Kept,
    /// Passed on as it comes.
    Passing,
}

/// Paths below these tell about the server that was asked, never change, or are in the store for everyone.
const HERE: &[&str] = &[
    "/livez",
    "/readyz",
    "/metrics",
    HEALTH,
    "/v1/cluster",
    "/v1/system",
    "/v1/stats/timeseries",
    "/v1/docs",
    "/v1/whoami",
    "/ui",
];
/// The health protocol of gRPC.
const HEALTH: &str = "/grpc.health.v1.Health";
/// The same of calls.
const CALLS_HERE: &[&str] = &["Server/Cluster", "Server/Timeseries"];
/// Calls that are answered here if the jobs that they read are final, or if what they submit may be buffered.
const CALLS_BY_MESSAGE: &[&str] = &[
    "Jobs/Get",
    "Jobs/List",
    "Jobs/Attempts",
    "Jobs/Logs",
    "Jobs/Histogram",
    "Jobs/Enqueue",
    "Jobs/EnqueueBatch",
];
/// Calls that read, or whose second time is like the first.
const HARMLESS_CALLS: &[&str] = &[
    "Jobs/Get",
    "Jobs/List",
    "Jobs/Attempts",
    "Jobs/Events",
    "Jobs/Related",
    "Jobs/Explain",
    "Jobs/Histogram",
    "Jobs/Logs",
    "Worker/ReportDeath",
    "Workers/List",
    "Workers/Get",
    "Workers/Drain",
    "Queues/List",
    "Queues/Get",
    "Queues/Scaling",
    "Queues/Head",
    "Queues/Put",
    "Queues/Pause",
    "Queues/Resume",
    "Queues/Drain",
    "Keys/List",
    "Keys/Close",
    "Keys/Open",
    "Kinds/List",
    "Kinds/Get",
    "Kinds/Put",
    "Schedules/List",
    "Schedules/Get",
    "Schedules/Put",
    "Schedules/Preview",
    "Schedules/Next",
    "Schedules/Occurrences",
    "Schedules/Pause",
    "Schedules/Resume",
    "Operations/List",
    "Operations/Get",
    "Failures/List",
    "Failures/Get",
    "Views/List",
    "Views/Get",
    "Views/Put",
    "Server/Stats",
    "Server/Timeseries",
    "Server/Capabilities",
    "Server/Cluster",
];
/// What can be read of a final job without asking the leader.
const HISTORY: &[&str] = &["attempts", "result", "payload", "logs"];

impl Route {
    /// The route of a request.
    pub(crate) fn of(method: &Method, uri: &Uri) -> Route {
        let path = uri.path();
        if let Some(call) = path.strip_prefix("/ganger.v1.") {
            return Route::of_call(call);
        }
        if let Some(call) = path.strip_prefix("/dts.ClientService/") {
            return Route::of_task(call);
        }
        let reads = matches!(*method, Method::GET | Method::HEAD);
        let place = if is_here(path) || (reads && lists_only_final_jobs(uri)) {
            Place::Here
        } else if reads {
            final_job(path).map_or(Place::Leader, Place::HereIfFinal)
        } else {
            Place::Leader
        };
        let body = if path == "/v1/jobs:import" { Reading::Passing } else { Reading::Kept };
        let again = if reads { Again::Harmless } else { repeats(method, path) };
        Route { place, again, body }
    }

    fn of_call(call: &str) -> Route {
        let place = match call {
            _ if CALLS_HERE.contains(&call) => Place::Here,
            _ if CALLS_BY_MESSAGE.contains(&call) => Place::ByMessage,
            _ => Place::Leader,
        };
        let body = if call == "Worker/Session" { Reading::Passing } else { Reading::Kept };
        let again = match call {
            "Jobs/Enqueue" | "Jobs/EnqueueBatch" => Again::Keyed,
            "Operations/Start" | "Failures/Replay" | "Failures/Discard" => Again::Keyed,
            _ if HARMLESS_CALLS.contains(&call) => Again::Harmless,
            _ => Again::No,
        };
        Route { place, again, body }
    }
}

impl Route {
    /// The route of a call by the door of profile D.
    fn of_task(call: &str) -> Route {
        let (again, body) = match call {
            "ScheduleTask" => (Again::Keyed, Reading::Kept),
            "GetStatus" => (Again::Harmless, Reading::Kept),
            // A file has no length that is known before its end.
            _ => (Again::No, Reading::Passing),
        };
        Route { place: Place::Leader, again, body }
    }
}

fn is_here(path: &str) -> bool {
    let below =
        |head: &str| path.strip_prefix(head).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    path == "/"
        || HERE.iter().any(|head| below(head))
        || path.starts_with("/problems/")
        || path.starts_with("/v1/openapi")
}

/// What of the writing routes may be done twice. A second `:cancel`, `:replay` or `:run-now` is refused
/// because of the first; a second `:purge` tells a wrong number; a second `:claim` leases other jobs; a
/// second `:log` logs twice.
fn repeats(method: &Method, path: &str) -> Again {
    if *method == Method::PUT
        && ["/v1/queues/", "/v1/kinds/", "/v1/views/", "/v1/schedules/", "/v1/users/"]
            .iter()
            .any(|head| path.starts_with(head))
    {
        return Again::Harmless;
    }
    if *method != Method::POST {
        return Again::No;
    }
    if matches!(path, "/v1/jobs" | "/v1/jobs:batch" | "/v1/operations" | "/submit_job" | "/jobs") {
        return Again::Keyed;
    }
    if path.starts_with("/v1/failures/") {
        return Again::Keyed;
    }
    // The same person again is the same job.
    if path == "/addJob" {
        return Again::Harmless;
    }
    let harmless: &[&str] = match path.split('/').nth(2) {
        Some("queues") => &["pause", "resume", "drain", "close", "open"],
        // What a backfill has fired does not fire again, but only the first answer tells what did.
        Some("schedules") => &["pause", "resume"],
        Some("schedules:preview") => &["preview"],
        Some("workers") => &["drain"],
        // A report carries its fence: the same one again is recognised.
        Some("leases") => &["complete", "fail", "release", "extend", "progress"],
        Some(_) | None => &[],
    };
    let verb = path.rsplit_once(':').map_or("", |(_, verb)| verb);
    if harmless.contains(&verb) { Again::Harmless } else { Again::No }
}

/// The job whose history is at that path.
fn final_job(path: &str) -> Option<JobId> {
    let rest = path.strip_prefix("/v1/jobs/")?;
    let (id, part) = rest.split_once('/').map_or((rest, None), |(id, part)| (id, Some(part)));
    if part.is_some_and(|part| !HISTORY.contains(&part)) {
        return None;
    }
    id.parse().ok()
}

fn lists_only_final_jobs(uri: &Uri) -> bool {
    if !matches!(uri.path(), "/v1/jobs" | "/v1/jobs:export" | "/v1/jobs:histogram") {
        return false;
    }
    let Ok(Query(pairs)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else { return false };
    let named = |wanted: &'static str| {
        pairs.iter().filter(move |(name, _)| name == wanted).map(|(_, value)| value.as_str())
    };
    speaks_only_of_final_jobs(named("q"), named("state").flat_map(|value| value.split(',')))
}

/// Whether jobs that fit all these filters and are in one of these states can only be final. By both doors the same.
pub(super) fn speaks_only_of_final_jobs<'a>(
    filters: impl Iterator<Item = &'a str>,
    states: impl Iterator<Item = &'a str>,
) -> bool {
    // No moment is needed to tell the states of which a filter speaks.
    let mut narrowed = filters
        .filter_map(|text| Filter::parse(text).ok())
        .filter_map(|filter| filter.narrowed(Wall::default()).states);
    if narrowed.any(|states| states.into_iter().all(State::is_final)) {
        return true;
    }
    let mut states = states.filter(|text| !text.is_empty()).peekable();
    states.peek().is_some() && states.all(|text| State::parse(text).is_some_and(State::is_final))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(method: &str, uri: &str) -> Route {
        Route::of(&method.parse().unwrap(), &uri.parse().unwrap())
    }

    #[test]
    fn what_is_about_the_server_itself_is_never_passed_on() {
        for path in
            ["/", "/livez", "/readyz?verbose", "/metrics", "/v1/cluster", "/v1/openapi.json", "/ui/x.js"]
                .into_iter()
                .chain(["/v1/stats/timeseries?step=1h"])
        {
            assert_eq!(route("GET", path).place, Place::Here, "{path}");
        }
        for path in ["/livezzz", "/v1/clusters", "/v1/stats", "/v1/events", "/v1/queues", "/x", "/v1/jobs"] {
            assert_eq!(route("GET", path).place, Place::Leader, "{path}");
        }
    }

    #[test]
    fn history_is_read_here_and_live_jobs_are_not() {
        let id = JobId::new(1, [1; 10]);
        for part in ["", "/attempts", "/result", "/payload", "/logs?attempt=1", "?wait=5s"] {
            assert_eq!(route("GET", &format!("/v1/jobs/{id}{part}")).place, Place::HereIfFinal(id), "{part}");
        }
        assert_eq!(route("GET", &format!("/v1/jobs/{id}/explain")).place, Place::Leader);
        assert_eq!(route("POST", &format!("/v1/jobs/{id}")).place, Place::Leader);
        assert_eq!(route("GET", "/v1/jobs/rubbish").place, Place::Leader);
        for (query, place) in [
            ("state=dead", Place::Here),
            ("state=dead,cancelled&queue=a&state=succeeded", Place::Here),
            ("state=de%61d", Place::Here),
            ("state=dead,queued", Place::Leader),
            ("state=", Place::Leader),
            ("state=rubbish", Place::Leader),
            ("queue=dead", Place::Leader),
            ("q=state%3Adead%20kind%3Aa", Place::Here),
            ("q=-state%3Adead", Place::Leader),
            ("q=state%3Adead%20or%20kind%3Aa", Place::Leader),
            ("q=rubbish%28&state=dead", Place::Here),
        ] {
            assert_eq!(route("GET", &format!("/v1/jobs?{query}")).place, place, "{query}");
        }
    }

    #[test]
    fn only_what_can_be_done_twice_is_sent_twice() {
        for (method, path, again) in [
            ("GET", "/v1/stats", Again::Harmless),
            ("POST", "/v1/jobs", Again::Keyed),
            ("POST", "/v1/jobs:batch", Again::Keyed),
            ("POST", "/submit_job", Again::Keyed),
            ("POST", "/jobs", Again::Keyed),
            ("POST", "/addJob", Again::Harmless),
            ("POST", "/refreshToken", Again::No),
            ("POST", "/v1/jobs:import", Again::No),
            ("POST", "/v1/jobs/x:cancel", Again::No),
            ("POST", "/v1/jobs/x:replay", Again::No),
            ("POST", "/v1/jobs/x:pause", Again::No),
            ("PUT", "/v1/queues/mail", Again::Harmless),
            ("PUT", "/v1/kinds/resize", Again::Harmless),
            ("PUT", "/v1/views/mine", Again::Harmless),
            ("POST", "/v1/operations", Again::Keyed),
            ("POST", "/v1/operations/x:cancel", Again::No),
            ("POST", "/v1/failures/x:replay", Again::Keyed),
            ("POST", "/v1/queues/a:b:pause", Again::Harmless),
            ("POST", "/v1/queues/mail:purge", Again::No),
            ("POST", "/v1/queues/mail:claim", Again::No),
            ("POST", "/v1/leases/x:complete", Again::Harmless),
            ("POST", "/v1/leases/x:log", Again::No),
            ("DELETE", "/v1/queues/mail", Again::No),
            ("POST", "/ganger.v1.Jobs/Enqueue", Again::Keyed),
            ("POST", "/ganger.v1.Jobs/Cancel", Again::No),
            ("POST", "/ganger.v1.Worker/Session", Again::No),
            ("POST", "/dts.ClientService/ScheduleTask", Again::Keyed),
            ("POST", "/dts.ClientService/GetStatus", Again::Harmless),
            ("POST", "/dts.ClientService/TransferFile", Again::No),
        ] {
            assert_eq!(route(method, path).again, again, "{method} {path}");
        }
        assert_eq!(route("POST", "/v1/jobs:import").body, Reading::Passing);
        assert_eq!(route("POST", "/ganger.v1.Worker/Session").body, Reading::Passing);
        assert_eq!(route("POST", "/v1/jobs:batch").body, Reading::Kept);
        assert_eq!(route("POST", "/dts.ClientService/TransferFile").body, Reading::Passing);
        assert_eq!(route("POST", "/grpc.health.v1.Health/Check").place, Place::Here);
    }
}
