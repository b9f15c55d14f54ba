//! From the JSON of a schedule to a schedule.

use std::time::Duration;

use ganger_core::name::ScheduleName;
use ganger_core::schedule::{Misfire, Overlap, Schedule, USUAL_WINDOW, When};

use super::fields::Object;
use super::intake::{self, Context};
use super::problem::{Code, Problem};
use crate::api::HumanDuration;

/// Every field of a schedule, as in [`crate::api::ScheduleRequest`].
const FIELDS: &[&str] = &[
    "name",
    "cron",
    "every",
    "at",
    "time_zone",
    "starts_at",
    "ends_at",
    "misfire",
    "misfire_window",
    "overlap",
    "jitter",
    "paused",
    "job",
];

/// A schedule that was read.
#[derive(Debug)]
pub(super) struct Read {
    /// What it is to be.
    pub(super) schedule: Schedule,
    /// Whether it is to be paused, if that was said.
    pub(super) paused: Option<bool>,
}

/// Reads a schedule; its name is in the body, in the path, or in both. Bounds are checked by whoever makes it.
///
/// # Errors
/// Malformed JSON, or every field that is not valid, or a kind that is not allowed.
pub(super) fn schedule(
    text: &str,
    named: Option<ScheduleName>,
    context: Context<'_>,
) -> Result<Read, Problem> {
    let mut object = Object::parse(text, FIELDS, "")?;
    let name = name(&mut object, named);
    let when = when(&mut object);
    let misfire = misfire(&mut object);
    let overlap = overlap(&mut object);
    let jitter: Option<HumanDuration> = object.take("jitter");
    let paused = object.take("paused");
    let time_zone: Option<String> = object.take("time_zone");
    let (starts_at, ends_at) = (object.take("starts_at"), object.take("ends_at"));
    let mut job = None;
    match object.raw("job") {
        None => object.refuse("job", "is missing"),
        Some(raw) => match intake::job(raw.get(), "/job", context) {
            Ok(spec) => job = Some(spec),
            Err(problem) if problem.errors.is_empty() => return Err(problem),
            Err(problem) => object.refuse_all(problem.errors),
        },
    }
    object.finish().map_err(Problem::fields)?;
    let (Some(name), Some(when), Some(job)) = (name, when, job) else {
        // Without an error all three are there.
        return Err(Problem::new(Code::Internal, "the schedule could not be read"));
    };
    let schedule = Schedule {
        name,
        when,
        time_zone: time_zone.unwrap_or_else(|| "UTC".into()),
        starts_at,
        ends_at,
        misfire,
        overlap,
        jitter: jitter.map_or(Duration::ZERO, |jitter| jitter.0),
        paused: paused.unwrap_or(false),
        job,
    };
    Ok(Read { schedule, paused })
}

fn name(object: &mut Object<'_>, named: Option<ScheduleName>) -> Option<ScheduleName> {
    let Some(text) = object.take::<String>("name") else {
        if named.is_none() && object.raw("name").is_none() {
            object.refuse("name", "is missing");
        }
        return named;
    };
    match (text.parse::<ScheduleName>(), named) {
        (Err(error), _) => object.refuse("name", error.to_string()),
        (Ok(name), Some(named)) if name != named => {
            object.refuse("name", format!("is not `{named}`, as the path says; leave it out"));
        }
        (Ok(name), _) => return Some(name),
    }
    None
}

/// Exactly one of `cron`, `every` and `at`.
fn when(object: &mut Object<'_>) -> Option<When> {
    let given: Vec<&str> =
        ["cron", "every", "at"].into_iter().filter(|field| object.raw(field).is_some()).collect();
    match given.as_slice() {
        ["cron"] => object.take("cron").map(When::Cron),
        ["every"] => object.take::<HumanDuration>("every").map(|every| When::Every(every.0)),
        ["at"] => object.take("at").map(When::At),
        [] => {
            object.refuse("cron", "is missing; a schedule has one of `cron`, `every` and `at`");
            None
        }
        [_, second, ..] => {
            object.refuse(second, "is one too many; a schedule has one of `cron`, `every` and `at`");
            None
        }
        [other] => {
            object.refuse(other, "cannot be read");
            None
        }
    }
}

fn misfire(object: &mut Object<'_>) -> Misfire {
    let window: Option<HumanDuration> = object.take("misfire_window");
    let rule: Option<String> = object.take("misfire");
    let all = rule.as_deref() == Some("fire_all");
    if window.is_some() && !all {
        object.refuse("misfire_window", "is for `misfire: fire_all` only");
    }
    match rule.as_deref() {
        None | Some("fire_once") => Misfire::FireOnce,
        Some("fire_all") => Misfire::FireAll(window.map_or(USUAL_WINDOW, |window| window.0)),
        Some("skip") => Misfire::Skip,
        Some(_) => {
            object.refuse("misfire", "must be `fire_once`, `fire_all` or `skip`");
            Misfire::FireOnce
        }
    }
}

fn overlap(object: &mut Object<'_>) -> Overlap {
    let Some(text) = object.take::<String>("overlap") else { return Overlap::default() };
    Overlap::parse(&text).unwrap_or_else(|| {
        object.refuse("overlap", "must be `skip`, `allow`, `queue_one` or `cancel_previous`");
        Overlap::default()
    })
}

#[cfg(test)]
mod tests {
    use ganger_core::Wall;

    use super::*;

    fn read(json: &str) -> Result<Read, Problem> {
        let context = Context {
            now: Wall(0),
            traceparent: None,
            tracestate: None,
            exec_allowed: false,
            queues: None,
            items: None,
        };
        schedule(json, None, context)
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let read = read(r#"{"name": "a", "cron": "@daily", "job": {"kind": "k"}}"#).unwrap();
        let Schedule { time_zone, misfire, overlap, jitter, paused, .. } = read.schedule;
        assert_eq!((time_zone.as_str(), misfire, overlap), ("UTC", Misfire::FireOnce, Overlap::Skip));
        assert_eq!((jitter, paused, read.paused), (Duration::ZERO, false, None));
    }

    /// Two schedules that differ in one field of their jobs are shown differently, and what is shown reads back: `ganger
    /// schedule apply` compares what is shown.
    #[test]
    fn every_field_of_a_job_is_shown_and_reads_back() {
        let plain = read(r#"{"name": "a", "cron": "@daily", "job": {"kind": "k"}}"#).unwrap().schedule;
        let shown =
            |schedule: &Schedule| serde_json::to_value(crate::api::ScheduleBody::from(schedule).job).unwrap();
        // With every field set, all that a request can say is there, but for what a schedule cannot have.
        let full = r#"{"kind": "k2", "queue": "q", "payload": {"a": 1}, "priority": 3, "threads": 4,
            "min_threads": 2, "fallback": "single", "require": {"gpu": "yes"}, "max_attempts": 7,
            "retry": {"base": "3s", "factor": 3.0, "max": "9m", "jitter": 0.1}, "timeout": "5m",
            "unique_key": "u", "unique_for": "1h", "concurrency_key": "c", "fair_key": "f",
            "fair_weight": 5, "tags": ["t"], "max_lost": 9,
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=b"}"#;
        let full: serde_json::Map<String, serde_json::Value> = serde_json::from_str(full).unwrap();
        let unusable = ["run_at", "delay", "expires_at", "durability", "depends_on"];
        let document = serde_json::to_value(<crate::api::NewJobRequest as utoipa::PartialSchema>::schema());
        for field in document.unwrap()["properties"].as_object().unwrap().keys() {
            assert!(full.contains_key(field) || unusable.contains(&field.as_str()), "{field} is not tried");
        }
        for (field, value) in &full {
            // What counts only beside another field has it.
            let mut job = serde_json::json!({"kind": "k", "fair_key": "x", "unique_key": "x", "threads": 8,
                "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"});
            let base = job.clone();
            job[field] = value.clone();
            let of = |job: &serde_json::Value| {
                let text = serde_json::json!({"name": "a", "cron": "@daily", "job": job}).to_string();
                read(&text).unwrap_or_else(|problem| panic!("{field}: {problem:?}")).schedule
            };
            let (before, after) = (of(&base), of(&job));
            assert_ne!(before.job, after.job, "{field}");
            assert_ne!(shown(&before), shown(&after), "{field} is not shown");
            assert_eq!(of(&shown(&after)).job, after.job, "{field} does not read back");
        }
        assert_eq!(shown(&plain), serde_json::json!({"kind": "k", "queue": "default"}));
    }

    #[test]
    fn fields_that_are_not_valid_are_named() {
        for (json, pointer) in [
            (r#"{"cron": "@daily", "job": {"kind": "k"}}"#, "/name"),
            (r#"{"name": "a b", "cron": "@daily", "job": {"kind": "k"}}"#, "/name"),
            (r#"{"name": "a", "job": {"kind": "k"}}"#, "/cron"),
            (r#"{"name": "a", "cron": "@daily", "every": "1m", "job": {"kind": "k"}}"#, "/every"),
            (r#"{"name": "a", "every": "often", "job": {"kind": "k"}}"#, "/every"),
            (r#"{"name": "a", "at": 7, "job": {"kind": "k"}}"#, "/at"),
            (r#"{"name": "a", "cron": "@daily"}"#, "/job"),
            (r#"{"name": "a", "cron": "@daily", "job": {"kind": "k", "threads": 0}}"#, "/job/threads"),
            (r#"{"name": "a", "cron": "@daily", "job": {"kind": "k"}, "misfire": "never"}"#, "/misfire"),
            (
                r#"{"name": "a", "cron": "@daily", "job": {"kind": "k"}, "misfire_window": "1h"}"#,
                "/misfire_window",
            ),
            (r#"{"name": "a", "cron": "@daily", "job": {"kind": "k"}, "overlap": "often"}"#, "/overlap"),
            (r#"{"name": "a", "cron": "@daily", "job": {"kind": "k"}, "zone": "UTC"}"#, "/zone"),
        ] {
            let problem = read(json).unwrap_err();
            assert_eq!(problem.errors[0].pointer, pointer, "{json}");
        }
        assert_eq!(
            read(r#"{"name": "a", "cron": "@daily", "job": {"kind": "exec"}}"#).unwrap_err().code,
            Code::ExecNotAllowed
        );
    }
}
