//! `ganger job get`, `explain` and `attempts`: one job, for people.

use std::time::Duration;

use ganger_core::JobId;
use ganger_core::outcome::Outcome;
use ganger_core::verdict::Rate;
use ganger_server::api::{AttemptsBody, ExplainBody, JobBody};

use crate::client::Call;
use crate::clock;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Fallible;
use crate::humane::{relative, short};
use crate::output::{Cell, Paint, Shown, Style, Table, state_cell};

/// Shows a job whole.
pub(super) async fn get(context: &Context, id: JobId) -> Fallible<Exit> {
    let call = Call::get(format!("get job {id}"), format!("/v1/jobs/{id}"));
    let answer = context.client()?.send(&call).await?;
    let job = answer.read::<JobBody>()?;
    context.out.show_one(&answer.body, &job.id.to_string(), |_| describe(&job, context.out.style()))?;
    Ok(Exit::Success)
}

/// Tells why a job is, or is not, running.
pub(super) async fn explain(context: &Context, id: JobId) -> Fallible<Exit> {
    let call = Call::get(format!("explain job {id}"), format!("/v1/jobs/{id}/explain"));
    let answer = context.client()?.send(&call).await?;
    let explanation = answer.read::<ExplainBody>()?;
    context.out.show_one(&answer.body, &id.to_string(), |_| reasons(&explanation, context.out.style()))?;
    Ok(Exit::Success)
}

/// Shows every attempt.
pub(super) async fn attempts(context: &Context, id: JobId) -> Fallible<Exit> {
    let call = Call::get(format!("list the attempts of job {id}"), format!("/v1/jobs/{id}/attempts"));
    let answer = context.client()?.send(&call).await?;
    let attempts = answer.read::<AttemptsBody>()?;
    let items = crate::command::items(&answer)?;
    let shown = Shown {
        body: &answer.body,
        items: items.iter().map(AsRef::as_ref).collect(),
        names: attempts.items.iter().map(|attempt| attempt.attempt.to_string()).collect(),
    };
    context.out.show(&shown, |_| attempts_table(&attempts, context.out.style()))?;
    Ok(Exit::Success)
}

fn describe(job: &JobBody, style: Style) -> String {
    let now = clock::now();
    let moment = |wall: ganger_core::Wall| format!("{wall} ({})", relative(wall, now));
    let millis = |ms: u64| short(Duration::from_millis(ms));
    let mut table = Table::new(["JOB", ""]);
    let mut row = |name: &str, value: Cell| table.row(vec![name.into(), value]);
    row("id", job.id.to_string().into());
    row("state", state_cell(job.state, style));
    row("kind", job.kind.as_str().into());
    row("queue", format!("{} (priority {})", job.queue, job.priority).into());
    row("attempts", format!("{} of {} used", job.attempts_used, job.max_attempts).into());
    row("created", moment(job.created_at).into());
    row("due", moment(job.run_at).into());
    if let Some(finished) = job.finished_at {
        row("finished", moment(finished).into());
    }
    if let Some(waited) = job.queue_time_ms {
        row("waited", millis(waited).into());
    }
    if let Some(ran) = job.execution_time_ms {
        row("ran", millis(ran).into());
    }
    row("total", millis(job.total_time_ms).into());
    row("timeout", job.timeout.to_string().into());
    row("threads", format!("{} wanted, at least {}", job.threads, job.min_threads).into());
    let texts = [
        ("worker", job.worker.clone()),
        ("key", job.unique_key.clone()),
        ("concurrency key", job.concurrency_key.clone()),
        (
            "fair key",
            job.fair_key.clone().map(|key| match job.fair_weight {
                Some(weight) if weight > 1 => format!("{key}, weight {weight}"),
                Some(_) | None => key,
            }),
        ),
        ("tags", (!job.tags.is_empty()).then(|| job.tags.join(", "))),
        ("progress", job.progress.as_ref().map(|p| format!("{:.0} % {}", p.fraction * 100.0, p.note))),
        ("reason", job.reason.clone()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            row(name, text.into());
        }
    }
    if let Some(error) = &job.last_error {
        row("last error", Cell::painted(error, Paint::Red));
    }
    if let Some(payload) = &job.payload {
        row("payload", payload.get().into());
    }
    if let Some(result) = &job.result {
        row("result", result.get().into());
    }
    // Whoever asks for one job wants it whole, however narrow the terminal.
    table.render(Style { width: None, ..style })
}

fn reasons(explanation: &ExplainBody, style: Style) -> String {
    let mut text = format!("{} is {}: {}", explanation.job, explanation.state.as_str(), explanation.summary);
    for gate in &explanation.gates {
        let (mark, paint) = match (gate.closed, style.glyphs) {
            (true, true) => ("✗", Paint::Red),
            (true, false) => ("no ", Paint::Red),
            (false, true) => ("✓", Paint::Green),
            (false, false) => ("ok ", Paint::Green),
        };
        text.push_str(&format!("\n{} {}: {}", paint.on(mark, style), gate.gate, gate.evidence));
    }
    if let Some(position) = &explanation.position {
        text.push_str(&format!("\n{}", position.words()));
    }
    if let Some(estimate) = explanation.estimate_ms {
        let estimate = short(Duration::from_millis(estimate));
        let rate =
            explanation.per_second.map(|rate| format!("; its queue starts {}/s at present", Rate(rate)));
        text.push_str(&format!("\nshould start in about {estimate}{}", rate.unwrap_or_default()));
    }
    if let Some(step) = &explanation.next_step {
        text.push_str(&format!("\nnext step: {step}"));
    }
    text
}

fn attempts_table(attempts: &AttemptsBody, style: Style) -> String {
    let mut table = Table::new([">ATTEMPT", "OUTCOME", "WORKER", ">THREADS", "STARTED", ">RAN", "ERROR"]);
    let now = clock::now();
    for attempt in &attempts.items {
        let paint = match attempt.outcome {
            Outcome::Ok => Paint::Green,
            Outcome::Error | Outcome::Timeout | Outcome::Lost => Paint::Red,
            Outcome::Released | Outcome::Cancelled => Paint::Dim,
        };
        table.row(vec![
            attempt.attempt.to_string().into(),
            Cell::painted(attempt.outcome.as_str(), paint),
            attempt.worker.as_str().into(),
            attempt.threads.to_string().into(),
            relative(attempt.started_at, now).into(),
            short(Duration::from_millis(attempt.execution_time_ms)).into(),
            attempt.error.as_deref().unwrap_or_default().into(),
        ]);
    }
    if attempts.items.is_empty() { "no attempt yet".into() } else { table.render(style) }
}
