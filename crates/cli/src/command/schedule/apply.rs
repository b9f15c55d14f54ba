//! `ganger schedule apply`: schedules as a file says, and nothing changed that already is so.
//!
//! Everything is checked before anything is changed. What differs is found by comparing what the server has with what it
//! would have: so defaults that are left out of the file are no difference, and a second apply does nothing.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use ganger_core::name::ScheduleName;
use ganger_server::api::{ScheduleBody, SchedulePreview};
use serde_json::{Value, json};

use super::{all, not_json, path};
use crate::client::{Call, Client};
use crate::context::Context;
use crate::exec_token;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};
use crate::output::Shown;

/// Make the schedules as a file says, and show what that changes.
#[derive(Args, Debug)]
#[command(after_help = "\
The file is TOML; or JSON if its name ends so, an array or {\"schedule\": […]}:
  [[schedule]]
  name = \"nightly\"
  cron = \"30 2 * * *\"
  time_zone = \"Europe/Berlin\"
  job = { kind = \"report\", payload = { days = 1 } }

Examples:
  ganger schedule apply schedules.toml --dry-run
  ganger schedule apply schedules.toml --prune")]
pub(super) struct Apply {
    /// The file
    file: PathBuf,
    /// Delete schedules that are not in the file
    #[arg(long)]
    prune: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
}

/// What is done to one schedule.
struct Step {
    name: ScheduleName,
    action: &'static str,
    changes: Vec<String>,
    /// What is sent; nothing if it goes or stays.
    body: Option<String>,
}

impl Apply {
    pub(super) async fn run(self, context: &Context) -> Fallible<Exit> {
        let wanted = self.read()?;
        let client = context.client()?;
        let known = all(context).await?;
        let mut steps = Vec::new();
        for value in wanted {
            steps.push(plan(context, &client, &known, value).await?);
        }
        let named: BTreeSet<ScheduleName> = steps.iter().map(|step| step.name.clone()).collect();
        if named.len() < steps.len() {
            let why = "two schedules of the file have one name";
            return Err(Failure::usage(self.what(), why, "give each a name of its own"));
        }
        for schedule in known.iter().filter(|schedule| self.prune && !named.contains(&schedule.name)) {
            let name = schedule.name.clone();
            steps.push(Step { name, action: "delete", changes: Vec::new(), body: None });
        }
        if !self.dry_run {
            for step in &steps {
                step.carry_out(context, &client).await?;
            }
        }
        self.show(context, &steps)
    }

    fn what(&self) -> String {
        format!("cannot apply {}", self.file.display())
    }

    /// The schedules of the file.
    fn read(&self) -> Fallible<Vec<Value>> {
        let fix = "see `ganger schedule apply --help` for its form";
        let text = std::fs::read_to_string(&self.file)
            .map_err(|error| Failure::file(self.what(), &error, "check the name of the file"))?;
        let is_json = self.file.extension().is_some_and(|extension| extension == "json");
        let document = if is_json {
            serde_json::from_str(&text).map_err(|error| Failure::usage(self.what(), error, fix))?
        } else {
            let read = toml::from_str(&text);
            let table: toml::Table = read.map_err(|error| {
                let why = format!("it is not TOML: {}", error.message());
                Failure::usage(self.what(), why, fix)
            })?;
            from_toml(toml::Value::Table(table))
        };
        schedules(document).map_err(|why| Failure::usage(self.what(), why, fix))
    }

    fn show(&self, context: &Context, steps: &[Step]) -> Fallible<Exit> {
        let items: Vec<Value> = steps
            .iter()
            .map(|step| json!({"name": step.name, "action": step.action, "changes": step.changes}))
            .collect();
        let body = json!({"dry_run": self.dry_run, "items": items}).to_string();
        let raw: Vec<_> =
            items.iter().filter_map(|item| serde_json::value::to_raw_value(item).ok()).collect();
        let names = steps.iter().map(|step| step.name.to_string()).collect();
        let shown = Shown { body: &body, items: raw.iter().map(AsRef::as_ref).collect(), names };
        let text = || {
            let mut lines: Vec<String> = Vec::new();
            for step in steps {
                let sign = match step.action {
                    "create" => "+",
                    "change" => "~",
                    "delete" => "-",
                    _ => "=",
                };
                lines.push(format!("{sign} {}", step.name));
                lines.extend(step.changes.iter().map(|change| format!("    {change}")));
            }
            let changed = steps.iter().filter(|step| step.action != "keep").count();
            let would = if self.dry_run { "would change" } else { "changed" };
            lines.push(format!("{changed} of {} {would}", steps.len()));
            lines.join("\n")
        };
        context.out.show(&shown, |_| text())?;
        Ok(Exit::Success)
    }
}

/// What is to be done for one schedule of the file.
async fn plan(context: &Context, client: &Client, known: &[ScheduleBody], value: Value) -> Fallible<Step> {
    let body = serde_json::to_string(&value).map_err(not_json)?;
    let shown = value.get("name").and_then(Value::as_str).unwrap_or("without a name").to_owned();
    let what = format!("check schedule {shown}");
    let token = exec_token::find(&context.config)?;
    let call = Call::submit_once(what, "/v1/schedules:preview", body.clone()).repeatable();
    let preview = client.send(&call.with_exec_token(token)).await?.read::<SchedulePreview>()?;
    let name = preview.schedule.name.clone();
    let after = plain(&preview.schedule)?;
    let before = known.iter().find(|schedule| schedule.name == name).map(plain).transpose()?;
    let (action, changes) = match before {
        None => ("create", differences("", &Value::Null, &after)),
        Some(before) if before == after => ("keep", Vec::new()),
        Some(before) => ("change", differences("", &before, &after)),
    };
    Ok(Step { name, action, changes, body: (action != "keep").then_some(body) })
}

impl Step {
    async fn carry_out(&self, context: &Context, client: &Client) -> Fallible<()> {
        let call = match (&self.body, self.action) {
            (Some(body), _) => {
                let what = format!("{} schedule {}", self.action, self.name);
                Call::put(what, path(&self.name, ""), body.clone())
                    .with_exec_token(exec_token::find(&context.config)?)
            }
            (None, "delete") => Call::delete(format!("delete schedule {}", self.name), path(&self.name, "")),
            (None, _) => return Ok(()),
        };
        client.send(&call).await.map(drop)
    }
}

/// A schedule without what the server adds.
fn plain(schedule: &ScheduleBody) -> Fallible<Value> {
    let mut value = serde_json::to_value(schedule).map_err(not_json)?;
    if let Some(object) = value.as_object_mut() {
        object.remove("id");
        object.remove("status");
    }
    Ok(value)
}

/// One line for each field that differs.
fn differences(at: &str, before: &Value, after: &Value) -> Vec<String> {
    let empty = serde_json::Map::new();
    let (old, new) = match (before, after) {
        (Value::Object(old), Value::Object(new)) => (old, new),
        (Value::Null, Value::Object(new)) if at.is_empty() || at == "job" => (&empty, new),
        (Value::Null, after) => return vec![format!("{at}: {after}")],
        (before, Value::Null) => return vec![format!("{at}: {before} -> default")],
        (before, after) => return vec![format!("{at}: {before} -> {after}")],
    };
    let fields: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut lines = Vec::new();
    for field in fields {
        let (old, new) = (old.get(field).unwrap_or(&Value::Null), new.get(field).unwrap_or(&Value::Null));
        if old != new && field != "name" {
            let place = if at.is_empty() { field.clone() } else { format!("{at}.{field}") };
            lines.extend(differences(&place, old, new));
        }
    }
    lines
}

/// The schedules of a document: all of it, or what is under the one name it may have.
fn schedules(mut document: Value) -> Result<Vec<Value>, String> {
    if let Value::Array(schedules) = document {
        return Ok(schedules);
    }
    let mut names = document.as_object().into_iter().flat_map(serde_json::Map::keys);
    if let Some(unknown) = names.find(|name| *name != "schedule") {
        return Err(format!("`{unknown}` is not known; the schedules are under `schedule`"));
    }
    match document.get_mut("schedule").map(Value::take) {
        Some(Value::Array(schedules)) => Ok(schedules),
        None if document.as_object().is_some_and(serde_json::Map::is_empty) => Ok(Vec::new()),
        Some(_) | None => Err("it has no list of schedules".to_owned()),
    }
}

/// TOML as JSON; moments become texts.
fn from_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Datetime(moment) => Value::String(moment.to_string()),
        toml::Value::Array(values) => values.into_iter().map(from_toml).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, from_toml(value))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_the_field_and_both_values() {
        let before = json!({"cron": "@daily", "job": {"kind": "a", "priority": 3}, "name": "x"});
        let after = json!({"cron": "@hourly", "job": {"kind": "a", "tags": ["t"]}, "name": "x"});
        assert_eq!(
            differences("", &before, &after),
            ["cron: \"@daily\" -> \"@hourly\"", "job.priority: 3 -> default", "job.tags: [\"t\"]"]
        );
        assert!(differences("", &after, &after).is_empty());
    }

    #[test]
    fn an_array_is_a_list_of_schedules_and_so_is_what_is_under_their_name() {
        for document in [json!([{"name": "a"}]), json!({"schedule": [{"name": "a"}]})] {
            assert_eq!(schedules(document), Ok(vec![json!({"name": "a"})]));
        }
        assert_eq!(schedules(json!({})), Ok(Vec::new()), "a file without schedules");
        for (document, said) in [(json!({"schedules": []}), "`schedules`"), (json!("a"), "no list")] {
            assert!(schedules(document).unwrap_err().contains(said), "{said}");
        }
    }

    #[test]
    fn toml_becomes_json() {
        let text = "at = 2026-01-01T00:00:00Z\njob = { kind = \"a\", payload = [1, 2.5, true] }";
        let table: toml::Table = toml::from_str(text).unwrap();
        let expected = json!({"at": "2026-01-01T00:00:00Z", "job": {"kind": "a", "payload": [1, 2.5, true]}});
        assert_eq!(from_toml(toml::Value::Table(table)), expected);
    }
}
