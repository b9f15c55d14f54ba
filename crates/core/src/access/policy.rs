//! The one table: what each operation of every door needs.
//!
//! An operation that is not here is refused, whoever asks. A test of the server walks all routes and calls that there are, and
//! fails for one that is missing.

use super::Permission;
use Access::{Known, Needs, Open};
use Permission::{Admin, Audit, Cancel, Enqueue, Purge, Read, ReadPayload, Replay, Schedule, Settings, Work};
use Reach::{All, Each, Nothing};

/// What an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nobody is asked.
    Open,
    /// Whoever was recognised.
    Known,
    /// A permission, and how far it goes.
    Needs(Permission, Reach),
}

impl Access {
    /// Whether what it changes is written down with who asked for it. Submissions and the work on jobs are not: they are the
    /// history of each job.
    #[must_use]
    pub const fn is_audited(self) -> bool {
        match self {
            Open => false,
            Known => true,
            Needs(permission, _) => match permission {
                Cancel | Replay | Settings | Purge | Schedule | Admin => true,
                Read | ReadPayload | Enqueue | Work | Audit => false,
            },
        }
    }
}

/// What an operation has to do with queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing, or only what the caller was given before.
    Nothing,
    /// The door looks at each queue that is named or met.
    Each,
    /// It is about all of them: nobody who is confined to some may do it.
    All,
}

/// An operation: its method, its path, and what it needs. In a path `{x}` is one segment, and `**` all that follow.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// `GET`, `POST`, …
    pub method: &'static str,
    /// As in the OpenAPI document, or `/package.Service/Method`.
    pub path: &'static str,
    /// What it needs.
    pub access: Access,
}

macro_rules! table {
    ($($method:ident $path:literal $access:expr;)*) => {
        /// Every operation of every door.
        pub const TABLE: &[Rule] =
            &[$(Rule { method: stringify!($method), path: $path, access: $access }),*];
    };
}

table! {
    // Health, pages, and what has to be open so that somebody can log in.
    GET "/livez" Open;
    GET "/readyz" Open;
    GET "/metrics" Needs(Read, All);
    GET "/" Open;
    GET "/ui" Open;
    GET "/ui/**" Open;
    GET "/v1/docs" Open;
    GET "/v1/openapi.json" Open;
    GET "/problems/{code}" Open;
    POST "/v1/auth:login" Open;
    POST "/v1/auth:refresh" Open;
    POST "/v1/auth:logout" Known;
    POST "/v1/auth:password" Known;
    GET "/v1/whoami" Known;
    GET "/v1/capabilities" Known;

    // Users and tokens.
    GET "/v1/audit" Needs(Audit, All);
    GET "/v1/users" Needs(Admin, All);
    POST "/v1/users" Needs(Admin, All);
    GET "/v1/users/{name}" Needs(Admin, All);
    PUT "/v1/users/{name}" Needs(Admin, All);
    DELETE "/v1/users/{name}" Needs(Admin, All);
    GET "/v1/tokens" Needs(Admin, All);
    POST "/v1/tokens" Needs(Admin, All);
    GET "/v1/tokens/{id}" Needs(Admin, All);
    DELETE "/v1/tokens/{id}" Needs(Admin, All);

    // Jobs.
    POST "/v1/jobs" Needs(Enqueue, Each);
    POST "/v1/jobs:batch" Needs(Enqueue, Each);
    POST "/v1/jobs:import" Needs(Enqueue, Each);
    GET "/v1/jobs" Needs(Read, Each);
    GET "/v1/jobs:histogram" Needs(Read, Each);
    GET "/v1/jobs:export" Needs(ReadPayload, Each);
    GET "/v1/jobs/{id}" Needs(Read, Each);
    DELETE "/v1/jobs/{id}" Needs(Purge, Each);
    GET "/v1/jobs/{id}/attempts" Needs(Read, Each);
    GET "/v1/jobs/{id}/events" Needs(Read, Each);
    GET "/v1/jobs/{id}/explain" Needs(Read, Each);
    GET "/v1/jobs/{id}/related" Needs(Read, All);
    GET "/v1/jobs/{id}/parents" Needs(Read, All);
    GET "/v1/jobs/{id}/children" Needs(Read, All);
    GET "/v1/jobs/{id}/payload" Needs(ReadPayload, Each);
    GET "/v1/jobs/{id}/result" Needs(ReadPayload, Each);
    GET "/v1/jobs/{id}/logs" Needs(ReadPayload, Each);
    POST "/v1/jobs/{id}:cancel" Needs(Cancel, Each);
    POST "/v1/jobs/{id}:run-now" Needs(Cancel, Each);
    POST "/v1/jobs/{id}:replay" Needs(Replay, Each);

    // Queues, kinds, keys.
    GET "/v1/queues" Needs(Read, Each);
    GET "/v1/queues/{queue}" Needs(Read, Each);
    PUT "/v1/queues/{queue}" Needs(Settings, Each);
    POST "/v1/queues/{queue}:pause" Needs(Settings, Each);
    POST "/v1/queues/{queue}:resume" Needs(Settings, Each);
    POST "/v1/queues/{queue}:drain" Needs(Settings, Each);
    POST "/v1/queues/{queue}:purge" Needs(Purge, Each);
    GET "/v1/queues/{queue}/head" Needs(Read, Each);
    GET "/v1/queues/{queue}/keys" Needs(Read, Each);
    POST "/v1/queues/{queue}/keys/{key}:close" Needs(Settings, Each);
    POST "/v1/queues/{queue}/keys/{key}:open" Needs(Settings, Each);
    GET "/v1/scaling/{queue}" Needs(Read, Each);
    GET "/v1/keys" Needs(Read, All);
    GET "/v1/kinds" Needs(Read, All);
    GET "/v1/kinds/{kind}" Needs(Read, All);
    PUT "/v1/kinds/{kind}" Needs(Settings, All);

    // Work over HTTP. A lease's token is a right of its own, bound to one job.
    POST "/v1/queues/{queue}:claim" Needs(Work, Each);
    POST "/v1/leases/{token}:complete" Needs(Work, Nothing);
    POST "/v1/leases/{token}:fail" Needs(Work, Nothing);
    POST "/v1/leases/{token}:release" Needs(Work, Nothing);
    POST "/v1/leases/{token}:extend" Needs(Work, Nothing);
    POST "/v1/leases/{token}:progress" Needs(Work, Nothing);
    POST "/v1/leases/{token}:log" Needs(Work, Nothing);

    // Schedules.
    GET "/v1/schedules" Needs(Read, All);
    POST "/v1/schedules" Needs(Schedule, All);
    POST "/v1/schedules:preview" Needs(Read, Nothing);
    GET "/v1/schedules/{name}" Needs(Read, All);
    PUT "/v1/schedules/{name}" Needs(Schedule, All);
    DELETE "/v1/schedules/{name}" Needs(Schedule, All);
    GET "/v1/schedules/{name}/next" Needs(Read, All);
    GET "/v1/schedules/{name}/occurrences" Needs(Read, All);
    POST "/v1/schedules/{name}:pause" Needs(Schedule, All);
    POST "/v1/schedules/{name}:resume" Needs(Schedule, All);
    POST "/v1/schedules/{name}:run" Needs(Schedule, All);
    POST "/v1/schedules/{name}:backfill" Needs(Schedule, All);

    // Many jobs at once, and what was seen of them. An operation may remove jobs, so it needs what that needs.
    GET "/v1/operations" Needs(Read, All);
    POST "/v1/operations" Needs(Purge, All);
    GET "/v1/operations/{id}" Needs(Read, All);
    POST "/v1/operations/{id}:cancel" Needs(Purge, All);
    GET "/v1/failures" Needs(Read, All);
    GET "/v1/failures/{fingerprint}" Needs(Read, All);
    POST "/v1/failures/{fingerprint}:replay" Needs(Replay, All);
    POST "/v1/failures/{fingerprint}:discard" Needs(Purge, All);
    // A view names queues and values that whoever is confined may not know of.
    GET "/v1/views" Needs(Read, All);
    GET "/v1/views/{name}" Needs(Read, All);
    PUT "/v1/views/{name}" Needs(Settings, All);
    DELETE "/v1/views/{name}" Needs(Settings, All);

    // The whole.
    GET "/v1/stats" Needs(Read, All);
    GET "/v1/stats/timeseries" Needs(Read, All);
    GET "/v1/events" Needs(Read, Each);
    GET "/v1/cluster" Needs(Read, Nothing);
    GET "/v1/system" Needs(Read, All);
    GET "/v1/workers" Needs(Read, All);
    GET "/v1/workers/{id}" Needs(Read, All);
    POST "/v1/workers/{id}:drain" Needs(Settings, All);

    // The compatible doors.
    POST "/submit_job" Needs(Enqueue, Each);
    POST "/jobs" Needs(Enqueue, Each);
    GET "/jobs" Needs(ReadPayload, All);
    GET "/jobs/{id}" Needs(ReadPayload, All);
    GET "/db/jobs" Needs(ReadPayload, All);
    GET "/db/jobs/{id}" Needs(ReadPayload, All);
    POST "/signup" Open;
    POST "/login" Open;
    POST "/refreshToken" Open;
    POST "/addJob" Needs(Enqueue, Each);
    GET "/failedJobs" Needs(ReadPayload, All);
    GET "/health" Known;

    // gRPC.
    POST "/grpc.health.v1.Health/Check" Open;
    POST "/grpc.health.v1.Health/Watch" Open;
    POST "/dts.ClientService/ScheduleTask" Needs(Enqueue, All);
    POST "/dts.ClientService/GetStatus" Needs(ReadPayload, All);
    POST "/dts.ClientService/TransferFile" Needs(Enqueue, All);
    POST "/ganger.v1.Jobs/Enqueue" Needs(Enqueue, Each);
    POST "/ganger.v1.Jobs/EnqueueBatch" Needs(Enqueue, Each);
    POST "/ganger.v1.Jobs/Get" Needs(ReadPayload, Each);
    POST "/ganger.v1.Jobs/List" Needs(ReadPayload, Each);
    POST "/ganger.v1.Jobs/Cancel" Needs(Cancel, Each);
    POST "/ganger.v1.Jobs/Replay" Needs(Replay, Each);
    POST "/ganger.v1.Jobs/RunNow" Needs(Cancel, Each);
    POST "/ganger.v1.Jobs/Attempts" Needs(Read, Each);
    POST "/ganger.v1.Jobs/Events" Needs(Read, Each);
    POST "/ganger.v1.Jobs/Related" Needs(Read, All);
    POST "/ganger.v1.Jobs/Explain" Needs(Read, Each);
    POST "/ganger.v1.Jobs/Histogram" Needs(Read, Each);
    POST "/ganger.v1.Jobs/Logs" Needs(ReadPayload, Each);
    POST "/ganger.v1.Jobs/Delete" Needs(Purge, Each);
    POST "/ganger.v1.Queues/List" Needs(Read, Each);
    POST "/ganger.v1.Queues/Get" Needs(Read, Each);
    POST "/ganger.v1.Queues/Head" Needs(Read, Each);
    POST "/ganger.v1.Queues/Put" Needs(Settings, Each);
    POST "/ganger.v1.Queues/Pause" Needs(Settings, Each);
    POST "/ganger.v1.Queues/Resume" Needs(Settings, Each);
    POST "/ganger.v1.Queues/Drain" Needs(Settings, Each);
    POST "/ganger.v1.Queues/Purge" Needs(Purge, Each);
    POST "/ganger.v1.Queues/Scaling" Needs(Read, Each);
    POST "/ganger.v1.Keys/List" Needs(Read, Each);
    POST "/ganger.v1.Keys/Close" Needs(Settings, Each);
    POST "/ganger.v1.Keys/Open" Needs(Settings, Each);
    POST "/ganger.v1.Kinds/List" Needs(Read, All);
    POST "/ganger.v1.Kinds/Get" Needs(Read, All);
    POST "/ganger.v1.Kinds/Put" Needs(Settings, All);
    POST "/ganger.v1.Operations/List" Needs(Read, All);
    POST "/ganger.v1.Operations/Start" Needs(Purge, All);
    POST "/ganger.v1.Operations/Get" Needs(Read, All);
    POST "/ganger.v1.Operations/Cancel" Needs(Purge, All);
    POST "/ganger.v1.Failures/List" Needs(Read, All);
    POST "/ganger.v1.Failures/Get" Needs(Read, All);
    POST "/ganger.v1.Failures/Replay" Needs(Replay, All);
    POST "/ganger.v1.Failures/Discard" Needs(Purge, All);
    POST "/ganger.v1.Schedules/List" Needs(Read, All);
    POST "/ganger.v1.Schedules/Create" Needs(Schedule, All);
    POST "/ganger.v1.Schedules/Preview" Needs(Read, Nothing);
    POST "/ganger.v1.Schedules/Get" Needs(Read, All);
    POST "/ganger.v1.Schedules/Put" Needs(Schedule, All);
    POST "/ganger.v1.Schedules/Delete" Needs(Schedule, All);
    POST "/ganger.v1.Schedules/Next" Needs(Read, All);
    POST "/ganger.v1.Schedules/Occurrences" Needs(Read, All);
    POST "/ganger.v1.Schedules/Pause" Needs(Schedule, All);
    POST "/ganger.v1.Schedules/Resume" Needs(Schedule, All);
    POST "/ganger.v1.Schedules/Run" Needs(Schedule, All);
    POST "/ganger.v1.Schedules/Backfill" Needs(Schedule, All);
    POST "/ganger.v1.Server/Stats" Needs(Read, All);
    POST "/ganger.v1.Server/Timeseries" Needs(Read, All);
    POST "/ganger.v1.Server/Capabilities" Known;
    POST "/ganger.v1.Server/Cluster" Needs(Read, Nothing);
    POST "/ganger.v1.Views/List" Needs(Read, All);
    POST "/ganger.v1.Views/Get" Needs(Read, All);
    POST "/ganger.v1.Views/Put" Needs(Settings, All);
    POST "/ganger.v1.Views/Delete" Needs(Settings, All);
    POST "/ganger.v1.Workers/List" Needs(Read, All);
    POST "/ganger.v1.Workers/Get" Needs(Read, All);
    POST "/ganger.v1.Workers/Drain" Needs(Settings, All);
    POST "/ganger.v1.Worker/Session" Needs(Work, Each);
    POST "/ganger.v1.Worker/ReportDeath" Needs(Work, Nothing);
}

/// Where a request leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// To this operation.
    Operation(Access),
    /// Nowhere: that path has other methods.
    OtherMethod,
    /// Nowhere.
    Nowhere,
}

/// What a request of that method to that path needs. `HEAD` is `GET` without a body.
#[must_use]
pub fn find(method: &str, path: &str) -> Found {
    let method = if method == "HEAD" { "GET" } else { method };
    let mut found = Found::Nowhere;
    for rule in TABLE.iter().filter(|rule| fits(rule.path, path)) {
        if rule.method == method {
            return Found::Operation(rule.access);
        }
        found = Found::OtherMethod;
    }
    found
}

/// The methods of a path, as an `Allow` header lists them; empty where there is nothing. Those of a verb, if it ends with
/// one: that a name may end like a verb, and be read, is not what somebody is looking for who took the wrong method.
#[must_use]
pub fn methods(path: &str) -> Vec<&'static str> {
    let mut methods = Vec::new();
    let fitting: Vec<&Rule> = TABLE.iter().filter(|rule| fits(rule.path, path)).collect();
    let of_a_verb = |rule: &Rule| rule.path.contains("}:");
    let only_verbs = fitting.iter().any(|rule| of_a_verb(rule));
    for rule in fitting.into_iter().filter(|rule| !only_verbs || of_a_verb(rule)) {
        if !methods.contains(&rule.method) {
            methods.push(rule.method);
        }
    }
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods
}

fn fits(pattern: &str, path: &str) -> bool {
    // Most rules are told apart by their first letters, and every request asks all of them.
    let mut plain = pattern.bytes().take_while(|byte| !matches!(byte, b'{' | b'*')).zip(path.bytes());
    if plain.any(|(rule, byte)| rule != byte) {
        return false;
    }
    let (mut rules, mut segments) = (pattern.split('/'), path.split('/'));
    loop {
        match (rules.next(), segments.next()) {
            (Some("**"), Some(_)) | (None, None) => return true,
            (Some(rule), Some(segment)) if segment_fits(rule, segment) => {}
            (_, _) => return false,
        }
    }
}

/// A verb is behind the last colon, which a client may write as `%3A`.
fn segment_fits(rule: &str, segment: &str) -> bool {
    let Some(rest) = rule.strip_prefix('{') else { return rule == segment };
    let verb = rest.split_once('}').map_or("", |(_, verb)| verb);
    if verb.is_empty() {
        return !segment.is_empty();
    }
    let Some(word) = verb.strip_prefix(':') else { return false };
    let Some(head) = segment.strip_suffix(word) else { return false };
    let name =
        head.strip_suffix(':').or_else(|| head.strip_suffix("%3A")).or_else(|| head.strip_suffix("%3a"));
    name.is_some_and(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_leads_to_its_own_operation() {
        for (method, path, access) in [
            ("GET", "/livez", Open),
            ("HEAD", "/v1/jobs", Needs(Read, Each)),
            ("POST", "/v1/jobs", Needs(Enqueue, Each)),
            ("GET", "/v1/jobs/job_1", Needs(Read, Each)),
            ("GET", "/v1/jobs/job_1/payload", Needs(ReadPayload, Each)),
            ("POST", "/v1/jobs/job_1:replay", Needs(Replay, Each)),
            ("POST", "/v1/queues/a:b:purge", Needs(Purge, Each)),
            ("POST", "/v1/queues/a%3Apurge", Needs(Purge, Each)),
            ("POST", "/v1/queues/a:purge:claim", Needs(Work, Each)),
            ("GET", "/v1/queues/a:purge", Needs(Read, Each)),
            ("GET", "/ui/assets/x/y.js", Open),
            ("POST", "/ganger.v1.Worker/Session", Needs(Work, Each)),
        ] {
            assert_eq!(find(method, path), Found::Operation(access), "{method} {path}");
        }
        for (method, path, found) in [
            ("PATCH", "/v1/jobs", Found::OtherMethod),
            ("GET", "/ganger.v1.Worker/Session", Found::OtherMethod),
            ("POST", "/v1/jobs/x:frobnicate", Found::OtherMethod),
            ("GET", "/v1/jobs/", Found::Nowhere),
            ("GET", "/v1/jobs//payload", Found::Nowhere),
            ("GET", "/v2/jobs", Found::Nowhere),
            ("POST", "/ganger.v1.Worker/Frobnicate", Found::Nowhere),
            ("GET", "/v1/jobs/x/payload/y", Found::Nowhere),
            ("GET", "", Found::Nowhere),
        ] {
            assert_eq!(find(method, path), found, "{method} {path}");
        }
    }

    #[test]
    fn a_path_tells_its_methods() {
        for (path, expected) in [
            ("/livez", &["GET", "HEAD"][..]),
            ("/v1/jobs", &["GET", "HEAD", "POST"]),
            ("/v1/jobs/x:frobnicate", &["DELETE", "GET", "HEAD"]),
            ("/v1/jobs/x:replay", &["POST"]),
            ("/v2/jobs", &[]),
        ] {
            let mut found = methods(path);
            found.sort_unstable();
            assert_eq!(found, expected, "{path}");
        }
    }

    /// Nothing that changes anything is open to all, but for a login.
    #[test]
    fn nobody_changes_anything_without_being_asked_who_he_is() {
        for rule in TABLE.iter().filter(|rule| rule.method != "GET" && rule.access == Open) {
            let health = rule.path.starts_with("/grpc.health.v1.Health/");
            let login = ["/v1/auth:login", "/v1/auth:refresh", "/signup", "/login", "/refreshToken"];
            assert!(health || login.contains(&rule.path), "{}", rule.path);
        }
    }

    #[test]
    fn no_operation_has_two_rules() {
        for (i, rule) in TABLE.iter().enumerate() {
            let same = |other: &&Rule| other.method == rule.method && other.path == rule.path;
            assert_eq!(TABLE[i..].iter().filter(same).count(), 1, "{} {}", rule.method, rule.path);
        }
    }
}
