//! A terminal of its own for a test: tmux, on a socket that nobody else has.

use std::process::{Command, Output};

use tempfile::TempDir;

use super::common::{binary, eventually};

/// A terminal with a shell in it, gone when dropped.
pub(crate) struct Terminal {
    directory: TempDir,
}

impl Terminal {
    /// A shell on a screen of that size.
    pub(crate) fn open(width: u16, height: u16) -> Terminal {
        let terminal = Terminal { directory: tempfile::tempdir().expect("a temporary directory") };
        let (width, height) = (width.to_string(), height.to_string());
        let shell = "exec env PS1='ready$ ' /bin/sh";
        terminal.tmux(&["new-session", "-d", "-x", &width, "-y", &height, shell]);
        terminal.shows("a shell", |screen| screen.contains("ready$"));
        terminal
    }

    /// Starts `ganger` in the shell, with these variables beside the usual ones.
    pub(crate) fn run(&self, args: &[&str], variables: &[(&str, &str)]) {
        let variables: String = variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        let binary = binary().display();
        self.keys(&["clear; echo be\"\"fore", "Enter"]);
        self.shows("the shell answers", |screen| screen.contains("before"));
        self.keys(&[&format!("{variables}{binary} {}", args.join(" ")), "Enter"]);
    }

    /// Types: each is a text or the name of a key.
    pub(crate) fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.tmux(&["send-keys", key]);
        }
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// Waits until the screen is as it should be.
    pub(crate) fn shows(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let mut last = String::new();
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            eventually(what, || {
                last = self.screen();
                is_so(&last).then_some(())
            });
        }));
        assert!(seen.is_ok(), "waited in vain for {what}; the screen is\n{last}");
    }

    /// Makes the screen larger or smaller.
    pub(crate) fn resize(&self, width: u16, height: u16) {
        self.tmux(&["resize-window", "-x", &width.to_string(), "-y", &height.to_string()]);
    }

    /// The colours on the screen, as the numbers of their escapes.
    pub(crate) fn colours(&self) -> Vec<u32> {
        let coloured = self.tmux(&["capture-pane", "-p", "-e"]);
        let text = String::from_utf8_lossy(&coloured.stdout).into_owned();
        let escapes =
            text.split("\x1b[").skip(1).filter_map(|rest| rest.split_once('m')).map(|(codes, _)| codes);
        let codes = escapes
            .flat_map(|codes| codes.split(';').filter_map(|code| code.parse().ok()).collect::<Vec<u32>>());
        codes.filter(|code| matches!(code, 30..=38 | 40..=48 | 90..=97 | 100..=107)).collect()
    }

    /// Sends SIGTERM to the program in the foreground.
    pub(crate) fn terminate(&self, what: &str) {
        let shell = self.tmux(&["display-message", "-p", "#{pane_pid}"]);
        let shell = String::from_utf8_lossy(&shell.stdout).trim().to_owned();
        let children =
            Command::new("pgrep").args(["-P", &shell, "ganger"]).output().expect("there is a `pgrep`");
        let pid = String::from_utf8_lossy(&children.stdout).trim().to_owned();
        assert!(!pid.is_empty(), "{what} runs");
        assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("there is a `kill`").success());
    }

    /// The screen is that of the shell again, and the shell gets what is typed, and shows it.
    pub(crate) fn is_restored(&self) {
        self.shows("the shell as it was", |screen| {
            screen.contains("before") && screen.trim_end().ends_with("ready$")
        });
        let modes = "stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e echo | tr '\\n' '.'; echo af\"\"ter";
        self.keys(&[modes, "Enter"]);
        self.shows("a sane terminal", |screen| screen.contains("icanon.echo.after"));
    }

    fn tmux(&self, args: &[&str]) -> Output {
        let output = Command::new("tmux")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(self.directory.path().join("tmux"))
            .args(args)
            .current_dir(self.directory.path())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.directory.path())
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .output()
            .expect("tmux is there: scripts/setup installs it");
        assert!(output.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let socket = self.directory.path().join("tmux");
        let _ = Command::new("tmux").arg("-S").arg(socket).arg("kill-server").output();
    }
}
