//! What the databases have in common about their files of SQL: numbered migrations, and statements.

/// One step of a schema.
pub(crate) struct Migration {
    pub(crate) version: u32,
    pub(crate) name: &'static str,
    pub(crate) up: &'static str,
    pub(crate) down: &'static str,
}

/// Where a schema stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What the database has; 0 if it is empty.
    pub version: u32,
    /// Every migration this binary knows, in order.
    pub migrations: Vec<Step>,
}

/// One migration, as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub version: u32,
    /// What it is about.
    pub name: &'static str,
    /// Whether the database has it.
    pub applied: bool,
}

impl Status {
    /// Of a database at this version.
    pub(crate) fn at(version: u32, migrations: &[Migration]) -> Status {
        let step = |m: &Migration| Step { version: m.version, name: m.name, applied: m.version <= version };
        Status { version, migrations: migrations.iter().map(step).collect() }
    }
}

/// The version that the last of these brings.
pub(crate) fn latest(migrations: &[Migration]) -> u32 {
    migrations.last().map_or(0, |last| last.version)
}

/// A file of SQL without its opening comment. Prepared statements are found by their text, so it is worth keeping
/// short.
pub(crate) const fn statement(file: &'static str) -> &'static str {
    let bytes = file.as_bytes();
    let mut at = 0;
    while bytes[at] == b'-' {
        while bytes[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    file.split_at(at).1
}
