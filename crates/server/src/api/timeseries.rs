//! What happened over time.

use std::time::Duration;

use ganger_core::Wall;
use ganger_core::minutes::{Counts, Spread};
use ganger_core::timeline::{By, Timeline};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ScanBody, duration};

/// What is shown over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Jobs that became final.
    #[default]
    Throughput,
    /// From due to the start of attempts.
    Wait,
    /// How long attempts ran.
    Run,
    /// From intake to the end, of jobs that became final.
    Total,
    /// Attempts that failed.
    Failures,
    /// Jobs that were taken in.
    Enqueued,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Metric; 6] =
        [Metric::Throughput, Metric::Wait, Metric::Run, Metric::Total, Metric::Failures, Metric::Enqueued];

    /// The word for it, everywhere.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Wait => "wait",
            Metric::Run => "run",
            Metric::Total => "total",
            Metric::Failures => "failures",
            Metric::Enqueued => "enqueued",
        }
    }

    /// The metric of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.as_str() == text)
    }
}

/// What happened over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TimeseriesBody {
    /// What is shown.
    pub metric: Metric,
    /// How long a point lasts, such as `5m`.
    pub step: String,
    /// When the first point begins.
    #[schema(value_type = String)]
    pub from: Wall,
    /// When the last point ends. It counts what has happened so far.
    #[schema(value_type = String)]
    pub to: Wall,
    /// What the lines are: `queue` or `kind`; absent if everything is one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The lines, the largest first. Beyond a number of them the rest is one, `_other`.
    pub series: Vec<SeriesBody>,
    /// How much was looked at. If not all of it, the oldest is missing.
    pub scan: ScanBody,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SeriesBody {
    /// Its queue or kind; absent if everything is one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Everything together.
    pub total: FigureBody,
    /// One for each step, in order, those in which nothing happened included.
    pub points: Vec<PointBody>,
}

/// What happened in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PointBody {
    /// When the step begins.
    #[schema(value_type = String)]
    pub at: Wall,
    /// What happened in it.
    #[serde(flatten)]
    pub figure: FigureBody,
}

/// What happened, in numbers. Which of them are there follows from the metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FigureBody {
    /// How many: jobs that became final, attempts that started, ended or failed, jobs that were taken in.
    pub count: u64,
    /// Of `throughput`: jobs that succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<u64>,
    /// Of `throughput` and `failures`: jobs that died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead: Option<u64>,
    /// Of `throughput`: jobs that were cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<u64>,
    /// Of `wait`, `run` and `total`: how long on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ms: Option<f64>,
    /// Of `wait`, `run` and `total`: what half of them did not exceed, estimated from a histogram whose bounds double.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    /// The same for 95 of 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<f64>,
    /// The same for 99 of 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
}

impl FigureBody {
    fn new(metric: Metric, counts: &Counts) -> FigureBody {
        match metric {
            Metric::Throughput => FigureBody {
                count: counts.finished(),
                succeeded: Some(counts.succeeded),
                dead: Some(counts.dead),
                cancelled: Some(counts.cancelled),
                ..FigureBody::default()
            },
            Metric::Wait => FigureBody::times(&counts.wait),
            Metric::Run => FigureBody::times(&counts.run),
            Metric::Total => FigureBody::times(&counts.total),
            Metric::Failures => {
                FigureBody { count: counts.failed, dead: Some(counts.dead), ..FigureBody::default() }
            }
            Metric::Enqueued => FigureBody { count: counts.enqueued, ..FigureBody::default() },
        }
    }

    fn times(spread: &Spread) -> FigureBody {
        let quantile = |share| spread.quantile(share).map(millis);
        FigureBody {
            count: spread.count(),
            mean_ms: spread.mean().map(millis),
            p50_ms: quantile(0.5),
            p95_ms: quantile(0.95),
            p99_ms: quantile(0.99),
            ..FigureBody::default()
        }
    }
}

impl TimeseriesBody {
    /// A metric of a timeline.
    #[must_use]
    pub fn new(metric: Metric, mut timeline: Timeline) -> TimeseriesBody {
        let span = timeline.span.clone();
        let by = match span.by {
            By::Nothing => None,
            By::Queue => Some("queue".to_owned()),
            By::Kind => Some("kind".to_owned()),
        };
        if by.is_none() {
            // One line, even if nothing ever happened.
            timeline.lines.entry(String::new()).or_default();
        }
        let none = Counts::default();
        let line = |(name, points): (String, std::collections::BTreeMap<usize, Counts>)| {
            let mut total = Counts::default();
            points.values().for_each(|counts| total.add(counts));
            let point = |(place, at): (usize, Wall)| PointBody {
                at,
                figure: FigureBody::new(metric, points.get(&place).unwrap_or(&none)),
            };
            SeriesBody {
                name: by.is_some().then_some(name),
                total: FigureBody::new(metric, &total),
                points: span.moments().enumerate().map(point).collect(),
            }
        };
        let mut series: Vec<SeriesBody> = timeline.lines.into_iter().map(line).collect();
        series.sort_by_key(|line| std::cmp::Reverse(line.total.count));
        let from = span.moments().next().unwrap_or_default();
        let length = span.step() * u32::try_from(span.points()).unwrap_or(u32::MAX);
        TimeseriesBody {
            metric,
            step: duration::format(span.step()),
            from,
            to: from + length,
            by,
            series,
            scan: ScanBody::new(timeline.examined, timeline.examined, timeline.complete),
        }
    }
}

/// To a thousandth: the bounds of the histogram are coarser anyway.
fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::timeline::Span;

    const MINUTE: i64 = 60_000_000;

    fn timeline(by: By) -> Timeline {
        let mut span = Span::new(Wall(0), Wall(3 * MINUTE), Duration::from_secs(60)).unwrap();
        span.by = by;
        let mut timeline = Timeline::new(&span);
        let mut counts = Counts { enqueued: 2, succeeded: 1, failed: 3, dead: 1, ..Counts::default() };
        counts.run.observe(4_000);
        counts.total.observe(8_000);
        assert!(timeline.add(2, "mail", "send", &counts).is_continue());
        assert!(timeline.add(1, "web", "send", &Counts { enqueued: 9, ..Counts::default() }).is_continue());
        timeline
    }

    #[test]
    fn gaps_are_zeros_and_the_largest_line_comes_first() {
        let body = TimeseriesBody::new(Metric::Enqueued, timeline(By::Queue));
        let lines: Vec<_> = body
            .series
            .iter()
            .map(|s| (s.name.as_deref(), s.points.iter().map(|p| p.figure.count).collect::<Vec<_>>()))
            .collect();
        assert_eq!(lines, [(Some("web"), vec![0, 9, 0]), (Some("mail"), vec![0, 0, 2])]);
        assert_eq!((body.from, body.to, body.step.as_str()), (Wall(0), Wall(3 * MINUTE), "1m"));
    }

    #[test]
    fn each_metric_has_its_own_numbers() {
        let total = |metric| {
            let mut body = TimeseriesBody::new(metric, timeline(By::Nothing));
            assert_eq!((body.series.len(), body.series[0].name.clone()), (1, None));
            body.series.remove(0).total
        };
        assert_eq!((total(Metric::Throughput).count, total(Metric::Throughput).dead), (2, Some(1)));
        assert_eq!((total(Metric::Failures).count, total(Metric::Failures).dead), (3, Some(1)));
        assert_eq!(total(Metric::Enqueued).count, 11);
        assert_eq!((total(Metric::Wait).count, total(Metric::Wait).p95_ms), (0, None));
        let run = total(Metric::Run);
        assert_eq!((run.count, run.mean_ms, run.p50_ms), (1, Some(4.0), Some(4.0)));
        assert_eq!((total(Metric::Total).count, total(Metric::Total).mean_ms), (1, Some(8.0)));
    }

    #[test]
    fn nothing_at_all_is_one_line_of_zeros() {
        let mut span = Span::new(Wall(0), Wall(2 * MINUTE), Duration::from_secs(60)).unwrap();
        let body = TimeseriesBody::new(Metric::Wait, Timeline::new(&span));
        assert_eq!((body.series.len(), body.series[0].points.len()), (1, 2));
        span.by = By::Kind;
        assert!(TimeseriesBody::new(Metric::Wait, Timeline::new(&span)).series.is_empty());
    }
}
