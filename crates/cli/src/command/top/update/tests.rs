//! Keys and news, and what they come to.

use ganger_core::event::Event;
use serde_json::json;

use super::{Effect, Message, Told, update};
use crate::command::top::action::Action;
use crate::command::top::fetch::Fetch;
use crate::command::top::fixture::{JOB, at, denied, model, press};
use crate::command::top::model::{Mode, Sheet, View};
use crate::command::top::rows;

fn changes(effects: &[Effect]) -> Vec<&Action> {
    let mut actions = Vec::new();
    for effect in effects {
        match effect {
            Effect::Do(action) => actions.push(action),
            Effect::Fetch(_) | Effect::Copy(_) | Effect::Open(_) | Effect::Quit => {}
        }
    }
    actions
}

#[test]
fn an_upper_case_letter_asks_and_only_yes_changes_something() {
    let mut model = model(80, 24);
    assert_eq!(changes(&press(&mut model, "P")), [] as [&Action; 0]);
    assert_eq!(model.mode, Mode::Confirm(Action::PauseQueue("mail".parse().unwrap())));
    assert_eq!(changes(&press(&mut model, "n")), [] as [&Action; 0]);
    assert_eq!(model.message.as_deref(), Some("nothing was changed"));
    let done = press(&mut model, "Py");
    assert_eq!(changes(&done), [&Action::PauseQueue("mail".parse().unwrap())]);
    let paused = press(&mut model, "jPy");
    assert_eq!(changes(&paused), [&Action::ResumeQueue("media".parse().unwrap())], "a paused one is resumed");
}

#[test]
fn read_only_switches_every_change_off() {
    let mut model = model(80, 24);
    model.read_only = true;
    for view in ["1", "2", "3", "4", "5", "6", "2\n"] {
        for letter in ["P", "R", "C", "D", "N"] {
            press(&mut model, view);
            assert_eq!(
                changes(&press(&mut model, &format!("{letter}y"))),
                [] as [&Action; 0],
                "{view}{letter}"
            );
        }
    }
    press(&mut model, "1P");
    assert!(model.message.as_deref().is_some_and(|told| told.contains("--read-only")));
}

#[test]
fn each_letter_means_what_is_at_the_cursor() {
    let id = JOB.parse().unwrap();
    for (keys, action) in [
        ("1Ry", Action::ReplayQueue("mail".parse().unwrap(), 14)),
        ("2Ry", Action::ReplayJob(id)),
        ("3Ry", Action::ReplayGroup("9f86d081884c7d65".parse().unwrap())),
        ("5Ny", Action::RunSchedule("nightly".parse().unwrap())),
        ("5Py", Action::PauseSchedule("nightly".parse().unwrap())),
    ] {
        let mut model = model(80, 24);
        assert_eq!(changes(&press(&mut model, keys)), [&action], "{keys}");
    }
    let mut model = model(80, 24);
    assert!(matches!(changes(&press(&mut model, "4Dy"))[..], [Action::DrainWorker(..)]));
    assert_eq!(changes(&press(&mut model, "2Cy")), [] as [&Action; 0], "what has ended cannot be cancelled");
    assert!(matches!(changes(&press(&mut model, "jCy"))[..], [Action::CancelJob(_)]));
}

#[test]
fn enter_leads_in_and_escape_leads_back() {
    let mut model = model(80, 24);
    let effects = press(&mut model, "\n");
    assert_eq!((model.view, model.cursor().filter.as_str()), (View::Jobs, "queue:\"mail\""));
    assert!(effects.contains(&Effect::Fetch(Fetch::Jobs { filter: "queue:\"mail\"".into() })), "{effects:?}");
    press(&mut model, "\x1b");
    assert_eq!(model.view, View::Queues);
    press(&mut model, "2\n");
    assert!(model.opened.is_none(), "the jobs of another filter are not shown");
    press(&mut model, &format!(":job {JOB}\n"));
    assert_eq!(model.opened.as_ref().map(|opened| opened.id.to_string()).as_deref(), Some(JOB));
    press(&mut model, "e");
    assert_eq!(model.opened.as_ref().map(|opened| opened.sheet), Some(Sheet::Explain));
    press(&mut model, "\x1b");
    assert!(model.opened.is_none());
}

#[test]
fn a_filter_is_typed_and_a_command_is_understood() {
    let mut model = model(80, 24);
    press(&mut model, "/med\n");
    let ids = |model: &_| rows::grid(model).rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(&model), ["media"]);
    press(&mut model, "\x1b");
    assert_eq!(ids(&model).len(), 3);
    press(&mut model, ":queue reports\n");
    assert_eq!(model.cursor().id.as_deref(), Some("reports"));
    press(&mut model, ":nonsense\n");
    assert!(model.message.as_deref().is_some_and(|told| told.contains(":nonsense")));
    assert_eq!(press(&mut model, ":q\n"), [Effect::Quit]);
}

#[test]
fn what_is_frozen_does_not_change_and_asks_nothing() {
    let mut model = model(80, 24);
    press(&mut model, " ");
    assert!(model.frozen && !model.is_live());
    let stats = json!({
        "term": 1, "jobs": { "queued": 1 }, "by_kind": [], "workers": {}, "threads": 0, "threads_used": 0,
        "store_backlog": 0,
    });
    let stats = serde_json::from_value(stats).unwrap();
    update(&mut model, Message::Told(Told::Counts(stats)));
    assert_eq!(model.data.stats.as_ref().map(|stats| stats.jobs.queued), Some(4430));
    model.pending.clear();
    at(&mut model, 60.0);
    assert!(model.pending.is_empty());
    let effects = press(&mut model, " ");
    assert!(effects.contains(&Effect::Fetch(Fetch::Queues)), "{effects:?}");
}

#[test]
fn counts_of_the_stream_are_shown_at_once_and_a_pause_too() {
    let mut model = model(80, 24);
    let stats = json!({
        "term": 1, "jobs": { "queued": 9 }, "workers": {}, "threads": 4, "threads_used": 4, "store_backlog": 0,
        "by_kind": [
            { "queue": "mail", "kind": "a", "jobs": { "queued": 4 } },
            { "queue": "mail", "kind": "b", "jobs": { "queued": 5, "dead": 1 } },
        ],
    });
    update(&mut model, Message::Told(Told::Counts(serde_json::from_value(stats).unwrap())));
    let event =
        Event::Queue { queue: "mail".parse().unwrap(), paused: true, draining: false, at: model.now.wall };
    update(&mut model, Message::Told(Told::Event(Box::new(event))));
    let queue = &model.data.queues.as_ref().unwrap()[0];
    assert_eq!((queue.jobs.queued, queue.jobs.dead, queue.paused), (9, 1, true));
}

#[test]
fn a_question_is_asked_once_until_it_is_answered() {
    let mut model = model(80, 24);
    at(&mut model, 5.0);
    let asked = model.pending.clone();
    assert!(asked.contains(&Fetch::Queues) && asked.contains(&Fetch::Pace), "{asked:?}");
    at(&mut model, 10.0);
    assert_eq!(model.pending, asked, "nobody has answered yet");
    update(&mut model, Message::Fetched(Fetch::Queues, Err(denied())));
    assert!(model.trouble_with(&Fetch::Queues).is_some());
    at(&mut model, 12.0);
    assert!(model.pending.contains(&Fetch::Queues));
}

#[test]
fn an_answer_to_another_filter_is_dropped() {
    let mut model = model(80, 24);
    let page = model.data.jobs.clone().unwrap();
    press(&mut model, "2/state:dead\n");
    let late = Fetch::Jobs { filter: String::new() };
    update(&mut model, Message::Fetched(late, Ok(crate::command::top::fetch::Fetched::Jobs(page))));
    assert!(model.data.jobs.is_none());
}

#[test]
fn the_cursor_follows_its_row_when_rows_move() {
    let mut model = model(80, 24);
    press(&mut model, "j");
    assert_eq!(model.cursor().id.as_deref(), Some("media"));
    press(&mut model, "SSS");
    assert_eq!(model.cursor().id.as_deref(), Some("media"), "sorted by what is ready");
    model.data.queues.as_mut().unwrap().reverse();
    at(&mut model, 2.0);
    assert_eq!(model.cursor().id.as_deref(), Some("media"));
}
