//! Between the model and the world: the terminal, the server, the signals.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{Event, EventStream};
use crossterm::execute;
use futures::StreamExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::action::Action;
use super::fetch::{Fetch, fetch};
use super::model::{Model, Moment};
use super::screen::Screen;
use super::stream;
use super::update::{Effect, Message, update};
use super::view::draw;
use crate::client::Client;
use crate::clock::{self, Stopwatch};
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::signals::Stops;

/// The clocks are read this often.
const TICK: Duration = Duration::from_millis(250);
/// The screen is not drawn more often, however much happens.
const FRAME: Duration = Duration::from_millis(50);
/// Messages that may wait.
const MESSAGES: usize = 256;
/// A change that is asked for takes no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Shows it until the user has seen enough.
pub(super) async fn run(mut model: Model, client: Client, graphical: bool) -> Fallible<Exit> {
    let mut stops = Stops::listen()?;
    let client = Arc::new(client);
    let (sender, mut messages) = mpsc::channel(MESSAGES);
    let mut tasks = JoinSet::new();
    tasks.spawn(stream::follow(Arc::clone(&client), sender.clone()));
    let mut screen = Screen::open()?;
    let mut keys = EventStream::new();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let started = Stopwatch::start();
    let moment = || Moment { since_start: started.elapsed(), wall: clock::now() };
    let mut drawn: Option<Duration> = None;
    model.size = screen.size()?;
    model.now = moment();
    // Ends with `q`, a signal, or the terminal; every round waits for something.
    loop {
        let message = tokio::select! {
            () = stops.next() => break,
            key = keys.next() => match key {
                Some(Ok(event)) => read(event),
                // The terminal is gone.
                Some(Err(_)) | None => break,
            },
            message = messages.recv() => message,
            Some(ended) = tasks.join_next() => {
                if ended.is_err_and(|error| error.is_panic()) {
                    return Err(Failure::new(Exit::Failure, "a part of `ganger top` has panicked", "", ""));
                }
                None
            }
            _ = ticks.tick() => Some(Message::Tick(moment())),
        };
        let Some(message) = message else { continue };
        let from_user = matches!(message, Message::Key(_) | Message::Paste(_) | Message::Resize(..));
        model.now = moment();
        for effect in update(&mut model, message) {
            match effect {
                Effect::Quit => return Ok(Exit::Success),
                Effect::Copy(text) => {
                    let copied = execute!(std::io::stdout(), CopyToClipboard::to_clipboard_from(text));
                    copied.map_err(|error| Failure::output(&error))?;
                }
                Effect::Open(url) if graphical => browse(&url),
                Effect::Open(_) => {}
                Effect::Fetch(wanted) => {
                    tasks.spawn(ask(Arc::clone(&client), sender.clone(), wanted));
                }
                Effect::Do(action) => {
                    tasks.spawn(act(Arc::clone(&client), sender.clone(), action));
                }
            }
        }
        let now = started.elapsed();
        if from_user || drawn.is_none_or(|drawn| now.saturating_sub(drawn) >= FRAME) {
            screen.draw(|frame| draw(&model, frame))?;
            drawn = Some(now);
        }
    }
    Ok(Exit::Success)
}

async fn ask(client: Arc<Client>, sender: mpsc::Sender<Message>, wanted: Fetch) {
    let answer = fetch(&client, &wanted).await;
    let _ = sender.send(Message::Fetched(wanted, answer)).await;
}

async fn act(client: Arc<Client>, sender: mpsc::Sender<Message>, action: Action) {
    let call = action.call();
    let done = match tokio::time::timeout(PATIENCE, client.send(&call)).await {
        Ok(answer) => answer.map(|_| ()),
        Err(_) => {
            let what = "the server has not answered in time: whether it was done is not known";
            Err(Failure::new(Exit::Unreachable, what, "", "look again before you repeat it"))
        }
    };
    let _ = sender.send(Message::Done(action, done)).await;
}

fn read(event: Event) -> Option<Message> {
    match event {
        Event::Key(key) => Some(Message::Key(key)),
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::Resize(width, height) => Some(Message::Resize(width, height)),
        Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}

/// Asks the desktop to show a page. If it cannot, the address is on the screen.
fn browse(url: &str) {
    let quiet = |command: &mut Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    };
    if let Ok(mut child) = quiet(Command::new("xdg-open").arg(url)) {
        std::thread::spawn(move || child.wait());
    }
}
