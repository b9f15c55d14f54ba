//! The options of a job as text: only what differs from the default, nothing if nothing does.

use std::sync::OnceLock;

use ganger_core::job::JobOptions;
use serde_json::{Error, Map, Value};

/// The text, without the fields that have columns of their own.
pub(crate) fn encode(options: &JobOptions, columns: &[&str]) -> Result<Option<String>, Error> {
    static DEFAULT: OnceLock<(JobOptions, Map<String, Value>)> = OnceLock::new();
    let (default, default_fields) =
        DEFAULT.get_or_init(|| (JobOptions::default(), fields(&JobOptions::default()).unwrap_or_default()));
    if options == default {
        return Ok(None);
    }
    let mut own = fields(options)?;
    own.retain(|name, value| !columns.contains(&name.as_str()) && default_fields.get(name) != Some(value));
    Ok((!own.is_empty()).then(|| Value::Object(own).to_string()))
}

/// The options of such a text; what has columns is still to be set.
pub(crate) fn decode(text: Option<&str>) -> Result<JobOptions, Error> {
    text.map_or_else(|| Ok(JobOptions::default()), serde_json::from_str)
}

fn fields(options: &JobOptions) -> Result<Map<String, Value>, Error> {
    match serde_json::to_value(options)? {
        Value::Object(fields) => Ok(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Ok(Map::new())
        }
    }
}
