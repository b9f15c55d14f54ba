//! The terminal: taken over, and given back as it was, however this ends.

use std::io;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::style::Print;
use ratatui::{DefaultTerminal, Frame};

use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// With these the wheel of the mouse sends the arrow keys, and text can still be marked with it.
const WHEEL_ON: &str = "\x1b[?1007h";
const WHEEL_OFF: &str = "\x1b[?1007l";

/// The whole screen, until it is dropped.
pub(super) struct Screen(DefaultTerminal);

impl Screen {
    /// Takes the terminal over. A panic gives it back before it tells of itself.
    pub(super) fn open() -> Fallible<Screen> {
        let terminal = ratatui::try_init().map_err(|error| failed(&error))?;
        let screen = Screen(terminal);
        execute!(io::stdout(), EnableBracketedPaste, Print(WHEEL_ON)).map_err(|error| failed(&error))?;
        Ok(screen)
    }

    pub(super) fn size(&self) -> Fallible<(u16, u16)> {
        let size = self.0.size().map_err(|error| failed(&error))?;
        Ok((size.width, size.height))
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Fallible<()> {
        self.0.draw(draw).map(|_| ()).map_err(|error| failed(&error))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // If the terminal is gone there is nothing to be given back.
        let _ = execute!(io::stdout(), Print(WHEEL_OFF), DisableBracketedPaste);
        // A panic has done it before it told of itself; done twice, the cursor would go back to above what it told.
        if !std::thread::panicking() {
            let _ = ratatui::try_restore();
        }
    }
}

fn failed(error: &io::Error) -> Box<Failure> {
    let fix = "use `ganger stats` or `ganger job list` where there is no terminal";
    Failure::new(Exit::Failure, "cannot use the terminal", error, fix)
}
