//! The web page as a browser gets it, and what stands there without one.

use std::sync::Arc;

use ganger_server::About;
use ganger_server::http::ui::Asset;
use ganger_server::testing;
use ganger_store::MemoryStore;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, LOCATION, VARY,
};
use reqwest::{Client, Method, Response, StatusCode, redirect};

use crate::site::Site;

const INDEX: &str = "<!doctype html><head><base href=\"./\" /><script src=\"./assets/a-1.js\"></script>";

static PAGE: &[Asset] = &[
    Asset {
        path: "assets/a-1.js",
        mime: "text/javascript; charset=utf-8",
        hash: "aa11",
        bytes: b"console.log('plain')",
        br: Some(b"as brotli"),
        gz: Some(b"as gzip"),
    },
    Asset { path: "favicon.svg", mime: "image/svg+xml", hash: "ff22", bytes: b"<svg/>", br: None, gz: None },
    Asset {
        path: "index.html",
        mime: "text/html; charset=utf-8",
        hash: "1d3x",
        bytes: INDEX.as_bytes(),
        br: None,
        gz: None,
    },
];

async fn with_page() -> Site {
    let mut options = testing::options(Arc::new(MemoryStore::new()));
    options.about = About { ui: PAGE, ..About::default() };
    let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
    let mut site = Site::over(testing::start_with(options).await);
    site.client = client;
    site
}

async fn get(site: &Site, path: &str, headers: &[(&str, &str)]) -> Response {
    let request = headers.iter().fold(site.get(path), |request, (name, value)| request.header(*name, *value));
    request.send().await.unwrap()
}

fn header(answer: &Response, name: reqwest::header::HeaderName) -> &str {
    answer.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_file_is_sent_in_the_form_that_the_browser_understands_and_kept_for_ever() {
    let site = with_page().await;
    for (accept, encoding, body) in
        [("gzip, br", "br", "as brotli"), ("gzip", "gzip", "as gzip"), ("", "", "console.log('plain')")]
    {
        let answer = get(&site, "/ui/assets/a-1.js", &[(ACCEPT_ENCODING.as_str(), accept)]).await;
        assert_eq!(header(&answer, CONTENT_ENCODING), encoding);
        assert_eq!(header(&answer, CONTENT_TYPE), "text/javascript; charset=utf-8");
        assert!(header(&answer, CACHE_CONTROL).contains("immutable"));
        assert_eq!(header(&answer, VARY), "accept-encoding");
        assert_eq!(answer.text().await.unwrap(), body);
    }
}

#[tokio::test]
async fn whoever_has_it_already_is_told_so() {
    let site = with_page().await;
    for path in ["/ui/assets/a-1.js", "/ui/favicon.svg", "/ui/", "/ui/jobs/x"] {
        let first = get(&site, path, &[(ACCEPT_ENCODING.as_str(), "br")]).await;
        let tag = header(&first, ETAG).to_owned();
        assert!(tag.starts_with('"'), "{path}: {tag}");
        let again = get(&site, path, &[(IF_NONE_MATCH.as_str(), &tag)]).await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
        assert_eq!(again.text().await.unwrap(), "");
    }
    let index = get(&site, "/ui/", &[]).await;
    assert_eq!(header(&index, CACHE_CONTROL), "no-cache");
}

#[tokio::test]
async fn head_tells_what_get_would_send() {
    let site = with_page().await;
    let answer = site.ask(Method::HEAD, "/ui/assets/a-1.js").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-length"], "20");
    assert_eq!(answer.text().await.unwrap(), "");
    let answer = site.ask(Method::POST, "/ui/").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
}

/// A proxy may show the server under any prefix: every address in the page is relative to its base.
#[tokio::test]
async fn the_page_leads_up_from_wherever_it_was_asked_for() {
    let site = with_page().await;
    for (path, base) in [
        ("/ui/", "./"),
        ("/ui/index.html", "./"),
        ("/ui/jobs", "./"),
        ("/ui/jobs/job_1", "../"),
        ("/ui/kinds/email.send", "../"),
        ("/ui/queues/a%2Fb", "../"),
        ("/ui/a/b/c", "../../"),
    ] {
        let answer = get(&site, path, &[]).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        let text = answer.text().await.unwrap();
        assert!(text.contains(&format!("<base href=\"{base}\" />")), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_file_that_is_not_there_is_not_the_page() {
    let site = with_page().await;
    for path in ["/ui/assets/old-9.js", "/ui/assets/", "/ui/robots.txt", "/ui/assets/../../etc/passwd"] {
        let answer = get(&site, path, &[]).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn the_page_may_load_from_here_and_from_nowhere_else() {
    let site = with_page().await;
    for path in ["/ui/", "/ui/jobs", "/ui/assets/a-1.js"] {
        let answer = get(&site, path, &[]).await;
        let policy = header(&answer, CONTENT_SECURITY_POLICY);
        assert!(policy.starts_with("default-src 'self'; base-uri 'self'; object-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers()["x-frame-options"], "DENY");
        assert_eq!(answer.headers()["referrer-policy"], "no-referrer");
    }
}

/// Relative, so that a prefix stays.
#[tokio::test]
async fn a_browser_is_led_to_the_page_and_a_program_is_not() {
    let site = with_page().await;
    let browser = [(ACCEPT.as_str(), "text/html,application/xhtml+xml")];
    for path in ["/", "/ui"] {
        let answer = get(&site, path, &browser).await;
        assert_eq!(answer.status(), StatusCode::TEMPORARY_REDIRECT, "{path}");
        assert_eq!(header(&answer, LOCATION), "ui/", "{path}");
    }
    let answer = get(&site, "/", &[(ACCEPT.as_str(), "*/*")]).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(answer.text().await.unwrap().contains("This server is running"));
    let style = get(&site, "/ui/style.css", &[]).await;
    assert_eq!(header(&style, CONTENT_TYPE), "text/css; charset=utf-8");
}

#[tokio::test]
async fn a_server_without_the_page_says_how_to_get_it() {
    let site = Site::start().await;
    for (path, root) in [("/ui/", "../"), ("/ui/jobs/x", "../../")] {
        let answer = get(&site, path, &[(ACCEPT.as_str(), "text/html")]).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let text = answer.text().await.unwrap();
        assert!(text.contains("make run") && text.contains("make ui"), "{text}");
        assert!(text.contains(&format!("href=\"{root}v1/docs\"")), "{text}");
    }
    let front = get(&site, "/", &[(ACCEPT.as_str(), "text/html")]).await;
    assert_eq!(front.status(), StatusCode::OK, "there is nowhere to lead to");
}

#[tokio::test]
async fn a_problem_is_explained_to_people_and_to_programs() {
    let site = with_page().await;
    let page = get(&site, "/problems/no_such_job", &[(ACCEPT.as_str(), "text/html")]).await;
    assert!(header(&page, CONTENT_TYPE).starts_with("text/html"));
    let text = page.text().await.unwrap();
    assert!(text.contains("<h1>no_such_job</h1>") && text.contains("href=\"../v1/docs\""), "{text}");
    let text = get(&site, "/problems/no_such_job", &[]).await;
    assert!(header(&text, CONTENT_TYPE).starts_with("text/markdown"));
}
