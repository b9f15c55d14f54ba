//! What the payload of each type must be. The original refused anything else when the job came; here the worker would, later.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::body::JobType;

#[derive(Deserialize)]
struct AddNumbers {
    #[serde(rename = "x")]
    _x: i64,
    #[serde(rename = "y")]
    _y: i64,
}

#[derive(Deserialize)]
struct ReverseString {
    #[serde(rename = "text")]
    _text: String,
}

#[derive(Deserialize)]
struct ResizeImage {
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    data: Option<IgnoredAny>,
    #[serde(rename = "width")]
    _width: u32,
    #[serde(rename = "height")]
    _height: u32,
}

#[derive(Deserialize)]
struct LargeArraySum {
    #[serde(rename = "numbers", alias = "array")]
    _numbers: Vec<i64>,
}

/// Whether a payload has the shape that its type needs.
pub(super) fn check(of_type: JobType, payload: &str) -> Result<(), String> {
    match of_type {
        JobType::AddNumbers => read::<AddNumbers>(payload).map(drop),
        JobType::ReverseString => read::<ReverseString>(payload).map(drop),
        JobType::LargeArraySum => read::<LargeArraySum>(payload).map(drop),
        JobType::ResizeImage => {
            let given = read::<ResizeImage>(payload)?;
            match given.url.is_some() != given.data.is_some() {
                true => Ok(()),
                false => Err("it needs either `url` or `data`".into()),
            }
        }
    }
}

fn read<'a, T: Deserialize<'a>>(payload: &'a str) -> Result<T, String> {
    // A list would do for the derived reader as well.
    if !payload.trim_start().starts_with('{') {
        return Err("it must be an object".into());
    }
    serde_json::from_str(payload).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_takes_its_own_shape_and_no_other() {
        for (of_type, good, bad) in [
            (JobType::AddNumbers, r#"{"x":1,"y":-2,"z":0}"#, r#"{"x":1}"#),
            (JobType::AddNumbers, r#"{"x":9223372036854775807,"y":0}"#, r#"{"x":9223372036854775808,"y":0}"#),
            (JobType::ReverseString, r#"{"text":""}"#, r#"{"text":1}"#),
            (JobType::LargeArraySum, r#"{"array":[1,2]}"#, r#"{"array":[1,"2"]}"#),
            (JobType::LargeArraySum, r#"{"numbers":[]}"#, "[1,2]"),
            (JobType::ResizeImage, r#"{"url":"u","width":1,"height":1}"#, r#"{"width":1,"height":1}"#),
            (
                JobType::ResizeImage,
                r#"{"data":"d","width":1,"height":1}"#,
                r#"{"url":"u","width":-1,"height":1}"#,
            ),
        ] {
            assert_eq!(check(of_type, good), Ok(()), "{good}");
            for bad in [bad, "null", "{}"] {
                assert!(check(of_type, bad).is_err(), "{of_type:?} {bad}");
            }
        }
    }
}
