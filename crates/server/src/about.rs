//! What a server tells people about itself, as whoever started it knows.

use crate::http::ui::Asset;

/// What whoever starts a server knows about it.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The files of the web page; none if the binary was built without it.
    pub ui: &'static [Asset],
    /// What people call this installation, such as `production`.
    pub label: Option<String>,
    /// Where jobs are kept, without passwords.
    pub store: String,
    /// The settings in force. Secrets are masked by whoever fills this in.
    pub settings: Vec<SettingShown>,
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingShown {
    /// Its name in a settings file.
    pub name: &'static str,
    /// Its value; a secret is masked.
    pub value: String,
    /// Where it came from.
    pub origin: String,
}
