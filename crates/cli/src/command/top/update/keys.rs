//! What each key does. Lower case looks; upper case changes something, and asks first.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ganger_core::job::State;
use ganger_core::operation::OperationState;
use ganger_server::api::{JobBody, QueueBody};

use super::{Effect, command, go, open, refilter, show};
use crate::command::top::action::Action;
use crate::command::top::model::{Mode, Model, Sheet, View};
use crate::command::top::{rows, view};

/// Longest text that can be typed.
const TYPED: usize = 4096;

pub(super) fn key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    if key.kind == KeyEventKind::Release {
        return Vec::new();
    }
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    if ctrl && matches!(key.code, KeyCode::Char('c' | 'C')) {
        return vec![Effect::Quit];
    }
    match model.mode.clone() {
        Mode::Normal if ctrl => Vec::new(),
        Mode::Normal => normal(model, key.code),
        Mode::Filter(text) => {
            if let Some(filter) = typed(model, key.code, ctrl, text, Mode::Filter) {
                refilter(model, filter.trim().to_owned());
            }
            Vec::new()
        }
        Mode::Command(text) => match typed(model, key.code, ctrl, text, Mode::Command) {
            Some(line) => command::run(model, &line),
            None => Vec::new(),
        },
        Mode::Confirm(action) => {
            model.mode = Mode::Normal;
            if matches!(key.code, KeyCode::Char('y' | 'Y')) {
                model.message = None;
                return vec![Effect::Do(action)];
            }
            model.message = Some("nothing was changed".into());
            Vec::new()
        }
        Mode::Help => {
            model.mode = Mode::Normal;
            Vec::new()
        }
    }
}

/// Text that was pasted goes where text is typed, and nowhere else.
pub(super) fn paste(model: &mut Model, text: &str) {
    if let Mode::Filter(typed) | Mode::Command(typed) = &mut model.mode {
        typed.extend(text.chars().filter(|letter| !letter.is_control()).take(TYPED - typed.len().min(TYPED)));
    }
}

/// A line that is being typed; it, once it is whole.
#[expect(clippy::wildcard_enum_match_arm, reason = "most keys mean nothing here")]
fn typed(
    model: &mut Model,
    code: KeyCode,
    ctrl: bool,
    mut text: String,
    mode: fn(String) -> Mode,
) -> Option<String> {
    let whole = match code {
        KeyCode::Enter => Some(text.clone()),
        KeyCode::Esc => {
            model.mode = Mode::Normal;
            return None;
        }
        KeyCode::Backspace if text.is_empty() => {
            model.mode = Mode::Normal;
            return None;
        }
        KeyCode::Backspace => {
            text.pop();
            None
        }
        KeyCode::Char('u') if ctrl => {
            text.clear();
            None
        }
        KeyCode::Char(letter) if !ctrl && text.len() < TYPED => {
            text.push(letter);
            None
        }
        _ => None,
    };
    model.mode = if whole.is_some() { Mode::Normal } else { mode(text) };
    whole
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most keys mean nothing here")]
fn normal(model: &mut Model, code: KeyCode) -> Vec<Effect> {
    model.message = None;
    let page = isize::try_from(view::rows_visible(model).max(1)).unwrap_or(1);
    match code {
        KeyCode::Char('q') => return vec![Effect::Quit],
        KeyCode::Char('?') => model.mode = Mode::Help,
        KeyCode::Char('/') => model.mode = Mode::Filter(model.cursor().filter.clone()),
        KeyCode::Char(':') => model.mode = Mode::Command(String::new()),
        KeyCode::Char(digit @ '1'..='6') => {
            let place = digit as usize - '1' as usize;
            show(model, View::ALL[place], None);
        }
        KeyCode::Tab | KeyCode::Right => turn(model, 1),
        KeyCode::BackTab | KeyCode::Left => turn(model, View::ALL.len() - 1),
        KeyCode::Char('j') | KeyCode::Down => step(model, 1),
        KeyCode::Char('k') | KeyCode::Up => step(model, -1),
        KeyCode::PageDown => step(model, page),
        KeyCode::PageUp => step(model, -page),
        KeyCode::Char('g') | KeyCode::Home => step(model, isize::MIN / 2),
        KeyCode::Char('G') | KeyCode::End => step(model, isize::MAX / 2),
        KeyCode::Esc => back(model),
        KeyCode::Enter => drill(model),
        KeyCode::Char(' ') => freeze(model),
        KeyCode::Char('+' | '=') => hurry(model, true),
        KeyCode::Char('-') => hurry(model, false),
        KeyCode::Char('S') => sort(model),
        KeyCode::Char('T') => {
            let (theme, name) = model.theme.next();
            model.theme = theme;
            model.message = Some(name.into());
        }
        KeyCode::Char('e') => sheet(model, Sheet::Explain),
        KeyCode::Char('l') => sheet(model, Sheet::Log),
        KeyCode::Char('y') => return copy(model),
        KeyCode::Char('o') => return browse(model),
        KeyCode::Char(letter @ ('P' | 'R' | 'C' | 'D' | 'N')) => change(model, letter),
        _ => {}
    }
    Vec::new()
}

fn turn(model: &mut Model, by: usize) {
    let next = View::ALL[(model.view.place() + by) % View::ALL.len()];
    show(model, next, None);
}

fn step(model: &mut Model, by: isize) {
    if let Some(opened) = &mut model.opened {
        opened.scroll = opened.scroll.saturating_add_signed(by);
        let most = view::scroll_most(model);
        if let Some(opened) = &mut model.opened {
            opened.scroll = opened.scroll.min(most);
        }
        return;
    }
    let rows = rows::grid(model).rows;
    let cursor = model.cursor_mut();
    cursor.row = cursor.row.saturating_add_signed(by).min(rows.len().saturating_sub(1));
    cursor.id = rows.get(cursor.row).map(|row| row.id.clone());
    // The head of the queue at the cursor is asked for at once.
    model.asked = None;
}

/// A step back: from an opened job, from where one came, from a filter.
fn back(model: &mut Model) {
    if model.opened.take().is_some() {
        model.asked = None;
    } else if let Some((view, filter)) = model.back.pop() {
        show(model, view, Some(filter));
    } else if !model.cursor().filter.is_empty() {
        refilter(model, String::new());
    }
}

/// What is behind the row.
fn drill(model: &mut Model) {
    let Some(id) = model.cursor().id.clone().filter(|_| model.opened.is_none()) else { return };
    let filter = match model.view {
        View::Jobs => {
            if let Ok(id) = id.parse() {
                open(model, id, Sheet::Overview);
            }
            return;
        }
        View::Queues => format!("queue:\"{id}\""),
        View::Failures => format!("failure:{id}"),
        View::Workers => {
            let worker = model.data.workers.iter().flatten().find(|worker| worker.id.to_string() == id);
            let Some(worker) = worker else { return };
            format!("worker:\"{}\"", worker.name)
        }
        View::Schedules => format!("schedule:\"{id}\""),
        View::Operations => {
            let mut operations = model.data.operations.iter().flatten();
            let operation = operations.find(|operation| operation.id.to_string() == id);
            match operation.and_then(|operation| operation.filter.clone()) {
                Some(filter) => filter,
                None => {
                    model.message = Some("it has no filter that could be shown".into());
                    return;
                }
            }
        }
    };
    go(model, View::Jobs, Some(filter));
}

fn freeze(model: &mut Model) {
    model.frozen = !model.frozen;
    if !model.frozen {
        model.data.pace.forget_steps();
        (model.asked, model.paced) = (None, None);
    }
}

fn hurry(model: &mut Model, faster: bool) {
    model.hurry(faster);
    model.message = Some(format!("refreshed every {}", crate::humane::short(model.refresh())));
}

fn sort(model: &mut Model) {
    let columns = rows::grid(model).columns;
    let cursor = model.cursor_mut();
    let next = cursor.sort.map_or(0, |column| column + 1);
    cursor.sort = (next < columns.len()).then_some(next);
    let by = cursor.sort.map_or("as the server has them", |column| columns[column].title);
    model.message = Some(format!("sorted: {by}"));
}

/// The job that is meant: the opened one, that of the row, or the head of the queue.
fn job_meant(model: &Model) -> Option<ganger_core::JobId> {
    if let Some(opened) = &model.opened {
        return Some(opened.id);
    }
    let id = model.cursor().id.as_deref()?;
    match model.view {
        View::Jobs => id.parse().ok(),
        View::Queues => {
            let head = model.data.head.as_ref().filter(|head| head.queue == id)?;
            head.job.as_ref().map(|job| job.id)
        }
        View::Failures => {
            let mut groups = model.data.failures.iter().flatten();
            groups.find(|group| group.fingerprint.to_string() == id).map(|group| group.job)
        }
        View::Workers | View::Schedules | View::Operations => None,
    }
}

fn sheet(model: &mut Model, sheet: Sheet) {
    let meant = job_meant(model);
    match (&mut model.opened, meant) {
        (Some(opened), _) => {
            // The same key again leads back to the whole.
            let next = if opened.sheet == sheet { Sheet::Overview } else { sheet };
            (opened.sheet, opened.scroll) = (next, 0);
            model.asked = None;
        }
        (None, Some(id)) => open(model, id, sheet),
        (None, None) => model.message = Some("no job is chosen".into()),
    }
}

fn copy(model: &mut Model) -> Vec<Effect> {
    let opened = model.opened.as_ref().map(|opened| opened.id.to_string());
    let Some(id) = opened.or_else(|| model.cursor().id.clone()) else { return Vec::new() };
    model.message = Some(format!("copied {id}"));
    vec![Effect::Copy(id)]
}

fn browse(model: &mut Model) -> Vec<Effect> {
    let opened = model.opened.as_ref().map(|opened| format!("jobs/{}", opened.id));
    let place = opened.or_else(|| {
        let id = model.cursor().id.as_deref()?;
        Some(match model.view {
            View::Queues => format!("queues/{id}"),
            View::Jobs => format!("jobs/{id}"),
            View::Failures => format!("failures/{id}"),
            View::Workers => format!("workers/{id}"),
            View::Schedules => format!("schedules/{id}"),
            View::Operations => format!("operations/{id}"),
        })
    });
    let url = format!("{}/ui/{}", model.address, place.unwrap_or_default());
    model.message = Some(url.clone());
    vec![Effect::Open(url)]
}

fn change(model: &mut Model, letter: char) {
    match wished(model, letter) {
        _ if model.read_only => {
            model.message = Some(format!("{letter} changes something, and this is --read-only"));
        }
        Ok(action) => model.mode = Mode::Confirm(action),
        Err(why) => model.message = Some(why),
    }
}

/// What an upper-case letter means for the row.
fn wished(model: &Model, letter: char) -> Result<Action, String> {
    let nothing = || format!("{letter} does nothing here");
    if let Some(opened) = &model.opened {
        let job = opened.job.as_deref().ok_or_else(|| "the job is not here yet".to_owned())?;
        return of_job(job, letter).ok_or_else(nothing);
    }
    let id = model.cursor().id.clone().ok_or_else(|| "nothing is chosen".to_owned())?;
    let data = &model.data;
    let action = match (model.view, letter) {
        (View::Queues, 'P' | 'R') => {
            let mut queues = data.queues.iter().flatten();
            let queue = queues.find(|queue| queue.queue.as_str() == id).ok_or_else(nothing)?;
            return of_queue(queue, letter);
        }
        (View::Jobs, _) => {
            let mut jobs = data.jobs.iter().flat_map(|page| &page.items);
            jobs.find(|job| job.id.to_string() == id).and_then(|job| of_job(job, letter))
        }
        (View::Failures, 'R') => id.parse().ok().map(Action::ReplayGroup),
        (View::Workers, 'D') => {
            let mut workers = data.workers.iter().flatten();
            let worker = workers.find(|worker| worker.id.to_string() == id);
            worker.map(|worker| Action::DrainWorker(worker.id, worker.name.clone()))
        }
        (View::Schedules, 'N') => id.parse().ok().map(Action::RunSchedule),
        (View::Schedules, 'P') => {
            let mut schedules = data.schedules.iter().flatten();
            schedules.find(|schedule| schedule.name.as_str() == id).map(|schedule| {
                let name = schedule.name.clone();
                if schedule.paused { Action::ResumeSchedule(name) } else { Action::PauseSchedule(name) }
            })
        }
        (View::Operations, 'C') => {
            let mut operations = data.operations.iter().flatten();
            let running = operations.find(|operation| operation.id.to_string() == id);
            let running = running.filter(|operation| operation.state == OperationState::Running);
            running.map(|operation| Action::CancelOperation(operation.id))
        }
        (View::Queues | View::Failures | View::Workers | View::Schedules | View::Operations, _) => None,
    };
    action.ok_or_else(nothing)
}

fn of_queue(queue: &QueueBody, letter: char) -> Result<Action, String> {
    let name = queue.queue.clone();
    if letter == 'R' {
        return match queue.jobs.dead {
            0 => Err(format!("queue {name} has no dead jobs")),
            dead => Ok(Action::ReplayQueue(name, dead)),
        };
    }
    let stopped = queue.paused || queue.draining;
    Ok(if stopped { Action::ResumeQueue(name) } else { Action::PauseQueue(name) })
}

fn of_job(job: &JobBody, letter: char) -> Option<Action> {
    match (letter, job.state) {
        ('C', state) if !state.is_final() => Some(Action::CancelJob(job.id)),
        ('R', State::Dead | State::Cancelled | State::Succeeded) => Some(Action::ReplayJob(job.id)),
        ('N', State::Scheduled | State::Retrying) => Some(Action::RunJobNow(job.id)),
        _ => None,
    }
}
