//! The environment, read once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::Terminal;
use super::layer::{Key, Layer};

/// What systemd tells a service; meant for that one process, and passed on to none.
pub(crate) const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";
const WATCHDOG_PID: &str = "WATCHDOG_PID";
const WATCHDOG_USEC: &str = "WATCHDOG_USEC";
pub(crate) const OF_THE_MANAGER: [&str; 3] = [NOTIFY_SOCKET, WATCHDOG_PID, WATCHDOG_USEC];

/// The variables of this process, as they were at its start. Those that are not UTF-8 are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn read() -> Environment {
        let utf8 =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Environment(std::env::vars_os().filter_map(utf8).collect())
    }

    /// An environment with just these variables.
    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> Environment {
        Environment(variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect())
    }

    /// All of it, for programs that are started with a part of it.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        let passed = self.0.iter().filter(|(name, _)| !OF_THE_MANAGER.contains(&name.as_str()));
        passed.map(|(name, value)| (name.into(), value.into()))
    }

    /// Where systemd, or whoever else started this process so, listens for how it is.
    pub(crate) fn notify_socket(&self) -> Option<&str> {
        self.get(NOTIFY_SOCKET)
    }

    /// How often it wants to hear that this process lives, if this is the process that it means.
    pub(crate) fn watchdog(&self, pid: u32) -> Option<Duration> {
        let meant = self.get(WATCHDOG_PID).is_none_or(|text| text.parse() == Ok(pid));
        let micros = self.get(WATCHDOG_USEC)?.parse().ok().filter(|micros| *micros > 0)?;
        meant.then(|| Duration::from_micros(micros))
    }

    /// The settings that it holds. An empty variable is as good as none.
    pub(crate) fn layer(&self) -> Layer {
        let set = |key: Key| self.get(key.variable()).map(|text| (key, text.to_owned()));
        Key::ALL.into_iter().filter_map(set).collect()
    }

    /// The user's settings file, if the environment tells where it would be.
    pub(super) fn user_file(&self) -> Option<PathBuf> {
        self.base("XDG_CONFIG_HOME", ".config").map(|base| base.join("ganger/config.toml"))
    }

    /// Where `ganger dev` keeps its data when nobody says.
    pub(super) fn default_data(&self) -> PathBuf {
        let base = self.base("XDG_DATA_HOME", ".local/share");
        base.map_or_else(|| PathBuf::from("ganger-data"), |base| base.join("ganger/dev"))
    }

    /// Where this user keeps what Ganger needs besides data.
    pub(super) fn home_of_ganger(&self) -> PathBuf {
        let data = self.default_data();
        data.parent().filter(|home| !home.as_os_str().is_empty()).map_or_else(|| data.clone(), PathBuf::from)
    }

    /// What it says about the terminal.
    pub(crate) fn terminal(&self) -> Terminal {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| self.get(name));
        let utf8 = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        Terminal { utf8, color: self.get("NO_COLOR").is_none() && self.get("TERM") != Some("dumb") }
    }

    /// Whether the terminal only writes line after line.
    pub(crate) fn terminal_is_dumb(&self) -> bool {
        self.get("TERM").is_none_or(|term| term == "dumb")
    }

    /// Whether there is a desktop that can show a page.
    pub(crate) fn is_graphical(&self) -> bool {
        ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(|name| self.get(name).is_some())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A directory of the XDG specification, which ignores relative paths.
    fn base(&self, variable: &str, under_home: &str) -> Option<PathBuf> {
        let given = self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        given.or_else(|| self.get("HOME").map(|home| PathBuf::from(home).join(under_home)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_off_for_a_dumb_terminal_and_for_whoever_says_so() {
        assert!(Environment::of(&[("TERM", "xterm")]).terminal().color);
        assert!(!Environment::of(&[("TERM", "dumb")]).terminal().color);
        assert!(!Environment::of(&[("NO_COLOR", "1")]).terminal().color);
        assert!(Environment::of(&[("NO_COLOR", "")]).terminal().color, "an empty NO_COLOR counts as unset");
    }

    #[test]
    fn the_strongest_locale_variable_decides_about_utf8() {
        assert!(Environment::of(&[("LANG", "de_DE.UTF-8")]).terminal().utf8);
        assert!(!Environment::of(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]).terminal().utf8);
        assert!(!Environment::default().terminal().utf8);
    }

    #[test]
    fn the_watchdog_is_for_the_process_that_it_names() {
        let with = |variables: &[(&str, &str)]| Environment::of(variables).watchdog(7);
        assert_eq!(with(&[("WATCHDOG_USEC", "3000000")]), Some(Duration::from_secs(3)));
        assert_eq!(
            with(&[("WATCHDOG_USEC", "3000000"), ("WATCHDOG_PID", "7")]),
            Some(Duration::from_secs(3))
        );
        assert_eq!(with(&[("WATCHDOG_USEC", "3000000"), ("WATCHDOG_PID", "8")]), None);
        for wrong in ["", "0", "-1", "often"] {
            assert_eq!(with(&[("WATCHDOG_USEC", wrong)]), None, "{wrong}");
        }
        let passed = Environment::of(&[("NOTIFY_SOCKET", "/run/x"), ("PATH", "/bin")]);
        assert_eq!(passed.variables().count(), 1, "what is meant for this process is passed on to no other");
    }

    #[test]
    fn a_relative_xdg_directory_is_ignored() {
        let env = Environment::of(&[("XDG_DATA_HOME", "data"), ("HOME", "/home/ada")]);
        assert_eq!(env.default_data(), PathBuf::from("/home/ada/.local/share/ganger/dev"));
    }
}
