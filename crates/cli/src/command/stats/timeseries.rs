//! `ganger stats timeseries`: what happened over time, as a small chart.

use clap::{Args, ValueEnum};
use ganger_core::name::{Kind, QueueName};
use ganger_server::api::{FigureBody, Metric, SeriesBody, TimeseriesBody};

use crate::client::{Call, with_query};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane::{grouped, short};
use crate::output::{Cell, Paint, Style, Table, chart};

/// Columns of a chart where nobody says how wide the terminal is.
const CHART: usize = 60;

/// What happened over time: jobs that ended or came, failures, how long jobs waited, ran and took in all.
#[derive(Args, Debug)]
#[command(after_help = "\
Counted per minute and kept for seven days. A chart begins at zero; of times it shows what 95 of 100 did not exceed.

Examples:
  ganger stats timeseries
  ganger stats timeseries --metric wait --by queue --from 6h --step 5m
  ganger stats timeseries --metric failures --kind mail.send -o json")]
pub(crate) struct Timeseries {
    /// What to show
    #[arg(long, value_name = "METRIC", default_value = "throughput")]
    metric: MetricWord,
    /// Only this queue
    #[arg(long)]
    queue: Option<QueueName>,
    /// Only this kind
    #[arg(long)]
    kind: Option<Kind>,
    /// A line for each queue, or for each kind
    #[arg(long, value_name = "SORT")]
    by: Option<ByWord>,
    /// How long a point lasts: whole minutes, up to a day
    #[arg(long, value_name = "TIME", default_value = "1m")]
    step: String,
    /// When it begins: a moment, or how long before the end
    #[arg(long, value_name = "TIME", default_value = "1h")]
    from: String,
    /// When it ends, if not now
    #[arg(long, value_name = "MOMENT")]
    to: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MetricWord {
    /// Jobs that ended
    Throughput,
    /// How long jobs waited for a worker, due and ready
    Wait,
    /// How long attempts ran
    Run,
    /// How long jobs took in all, from intake to their end
    Total,
    /// Attempts that failed
    Failures,
    /// Jobs that came
    Enqueued,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ByWord {
    /// A line for each queue
    Queue,
    /// A line for each kind
    Kind,
}

impl MetricWord {
    const fn metric(self) -> Metric {
        match self {
            MetricWord::Throughput => Metric::Throughput,
            MetricWord::Wait => Metric::Wait,
            MetricWord::Run => Metric::Run,
            MetricWord::Total => Metric::Total,
            MetricWord::Failures => Metric::Failures,
            MetricWord::Enqueued => Metric::Enqueued,
        }
    }
}

impl Timeseries {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let by = self.by.map(|by| match by {
            ByWord::Queue => "queue",
            ByWord::Kind => "kind",
        });
        let path = with_query(
            "/v1/stats/timeseries",
            [
                ("metric", Some(self.metric.metric().as_str().to_owned())),
                ("queue", self.queue.as_ref().map(ToString::to_string)),
                ("kind", self.kind.as_ref().map(ToString::to_string)),
                ("by", by.map(str::to_owned)),
                ("step", Some(self.step)),
                ("from", Some(self.from)),
                ("to", self.to),
            ],
        );
        let answer = context.client()?.send(&Call::get("read the statistics", path)).await?;
        let body = answer.read::<TimeseriesBody>()?;
        context.out.show_one(&answer.body, body.metric.as_str(), |_| describe(&body, context.out.style()))?;
        Ok(Exit::Success)
    }
}

fn describe(body: &TimeseriesBody, style: Style) -> String {
    let times = matches!(body.metric, Metric::Wait | Metric::Run | Metric::Total);
    let mut table = if times {
        Table::new(["LINE", "CHART", ">MOST", ">P50", ">P95", ">P99", ">COUNT"])
    } else {
        Table::new(["LINE", "CHART", ">MOST", ">ALL"])
    };
    let width = style.width.map_or(CHART, |width| width.saturating_sub(52).clamp(10, CHART));
    for line in &body.series {
        let values: Vec<f64> = line.points.iter().map(|point| value(times, &point.figure)).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let mut row: Vec<Cell> = vec![line.name.as_deref().unwrap_or("all").into()];
        row.push(Cell::painted(chart(&values, width, style.glyphs), Paint::Plain));
        row.push(if times { time(Some(most)) } else { grouped(most as u64) }.into());
        row.extend(totals(times, line));
        table.row(row);
    }
    let mut text = table.render(style);
    let seen = format!("{} from {} to {}, {} a point", body.metric.as_str(), body.from, body.to, body.step);
    text.push_str(&format!("\n\n{seen}"));
    if body.series.is_empty() {
        text = format!("nothing happened: {seen}");
    }
    if !body.scan.complete {
        text.push_str(
            "\nnot everything was looked at: the oldest points are too low; ask for less at a time",
        );
    }
    text
}

fn totals(times: bool, line: &SeriesBody) -> Vec<Cell> {
    let total = &line.total;
    let count = Cell::from(grouped(total.count));
    if times {
        let quantiles = [total.p50_ms, total.p95_ms, total.p99_ms];
        quantiles.into_iter().map(|millis| Cell::from(time(millis))).chain([count]).collect()
    } else {
        vec![count]
    }
}

fn value(times: bool, figure: &FigureBody) -> f64 {
    if times { figure.p95_ms.unwrap_or(0.0) } else { figure.count as f64 }
}

fn time(millis: Option<f64>) -> String {
    millis.map_or_else(|| "-".into(), |millis| short(std::time::Duration::from_secs_f64(millis / 1e3)))
}
