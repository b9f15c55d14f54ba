//! How many jobs match, over time.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use ganger_core::job::State as JobState;
use ganger_core::{Wall, limits};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::list::{self, FILTERS};
use super::problem::Problem;
use super::request::{Answer, Params};
use crate::api::{BucketBody, HistogramBody, ProblemBody, ScanBody};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(histogram))
}

/// Count jobs over time
///
/// By when they were taken in, in intervals of equal length from the oldest match, or `created_from`, to now, or
/// `created_before`. Of many jobs the newest 100,000 rows are looked at.
#[utoipa::path(get, path = "/v1/jobs:histogram", tag = "jobs",
    params(
        ("q" = Option<String>, Query, description = "A filter, as for the list; its other filters are taken too"),
        ("buckets" = Option<usize>, Query, description = "1 to 500 intervals, 60 if not given"),
        ("created_from" = Option<String>, Query, description = "RFC 3339; this moment or later"),
        ("created_before" = Option<String>, Query, description = "RFC 3339; before this moment"),
    ),
    responses((status = 200, body = HistogramBody), (status = 400, body = ProblemBody)))]
async fn histogram(State(app): State<App>, params: Params) -> Answer {
    params.only(&[&FILTERS[..], &["buckets"]].concat())?;
    let query = list::query(&params)?;
    let buckets = match params.parsed::<usize>("buckets")? {
        None => limits::HISTOGRAM_BUCKETS_DEFAULT,
        Some(buckets) if (1..=limits::HISTOGRAM_BUCKETS).contains(&buckets) => buckets,
        Some(buckets) => {
            let detail = format!("is {buckets}, allowed are 1 to {}", limits::HISTOGRAM_BUCKETS);
            return Err(Problem::parameter("buckets", detail));
        }
    };
    let (from, before) = (query.created_from, query.created_before);
    let mut found = Vec::new();
    let survey = app.service.survey(query, |job| found.push((job.created_at, job.state))).await?;
    // A little more than now: what came at this moment is counted.
    let before = before.unwrap_or(Wall(app.now().wall.0.saturating_add(1)));
    let from = from.or_else(|| found.iter().map(|(at, _)| *at).min()).unwrap_or(before);
    let scan = ScanBody::new(survey.examined, found.len(), survey.complete);
    let (step, buckets) = counted(&found, from, before, buckets);
    let matched = found.len() as u64;
    Ok(Json(HistogramBody { matched, step_ms: step / 1_000, buckets, scan }).into_response())
}

/// The intervals, and the length of each in microseconds: whole milliseconds.
fn counted(found: &[(Wall, JobState)], from: Wall, before: Wall, buckets: usize) -> (u64, Vec<BucketBody>) {
    let span = before.0.abs_diff(from.0.min(before.0));
    let step = span.div_ceil(buckets as u64).div_ceil(1_000).max(1) * 1_000;
    let count = usize::try_from(span.div_ceil(step)).unwrap_or(buckets).clamp(1, buckets);
    let mut made: Vec<BucketBody> = (0..count as u64)
        .map(|n| BucketBody {
            at: Wall(from.0.saturating_add_unsigned(n * step)),
            count: 0,
            states: BTreeMap::new(),
        })
        .collect();
    for (at, state) in found {
        let place =
            usize::try_from(at.0.saturating_sub(from.0).max(0).unsigned_abs() / step).unwrap_or(count);
        let bucket = &mut made[place.min(count - 1)];
        bucket.count += 1;
        *bucket.states.entry(state.as_str().to_owned()).or_default() += 1;
    }
    (step, made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_is_counted_in_the_interval_of_its_moment() {
        let at = |ms: i64| (Wall(ms * 1_000), JobState::Dead);
        let (step, buckets) = counted(&[at(0), at(9), at(10), at(29)], Wall(0), Wall(30_000), 3);
        assert_eq!(step, 10_000);
        assert_eq!(buckets.iter().map(|b| b.count).collect::<Vec<_>>(), [2, 1, 1]);
        assert_eq!(buckets[2].at, Wall(20_000));
        assert_eq!(buckets[0].states["dead"], 2);
    }

    #[test]
    fn any_span_has_at_least_one_interval_and_at_most_as_many_as_asked_for() {
        for (from, before, most) in
            [(0, 0, 5), (5, 0, 5), (0, 1, 500), (0, 7_001, 7), (i64::MIN, i64::MAX, 500)]
        {
            let (step, buckets) = counted(&[(Wall(0), JobState::Queued)], Wall(from), Wall(before), most);
            assert!(step >= 1_000 && (1..=most).contains(&buckets.len()), "{from} {before} {most}");
            assert_eq!(buckets.iter().map(|b| b.count).sum::<u64>(), 1);
        }
    }
}
