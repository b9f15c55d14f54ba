//! The web page under `/ui/`: files that were packed into the binary when it was built.
//!
//! Nothing is read and nothing is compressed while a request waits. The names of files below `assets/` contain a hash of what
//! is in them, so they never change; everything else is asked for again, and answered with 304 if it is still the same.
//!
//! **Under a prefix.** A proxy may show the server below any path, such as `/jobs/`, and take that off before it asks. So no
//! address in the page, and in no answer here, begins with a slash: the page has a `<base>` that leads up from wherever it was
//! asked for, one `../` for each level, and cookies belong to the path that the browser sees.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use utoipa_axum::router::OpenApiRouter;

use super::App;
use super::no_route;
use super::page;

/// A file of the page, in every form in which it can be sent.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its path below `/ui/`.
    pub path: &'static str,
    /// What it is.
    pub mime: &'static str,
    /// Hash of its bytes.
    pub hash: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
    /// The same, compressed with Brotli, where that is smaller.
    pub br: Option<&'static [u8]>,
    /// The same, compressed with gzip, where that is smaller.
    pub gz: Option<&'static [u8]>,
}

/// Where the page begins.
const INDEX: &str = "index.html";
/// What the page says about where it is. The build refuses a page that does not have it.
pub const BASE: &str = "<base href=\"./\"";
/// Files below it have a hash in their names.
const HASHED: &str = "assets/";
/// What the page may do: load and ask from here, and nothing else. No inline script or style.
const POLICY: &str =
    "default-src 'self'; base-uri 'self'; object-src 'none'; frame-ancestors 'none'; form-action 'self'";
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const ASK_AGAIN: &str = "no-cache";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .route("/ui", axum::routing::get(|| async { to("ui/") }))
        .route("/ui/", axum::routing::get(show))
        .route("/ui/{*path}", axum::routing::get(show))
}

/// Sends a browser to a place beside the one it asked for. Relative, so that a prefix stays.
pub(super) fn to(place: &'static str) -> Response {
    let mut response = StatusCode::TEMPORARY_REDIRECT.into_response();
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(place));
    response
}

async fn show(State(app): State<App>, request: Request) -> Response {
    let assets = app.service.about().ui;
    // As the browser wrote it: an encoded slash is no level for it.
    let path = request.uri().path().strip_prefix("/ui/").unwrap_or_default();
    if let Some(asset) = find(assets, path).filter(|asset| asset.path != INDEX) {
        return file(asset, request.headers());
    }
    if is_file(path) {
        return no_route(request.uri().path()).into_response();
    }
    match find(assets, INDEX) {
        Some(index) => index_at(index, path, request.headers()),
        None => page::without_ui(path),
    }
}

fn find(assets: &'static [Asset], path: &str) -> Option<&'static Asset> {
    assets.iter().find(|asset| asset.path == path)
}

/// Whether a path can only be meant to be a file. Others belong to the page, which says itself what there is not: the name
/// of a kind may have a dot.
fn is_file(path: &str) -> bool {
    path.starts_with(HASHED) || (path != INDEX && !path.contains('/') && path.contains('.'))
}

/// How a file is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Br,
    Gz,
    Plain,
}

fn file(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let (form, bytes) = match chosen(asset, headers) {
        (Form::Br, Some(bytes)) => (Form::Br, bytes),
        (Form::Gz, Some(bytes)) => (Form::Gz, bytes),
        (Form::Br | Form::Gz | Form::Plain, _) => (Form::Plain, asset.bytes),
    };
    let (tag, encoding) = match form {
        Form::Br => (format!("\"{}-br\"", asset.hash), Some("br")),
        Form::Gz => (format!("\"{}-gz\"", asset.hash), Some("gzip")),
        Form::Plain => (format!("\"{}\"", asset.hash), None),
    };
    let cached = if asset.path.starts_with(HASHED) { FOR_EVER } else { ASK_AGAIN };
    let mut response = if knows(headers, asset.hash, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut response = ([(header::CONTENT_TYPE, asset.mime)], bytes).into_response();
        if let Some(encoding) = encoding {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    };
    dress(&mut response, &tag, cached);
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

/// The page itself, which leads up to where it lives. It is small: it is sent as it is.
fn index_at(index: &'static Asset, path: &str, headers: &HeaderMap) -> Response {
    let levels = path.matches('/').count();
    let tag = format!("\"{}-{levels}\"", index.hash);
    let mut response = if knows(headers, "", &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let html = String::from_utf8_lossy(index.bytes);
        let html = match levels {
            0 => html.into_owned(),
            levels => html.replacen(BASE, &format!("<base href=\"{}\"", "../".repeat(levels)), 1),
        };
        ([(header::CONTENT_TYPE, index.mime)], html).into_response()
    };
    dress(&mut response, &tag, ASK_AGAIN);
    response
}

fn dress(response: &mut Response, tag: &str, cached: &'static str) {
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cached));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
}

/// Whether the client has the file already, in whichever form: the bytes behind all of them are the same.
fn knows(headers: &HeaderMap, hash: &str, tag: &str) -> bool {
    let tags = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    tags.flat_map(|value| value.split(',')).map(str::trim).any(|known| {
        let known = known.strip_prefix("W/").unwrap_or(known);
        let same_bytes = || known.trim_matches('"').split('-').next() == Some(hash);
        known == "*" || known == tag || (!hash.is_empty() && same_bytes())
    })
}

/// The smallest form that the client understands, and its bytes.
fn chosen(asset: &'static Asset, headers: &HeaderMap) -> (Form, Option<&'static [u8]>) {
    let forms = [(Form::Br, "br", asset.br), (Form::Gz, "gzip", asset.gz)];
    let accepted = |word: &str| quality(headers, word) > 0.0;
    let mut there = forms.into_iter().filter(|(_, word, bytes)| bytes.is_some() && accepted(word));
    there.next().map_or((Form::Plain, None), |(form, _, bytes)| (form, bytes))
}

/// How much a client likes an encoding: 0 if it does not understand it.
fn quality(headers: &HeaderMap, wanted: &str) -> f32 {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let (mut named, mut any) = (None, None);
    for word in values.flat_map(|value| value.split(',')) {
        let mut parts = word.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let said = parts.find_map(|part| part.strip_prefix("q=")?.trim().parse::<f32>().ok());
        let quality = said.filter(|q| q.is_finite()).unwrap_or(1.0);
        if name.eq_ignore_ascii_case(wanted) {
            named = Some(quality);
        } else if name == "*" {
            any = Some(quality);
        }
    }
    named.or(any).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: Asset = Asset {
        path: "assets/main-1a2b.js",
        mime: "text/javascript",
        hash: "h",
        bytes: b"plain",
        br: Some(b"br"),
        gz: Some(b"gz"),
    };

    fn headers(pairs: &[(header::HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_client_gets_the_smallest_form_that_it_understands() {
        static ASSET: Asset = SCRIPT;
        for (accept, form) in [
            ("gzip, deflate, br, zstd", Form::Br),
            ("gzip", Form::Gz),
            ("GZIP;q=0.5", Form::Gz),
            ("br;q=0, gzip", Form::Gz),
            ("br;q=0, *", Form::Gz),
            ("*", Form::Br),
            ("identity", Form::Plain),
            ("", Form::Plain),
            ("*;q=0", Form::Plain),
        ] {
            assert_eq!(chosen(&ASSET, &headers(&[(header::ACCEPT_ENCODING, accept)])).0, form, "{accept}");
        }
        assert_eq!(chosen(&ASSET, &HeaderMap::new()).0, Form::Plain);
        static ALONE: Asset = Asset { br: None, gz: None, ..SCRIPT };
        assert_eq!(chosen(&ALONE, &headers(&[(header::ACCEPT_ENCODING, "br")])).0, Form::Plain);
    }

    #[test]
    fn whoever_has_the_bytes_in_any_form_has_them() {
        let knows = |tags| knows(&headers(&[(header::IF_NONE_MATCH, tags)]), "h", "\"h-br\"");
        for known in ["\"h-br\"", "\"h\"", "W/\"h-gz\"", "\"x\", \"h\"", "*"] {
            assert!(knows(known), "{known}");
        }
        for other in ["\"x\"", "\"hh\"", "\"x-h\"", ""] {
            assert!(!knows(other), "{other}");
        }
    }

    #[test]
    fn only_what_can_be_nothing_else_is_a_file() {
        for file in ["assets/x", "assets/a/b.js", "favicon.ico", "theme.js"] {
            assert!(is_file(file), "{file}");
        }
        for place in ["", "jobs", "jobs/", "kinds/email.send", "queues/a.js", INDEX] {
            assert!(!is_file(place), "{place}");
        }
    }
}
