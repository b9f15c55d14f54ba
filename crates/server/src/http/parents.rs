//! What a submission says about jobs that it waits for.

use ganger_core::JobId;
use ganger_core::dependency::{self, Dependency, OnDead, Place, Wrong};
use ganger_core::limits;

use super::fields::{Object, elements};
use super::problem::Problem;
use crate::api::FieldProblem;

/// How another job of the same request is named: `#` and its place, from 0.
const REFERENCE: char = '#';

/// Reads `depends_on`: ids, or objects with an id and a policy. `items` is the number of jobs of the request, if it has
/// several.
pub(super) fn depends_on(object: &mut Object<'_>, base: &str, items: Option<usize>) -> Vec<Dependency> {
    let Some(raw) = object.raw("depends_on") else { return Vec::new() };
    let listed = match elements(raw, limits::DEPENDENCIES) {
        Ok(listed) => listed,
        Err(detail) => {
            object.refuse("depends_on", detail);
            return Vec::new();
        }
    };
    let mut parents = Vec::with_capacity(listed.len());
    for (nth, raw) in listed.into_iter().enumerate() {
        let pointer = format!("{base}/depends_on/{nth}");
        match parent(raw.get(), &pointer, items) {
            Ok(parent) => parents.push(parent),
            Err(errors) => object.refuse_all(errors),
        }
    }
    parents
}

fn parent(text: &str, pointer: &str, items: Option<usize>) -> Result<Dependency, Vec<FieldProblem>> {
    let wrong = |at: &str, detail: String| vec![FieldProblem::new(format!("{pointer}{at}"), detail)];
    if let Ok(id) = serde_json::from_str::<String>(text) {
        let job = named(&id, items).map_err(|detail| wrong("", detail))?;
        return Ok(Dependency { job, on_dead: OnDead::default() });
    }
    let Ok(mut object) = Object::parse(text, &["job", "on_dead"], pointer) else {
        let detail = "must be the id of a job, or an object with `job` and `on_dead`";
        return Err(wrong("", detail.into()));
    };
    let id: Option<String> = object.take("job");
    if id.is_none() && object.raw("job").is_none() {
        object.refuse("job", "is missing");
    }
    let word: Option<String> = object.take("on_dead");
    let on_dead = word.as_deref().map_or(Some(OnDead::default()), OnDead::parse);
    if on_dead.is_none() {
        object.refuse("on_dead", "is `cancel` (the default), `run` or `wait`");
    }
    object.finish()?;
    let job = named(&id.unwrap_or_default(), items).map_err(|detail| wrong("/job", detail))?;
    Ok(Dependency { job, on_dead: on_dead.unwrap_or_default() })
}

fn named(text: &str, items: Option<usize>) -> Result<JobId, String> {
    let Some(place) = text.strip_prefix(REFERENCE) else {
        let id: JobId = text.parse().map_err(|error| format!("{error}"))?;
        return match dependency::referenced(id) {
            Some(_) => Err(not_there(id)),
            None => Ok(id),
        };
    };
    let Some(items) = items else {
        return Err(format!("`{REFERENCE}…` names a job of the same batch, and this is none"));
    };
    match place.parse::<usize>() {
        Ok(place) if place < items => Ok(dependency::reference(place)),
        _ => {
            Err(format!("`{REFERENCE}` is followed by the place of a job in `jobs`, from 0 to {}", items - 1))
        }
    }
}

/// A parent that is not there. `base` is where the jobs of the request are; a single job is at the root.
pub(crate) fn missing(parent: JobId, place: Place, base: &str) -> Problem {
    let at = if base.is_empty() { String::new() } else { format!("{base}/{}", place.job) };
    Problem::fields(vec![FieldProblem::new(format!("{at}/depends_on/{}", place.nth), not_there(parent))])
}

fn not_there(parent: JobId) -> String {
    format!("{parent} is not there: there is no such job, or it has ended and is not kept any more")
}

/// A request whose jobs cannot wait as they ask for.
pub(crate) fn wrong(wrong: &Wrong) -> Problem {
    let pointer = match wrong {
        Wrong::Circle { job, .. } => format!("/jobs/{job}/depends_on"),
        Wrong::TooMany { .. } => "/jobs".to_owned(),
    };
    Problem::fields(vec![FieldProblem::new(pointer, wrong.to_string())])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "job_01J9X7QK5V8M3N2P4R6S8T0V1W";

    fn read(json: &str, items: Option<usize>) -> Result<Vec<Dependency>, Vec<FieldProblem>> {
        let text = format!("{{\"depends_on\":{json}}}");
        let mut object = Object::parse(&text, &["depends_on"], "/jobs/4").unwrap();
        let parents = depends_on(&mut object, "/jobs/4", items);
        object.finish().map(|()| parents)
    }

    fn refused(json: &str, items: Option<usize>) -> (String, String) {
        let error = read(json, items).unwrap_err().remove(0);
        (error.pointer, error.detail)
    }

    #[test]
    fn parents_are_ids_or_objects_or_places_in_the_batch() {
        let parents =
            read(&format!(r##"["{ID}", {{"job": "{ID}", "on_dead": "run"}}, "#3"]"##), Some(5)).unwrap();
        assert_eq!(
            parents.iter().map(|p| p.on_dead).collect::<Vec<_>>(),
            [OnDead::Cancel, OnDead::Run, OnDead::Cancel]
        );
        assert_eq!(dependency::referenced(parents[2].job), Some(3));
        assert_eq!(read("null", None), Ok(Vec::new()));
    }

    #[test]
    fn every_mistake_has_its_place() {
        assert_eq!(refused("7", None).0, "/jobs/4/depends_on");
        assert_eq!(refused("[7]", None).0, "/jobs/4/depends_on/0");
        assert!(refused(r#"["x"]"#, None).1.contains("is not a job id"));
        assert!(refused(r##"["#0"]"##, None).1.contains("same batch"));
        assert!(refused(r##"["#5"]"##, Some(5)).1.contains("from 0 to 4"));
        assert!(refused(r##"["#-1"]"##, Some(5)).1.contains("from 0 to 4"));
        assert_eq!(
            refused(&format!(r#"["{ID}", {{"job": "{ID}", "on_dead": "die"}}]"#), None).0,
            "/jobs/4/depends_on/1/on_dead"
        );
        assert_eq!(refused(r#"[{"on_dead": "run"}]"#, None).0, "/jobs/4/depends_on/0/job");
        let zero = "00000000-0000-0000-0000-000000000001";
        assert!(refused(&format!("[\"{zero}\"]"), Some(5)).1.contains("is not there"));
    }

    #[test]
    fn a_job_has_a_bounded_number_of_parents() {
        let many = |n: usize| format!("[{}]", vec![format!("\"{ID}\""); n].join(","));
        assert_eq!(read(&many(limits::DEPENDENCIES), None).unwrap().len(), limits::DEPENDENCIES);
        assert_eq!(refused(&many(limits::DEPENDENCIES + 1), None).1, "has more than 1000 elements");
    }
}
