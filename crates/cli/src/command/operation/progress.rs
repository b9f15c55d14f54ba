//! Following an operation: a bar on a terminal, nothing elsewhere.

use std::time::Duration;

use ganger_core::OperationId;
use ganger_core::operation::OperationState;
use ganger_server::api::OperationBody;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::client::{Answer, Call, Client};
use crate::clock::Stopwatch;
use crate::context::Context;
use crate::failure::Fallible;
use crate::humane::grouped;
use crate::output;
use crate::signals::Stops;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// What following came to.
pub(super) enum Followed {
    /// It is over.
    Over(Answer),
    /// The time was up.
    TimedOut(Box<OperationBody>),
    /// The user no longer wants to wait. It goes on.
    Interrupted,
}

/// Follows an operation until it is over. `total` is how many jobs it is about, where that is known.
pub(super) async fn follow(
    context: &Context,
    client: &Client,
    id: OperationId,
    total: Option<u64>,
    bound: Option<Duration>,
) -> Fallible<Followed> {
    let mut stops = Stops::listen()?;
    let watch = Stopwatch::start();
    let bar = bar(context, total);
    let call = Call::get(format!("get operation {id}"), super::path(id));
    // Bounded by `bound` where the user gave one; otherwise the user waits on purpose.
    loop {
        let answer = tokio::select! {
            answer = client.send(&call) => answer?,
            () = stops.next() => return Ok(Followed::Interrupted),
        };
        let operation = answer.read::<OperationBody>()?;
        if let Some(bar) = &bar {
            bar.set_position(operation.done + operation.skipped);
            bar.set_message(format!(
                "{} done, {} skipped",
                grouped(operation.done),
                grouped(operation.skipped)
            ));
        }
        if operation.state != OperationState::Running {
            if let Some(bar) = &bar {
                bar.finish_and_clear();
            }
            return Ok(Followed::Over(answer));
        }
        if bound.is_some_and(|bound| watch.left_of(bound).is_zero()) {
            return Ok(Followed::TimedOut(Box::new(operation)));
        }
        let pause = bound.map_or(LOOK, |bound| watch.left_of(bound).min(LOOK));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stops.next() => return Ok(Followed::Interrupted),
        }
    }
}

fn bar(context: &Context, total: Option<u64>) -> Option<ProgressBar> {
    if !output::stderr_is_terminal() || !context.out.is_for_people() {
        return None;
    }
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    let template = match total {
        Some(_) => "{bar:24} {percent:>3}%  {msg}  {elapsed}  ETA {eta}",
        None => "{spinner} {msg}  {elapsed}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    Some(bar)
}
