//! The command line within: `:queue mail`, `:job ID`, `:quit`.

use super::{Effect, go, open, refilter};
use crate::command::top::model::{Mode, Model, Sheet, View};

/// Does what was typed after the colon.
pub(super) fn run(model: &mut Model, line: &str) -> Vec<Effect> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word {
        "" => {}
        "q" | "quit" | "exit" => return vec![Effect::Quit],
        "h" | "help" => model.mode = Mode::Help,
        "filter" => refilter(model, rest.to_owned()),
        "job" if !rest.is_empty() => job(model, rest),
        "queue" | "queues" => choose(model, View::Queues, rest),
        "job" | "jobs" => go(model, View::Jobs, Some(rest.to_owned())),
        "failure" | "failures" => choose(model, View::Failures, rest),
        "worker" | "workers" => choose(model, View::Workers, rest),
        "schedule" | "schedules" => choose(model, View::Schedules, rest),
        "operation" | "operations" | "op" | "ops" => choose(model, View::Operations, rest),
        _ => {
            model.message = Some(format!(
                "there is no :{word}; there are :queue :job :jobs :failures :workers :schedules :ops :filter :quit"
            ));
        }
    }
    Vec::new()
}

/// A view, and in it the row of that name once it is there.
fn choose(model: &mut Model, view: View, name: &str) {
    go(model, view, Some(String::new()));
    if !name.is_empty() {
        model.cursor_mut().id = Some(name.to_owned());
    }
}

/// A job by its id, or by a part of it that is on the screen.
fn job(model: &mut Model, text: &str) {
    if let Ok(id) = text.parse() {
        open(model, id, Sheet::Overview);
        return;
    }
    let part = text.to_uppercase();
    let jobs = model.data.jobs.iter().flat_map(|page| &page.items);
    let found: Vec<_> = jobs.map(|job| job.id).filter(|id| id.to_string().contains(&part)).collect();
    match found[..] {
        [id] => open(model, id, Sheet::Overview),
        [] => model.message = Some(format!("`{text}` is not an id, and of no job on the screen a part")),
        _ => model.message = Some(format!("`{text}` is a part of {} ids", found.len())),
    }
}
