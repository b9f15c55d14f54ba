//! A panic gives the terminal back, in a real one: tmux runs these tests once more, to panic.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use ratatui::widgets::Paragraph;

use super::screen::Screen;
use terminal::Terminal;

#[expect(dead_code, reason = "the tests of the binary use the rest of it")]
#[path = "../../../tests/terminal/mod.rs"]
mod terminal;

/// What the terminal needs of the harness, for the program that runs now.
mod common {
    use super::{Duration, OnceLock, Path, PathBuf};

    pub(super) fn binary() -> &'static Path {
        static HERE: OnceLock<PathBuf> = OnceLock::new();
        HERE.get_or_init(|| std::env::current_exe().expect("it knows where it is"))
    }

    pub(super) fn eventually<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
        for _ in 0..3_000 {
            if let Some(value) = condition() {
                return value;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("waited in vain: {what}");
    }
}

/// The screen is the shell's again, its modes are sane, and what the panic said can be read on it.
#[test]
fn a_panic_gives_the_terminal_back_and_can_be_read() {
    let terminal = Terminal::open(120, 30);
    let name = concat!(module_path!(), "::takes_the_screen_and_panics");
    let (_, name) = name.split_once("::").expect("it begins with the crate");
    terminal.run(&["--exact", name, "--ignored", "--nocapture", "--test-threads", "1"], &[]);
    terminal.shows("it has the screen", |screen| screen.contains("taken over") && !screen.contains("before"));
    terminal.keys(&["x"]);
    terminal.shows("the panic", |screen| screen.contains("before") && screen.contains("on purpose"));
    terminal.is_restored();
}

#[test]
#[ignore = "panics: the test above runs it in a terminal of its own"]
fn takes_the_screen_and_panics() {
    let mut screen = Screen::open().expect("there is a terminal");
    screen
        .draw(|frame| frame.render_widget(Paragraph::new("taken over"), frame.area()))
        .expect("it is drawn");
    crossterm::event::read().expect("a key");
    panic!("on purpose");
}
