//! Where the next page of a list begins: opaque to clients, and bound to the filter that made it.
//!
//! A cursor is the id of the last job shown and a hash of the filter, so that a cursor given back with
//! other filters is refused rather than quietly listing something else.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ganger_core::JobId;
use ganger_store::read::ListQuery;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::problem::{Code, Problem};

const VERSION: u8 = 1;
const HASH: usize = 8;
const LEN: usize = 1 + HASH + 16;

/// The cursor after that job, for that filter.
pub(crate) fn encode(query: &ListQuery, after: JobId) -> String {
    let mut bytes = Vec::with_capacity(LEN);
    bytes.push(VERSION);
    bytes.extend(filter_hash(query));
    bytes.extend(after.uuid().as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The job after which the page begins.
///
/// # Errors
/// Not a cursor, or one of another filter.
pub(crate) fn decode(query: &ListQuery, text: &str) -> Result<JobId, Problem> {
    let refused = |why: &str| Problem::new(Code::InvalidCursor, why);
    // 25 bytes are 34 characters; longer texts are not even decoded.
    if text.len() > 64 {
        return Err(refused("the text is not a cursor"));
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| refused("the text is not a cursor"))?;
    let [VERSION, rest @ ..] = bytes.as_slice() else { return Err(refused("the text is not a cursor")) };
    let Some((hash, id)) = rest.split_at_checked(HASH) else {
        return Err(refused("the text is not a cursor"));
    };
    let id = Uuid::from_slice(id).map_err(|_| refused("the text is not a cursor"))?;
    if hash != filter_hash(query) {
        return Err(refused("the cursor was made for other filters"));
    }
    Ok(JobId::from_uuid(id))
}

/// Every filter counts; the page's size and place do not.
fn filter_hash(query: &ListQuery) -> [u8; HASH] {
    let ListQuery {
        states,
        queue,
        kind,
        tag,
        unique_key,
        created_from,
        created_before,
        filter,
        before: _,
        limit: _,
    } = query;
    let mut hash = Sha256::new();
    let mut states: Vec<&str> = states.iter().map(|s| s.as_str()).collect();
    states.sort_unstable();
    let texts = [
        Some(states.join(",")),
        queue.as_ref().map(ToString::to_string),
        kind.as_ref().map(ToString::to_string),
        tag.clone(),
        unique_key.clone(),
        created_from.map(|w| w.0.to_string()),
        created_before.map(|w| w.0.to_string()),
    ];
    // Cursors that were given before there were such filters still lead on.
    let filter = filter.as_ref().map(|filter| Some(filter.to_string()));
    for text in texts.into_iter().chain(filter) {
        match text {
            None => hash.update([0]),
            Some(text) => {
                hash.update([1]);
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text.as_bytes());
            }
        }
    }
    let full: [u8; 32] = hash.finalize().into();
    let mut short = [0; HASH];
    short.copy_from_slice(&full[..HASH]);
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::job::State;

    fn query() -> ListQuery {
        ListQuery { states: vec![State::Dead, State::Queued], tag: Some("eu".into()), ..ListQuery::default() }
    }

    #[test]
    fn a_cursor_leads_back_to_its_job() {
        let id = JobId::new(1_700_000_000_000, [3; 10]);
        let text = encode(&query(), id);
        assert_eq!(decode(&query(), &text).unwrap(), id);
        // The order of the states and the size of the page are no part of the filter.
        let same = ListQuery { states: vec![State::Queued, State::Dead], limit: 7, ..query() };
        assert_eq!(decode(&same, &text).unwrap(), id);
    }

    #[test]
    fn a_cursor_of_other_filters_is_refused() {
        let text = encode(&query(), JobId::new(1, [3; 10]));
        let filter = |text| Some(std::sync::Arc::new(ganger_core::filter::Filter::parse(text).unwrap()));
        let filtered = ListQuery { filter: filter("kind:a"), ..query() };
        assert!(decode(&filtered, &text).is_err());
        let text_of_filter = encode(&filtered, JobId::new(1, [3; 10]));
        assert!(decode(&ListQuery { filter: filter("kind:b"), ..query() }, &text_of_filter).is_err());
        assert!(decode(&ListQuery { filter: filter("  kind:a "), ..query() }, &text_of_filter).is_ok());
        let other = ListQuery { tag: None, unique_key: Some("eu".into()), ..query() };
        assert!(decode(&other, &text).unwrap_err().detail.contains("other filters"));
        for rubbish in ["", "!", "AAAA", &"A".repeat(34), &"A".repeat(10_000), "%00"] {
            assert_eq!(decode(&query(), rubbish).unwrap_err().code, Code::InvalidCursor, "{rubbish}");
        }
    }
}
