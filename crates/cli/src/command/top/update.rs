//! What every message does to the model, and what is to be done about it. Pure: effects are carried out by [`super::run`].

mod command;
mod keys;
mod told;

use std::time::Duration;

use crossterm::event::KeyEvent;
use ganger_core::name::QueueName;

use super::action::Action;
use super::fetch::{Fetch, Fetched};
use super::model::{Link, Model, Moment, Opened, STEPS_BACK, Sheet, View};
use super::rows;
use super::view;
use crate::failure::Failure;

pub(super) use told::Told;

/// Rates are asked for at most this often: they are four reads of the store.
const PACED: Duration = Duration::from_secs(2);
/// What was told goes again.
const TOLD: Duration = Duration::from_secs(8);

/// Something happened.
#[derive(Debug)]
pub(super) enum Message {
    Key(KeyEvent),
    Paste(String),
    Resize(u16, u16),
    /// The clocks, a few times a second.
    Tick(Moment),
    /// The stream of events opened, broke, or was refused.
    Linked(Link),
    /// Something was heard, if only that the stream lives.
    Told(Told),
    Fetched(Fetch, Result<Fetched, Box<Failure>>),
    Done(Action, Result<(), Box<Failure>>),
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    Fetch(Fetch),
    Do(Action),
    /// Put on the clipboard of the terminal.
    Copy(String),
    /// Show in a browser, if there is one.
    Open(String),
    Quit,
}

/// Takes in a message.
pub(super) fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    let before = model.message.clone();
    let mut effects = match message {
        Message::Key(key) => keys::key(model, key),
        Message::Paste(text) => {
            keys::paste(model, &text);
            Vec::new()
        }
        Message::Resize(width, height) => {
            model.size = (width, height);
            Vec::new()
        }
        Message::Tick(now) => {
            model.now = now;
            if now.since_start.saturating_sub(model.told_at) > TOLD {
                model.message = None;
            }
            Vec::new()
        }
        Message::Linked(link) => linked(model, link),
        Message::Told(told) => {
            heard(model);
            told::take(model, told);
            Vec::new()
        }
        Message::Fetched(fetch, answer) => {
            fetched(model, fetch, answer);
            Vec::new()
        }
        Message::Done(action, Ok(())) => {
            model.message = Some(action.done());
            model.asked = None;
            Vec::new()
        }
        Message::Done(_, Err(failure)) => {
            model.message = Some(told_in_one_line(&failure));
            Vec::new()
        }
    };
    if model.message != before {
        model.told_at = model.now.since_start;
    }
    follow(model);
    effects.extend(due(model));
    effects
}

/// A failure in one line.
pub(super) fn told_in_one_line(failure: &Failure) -> String {
    let parts = [failure.what.as_str(), &failure.why, &failure.fix];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ").replace('\n', " ")
}

fn heard(model: &mut Model) {
    model.heard = Some(model.now);
}

fn linked(model: &mut Model, link: Link) -> Vec<Effect> {
    let since = match (&model.link, &link) {
        // It is away for as long as it was before this try.
        (Link::Broken { since, .. }, Link::Broken { .. }) => *since,
        _ => model.now.since_start,
    };
    let opened = link == Link::Open;
    model.link = match link {
        Link::Broken { why, .. } => Link::Broken { since, why },
        Link::Connecting | Link::Open | Link::Refused(_) => link,
    };
    if opened {
        heard(model);
        // What was missed is asked for, and no rate spans the time in between.
        model.data.pace.forget_steps();
        (model.asked, model.paced) = (None, None);
    }
    Vec::new()
}

fn fetched(model: &mut Model, fetch: Fetch, answer: Result<Fetched, Box<Failure>>) {
    model.pending.retain(|pending| *pending != fetch);
    model.trouble.retain(|(asked, _)| !asked.is_like(&fetch));
    match answer {
        Ok(answer) => {
            heard(model);
            if !model.frozen {
                told::answered(model, &fetch, answer);
            }
        }
        Err(failure) => model.trouble.push((fetch, told_in_one_line(&failure))),
    }
    // What no view asks for any more is of no interest.
    let wanted = wanted(model);
    model.trouble.retain(|(asked, _)| wanted.iter().any(|fetch| fetch.is_like(asked)));
}

/// What the screen shows, and so must be asked for.
pub(super) fn wanted(model: &Model) -> Vec<Fetch> {
    let mut wanted = vec![Fetch::Pace];
    if let Some(opened) = &model.opened {
        wanted.push(Fetch::Job(opened.id));
        match opened.sheet {
            Sheet::Overview => {}
            Sheet::Explain => wanted.push(Fetch::Explain(opened.id)),
            Sheet::Log => wanted.push(Fetch::Log(opened.id)),
        }
        return wanted;
    }
    match model.view {
        View::Queues => {
            wanted.extend([Fetch::Queues, Fetch::Workers]);
            wanted.extend(head_wanted(model));
        }
        View::Jobs => wanted.push(Fetch::Jobs { filter: model.cursor().filter.clone() }),
        View::Failures => wanted.push(Fetch::Failures),
        View::Workers => wanted.push(Fetch::Workers),
        View::Schedules => wanted.push(Fetch::Schedules),
        View::Operations => wanted.push(Fetch::Operations),
    }
    // The stream tells the counts as soon as they change; until it has, or without it, they are asked for.
    if model.data.stats.is_none() || model.link != Link::Open {
        wanted.push(Fetch::Stats);
    }
    wanted
}

/// The head of the queue at the cursor, if jobs wait there.
fn head_wanted(model: &Model) -> Option<Fetch> {
    let selected = model.cursor().id.as_deref()?;
    let queue = model.data.queues.iter().flatten().find(|queue| queue.queue.as_str() == selected)?;
    let ready_for = Duration::from_millis(queue.oldest_ready_ms?);
    Some(Fetch::Head { queue: QueueName::clone(&queue.queue), ready_for })
}

/// What is to be asked now.
fn due(model: &mut Model) -> Vec<Effect> {
    if model.frozen {
        return Vec::new();
    }
    let now = model.now.since_start;
    let since = |moment: Option<Duration>| moment.map(|moment| now.saturating_sub(moment));
    let for_view = since(model.asked).is_none_or(|since| since >= model.refresh());
    let for_pace = since(model.paced).is_none_or(|since| since >= PACED.max(model.refresh()));
    let mut effects = Vec::new();
    for fetch in wanted(model) {
        let is_due = if fetch == Fetch::Pace { for_pace } else { for_view };
        if is_due && !model.pending.iter().any(|pending| pending.is_like(&fetch)) {
            model.pending.push(fetch.clone());
            effects.push(Effect::Fetch(fetch));
        }
    }
    if for_view {
        model.asked = Some(now);
    }
    if for_pace {
        model.paced = Some(now);
    }
    effects
}

/// Keeps the cursor on its row, and the row on the screen.
fn follow(model: &mut Model) {
    let grid = rows::grid(model);
    let visible = view::rows_visible(model);
    let cursor = model.cursor_mut();
    let moved = cursor.id.as_ref().and_then(|id| grid.rows.iter().position(|row| row.id == *id));
    cursor.row = moved.unwrap_or(cursor.row).min(grid.rows.len().saturating_sub(1));
    // While nothing is there yet, what was chosen is waited for.
    if let Some(row) = grid.rows.get(cursor.row) {
        cursor.id = Some(row.id.clone());
    }
    cursor.top = cursor.top.clamp((cursor.row + 1).saturating_sub(visible), cursor.row);
}

/// Shows another view, so that Esc leads back.
fn go(model: &mut Model, view: View, filter: Option<String>) {
    model.back.push((model.view, model.cursor().filter.clone()));
    if model.back.len() > STEPS_BACK {
        model.back.remove(0);
    }
    show(model, view, filter);
}

/// Shows another view.
fn show(model: &mut Model, view: View, filter: Option<String>) {
    model.opened = None;
    model.view = view;
    if let Some(filter) = filter {
        refilter(model, filter);
    }
    model.asked = None;
}

/// Changes which rows are shown.
fn refilter(model: &mut Model, filter: String) {
    let view = model.view;
    let cursor = model.cursor_mut();
    if cursor.filter != filter {
        cursor.filter = filter;
        (cursor.row, cursor.top, cursor.id) = (0, 0, None);
        if view == View::Jobs {
            // Those that are here were found by another filter.
            model.data.jobs = None;
        }
    }
    model.asked = None;
}

/// Opens a job.
fn open(model: &mut Model, id: ganger_core::JobId, sheet: Sheet) {
    model.opened = Some(Opened { id, sheet, scroll: 0, job: None, attempts: None, explain: None, log: None });
    model.asked = None;
}

#[cfg(test)]
mod tests;
