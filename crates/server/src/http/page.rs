//! The few pages for people: the front page, the reference of the API, the explanation of an error.
//!
//! Plain HTML made on the server: no scripts, nothing from elsewhere, and a style sheet of its own, so
//! that the strictest content policy holds. Links are relative: a proxy may show the server under a prefix.

mod markdown;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::{Code, Problem};
use super::request::{Answer, Segment};
use super::ui;
use crate::tls::Secured;

const STYLE: &str = include_str!("style.css");
const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(problem))
        .route("/", axum::routing::get(front))
        .route("/ui/style.css", axum::routing::get(style))
}

/// Read what an error code means
///
/// Markdown, or a page where a browser asks.
#[utoipa::path(get, path = "/problems/{code}", tag = "server", params(("code" = String, Path)),
    responses((status = 200, body = String, content_type = "text/markdown")))]
async fn problem(Segment(code): Segment, headers: HeaderMap) -> Answer {
    let Some(code) = Code::parse(&code) else {
        return Err(Problem::new(Code::NoSuchRoute, "there is no such error code"));
    };
    let mut response = if wants_a_page(&headers) {
        let body = format!("{}{PROBLEM_LINKS}", markdown::to_html(code.page()));
        with_style(Html(page(code.as_str(), "../", &body)))
    } else {
        ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], code.page()).into_response()
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    Ok(response)
}

/// A browser is sent to the web page, where there is one; others get to read where everything is.
async fn front(State(app): State<App>, request: Request) -> Response {
    let headers = request.headers();
    let mut response = if wants_a_page(headers) && !app.service.about().ui.is_empty() {
        ui::to("ui/")
    } else {
        let version = escaped(app.options.version);
        let front = FRONT
            .replace("VERSION", &version)
            .replace("ROOT", "./")
            .replace("SERVER", &escaped(&asked(&request)));
        with_style(Html(page("Ganger", "./", &front)))
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// Where the caller found this server.
fn asked(request: &Request) -> String {
    let secured = request.extensions().get::<Secured>().is_some();
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(Authority::as_str)).unwrap_or("127.0.0.1:8080");
    format!("{}://{host}", if secured { "https" } else { "http" })
}

/// What stands under `/ui/` in a binary that was built without the web page, and how to get it.
pub(super) fn without_ui(path: &str) -> Response {
    let root = "../".repeat(path.matches('/').count() + 1);
    with_style(Html(page("Ganger", &root, &WITHOUT_UI.replace("ROOT", &root))))
}

/// Whether a browser asks, for somebody to look at.
fn wants_a_page(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepts.flat_map(|value| value.split(',')).any(|media| media.trim().starts_with("text/html"))
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

/// A page that may use our style sheet, and nothing else.
pub(super) fn with_style(html: Html<String>) -> Response {
    let mut response = html.into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

const FRONT: &str = r#"<h1>Ganger <small>VERSION</small></h1>
<p>A distributed job scheduler: it takes in jobs, keeps them safe, hands each to the right worker at the
right time, and can always say why a job is not running. This server is running.</p>
<h2>Try it</h2>
<pre>ganger run -- echo hello
ganger enqueue sleep --payload '{"seconds": 3}'
ganger job list
ganger stats</pre>
<p>or without the command line:</p>
<pre>curl -s SERVER/v1/jobs -d '{"kind": "echo", "payload": {"hello": "world"}}'</pre>
<h2>Look further</h2>
<ul>
<li><a href="ROOTui/">The web page</a></li>
<li><a href="ROOTv1/docs">The API</a>, also as <a href="ROOTv1/openapi.json">OpenAPI 3.1</a></li>
<li><a href="ROOTv1/jobs">Jobs</a>, <a href="ROOTv1/queues">queues</a>, <a href="ROOTv1/workers">workers</a>,
<a href="ROOTv1/stats">counts</a> (JSON)</li>
<li><a href="ROOTmetrics">Metrics</a> for Prometheus, <a href="ROOTreadyz?verbose">health</a></li>
</ul>"#;

const WITHOUT_UI: &str = r#"<h1>This server has no web page</h1>
<p>The server runs. Its binary was built without the web page, which needs Node.js 20 or later.</p>
<h2>How to get it</h2>
<p>In a checkout of Ganger, <code>make run</code> builds the page and the server and starts both. To build only the page, and
then the server with it:</p>
<pre>make ui
cargo build --release</pre>
<h2>Meanwhile</h2>
<pre>ganger job list
ganger stats
ganger --help</pre>
<p><a href="ROOTv1/docs">The API</a>, <a href="ROOTv1/stats">counts</a>, <a href="ROOTreadyz?verbose">health</a>,
<a href="ROOT">front page</a></p>"#;

const PROBLEM_LINKS: &str =
    "<p><a href=\"../ui/\">Web page</a> · <a href=\"../v1/docs\">every route of the API</a></p>\n";

/// `root` leads to the root of the server.
fn page(title: &str, root: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <link rel=\"stylesheet\" href=\"{root}ui/style.css\"></head>\n<body><main>\n{body}\n</main></body></html>\n",
        escaped(title)
    )
}

/// The reference of the API as a page.
pub(super) fn docs(document: &Value) -> String {
    let mut body = String::from("<h1>Ganger API</h1>\n");
    body.push_str(&format!("<p>{}</p>\n", text(&document["info"]["description"])));
    body.push_str("<p><a href=\"openapi.json\">openapi.json</a> · <a href=\"../\">front page</a></p>\n");
    for (path, methods) in entries(&document["paths"]) {
        for (method, operation) in entries(methods) {
            body.push_str(&operation_of(path, method, operation));
        }
    }
    body.push_str("<h2>Bodies</h2>\n");
    for (name, schema) in entries(&document["components"]["schemas"]) {
        body.push_str(&schema_of(name, schema));
    }
    page("Ganger API", "../", &body)
}

fn operation_of(path: &str, method: &str, operation: &Value) -> String {
    let mut html = format!(
        "<details><summary><b>{}</b> <code>{}</code> {}</summary>\n",
        escaped(&method.to_uppercase()),
        escaped(path),
        text(&operation["summary"])
    );
    if operation["description"].is_string() {
        html.push_str(&format!("<p>{}</p>\n", text(&operation["description"])));
    }
    let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    if !parameters.is_empty() {
        html.push_str("<table>\n");
        for parameter in parameters {
            let (name, place) = (text(&parameter["name"]), text(&parameter["in"]));
            let about = text(&parameter["description"]);
            html.push_str(&format!(
                "<tr><td><code>{name}</code></td><td>{place}</td><td>{about}</td></tr>\n"
            ));
        }
        html.push_str("</table>\n");
    }
    for (media, content) in entries(&operation["requestBody"]["content"]) {
        html.push_str(&format!("<p>Body ({}): {}</p>\n", escaped(media), type_of(&content["schema"])));
    }
    for (status, response) in entries(&operation["responses"]) {
        let types: Vec<String> = entries(&response["content"]).map(|(_, c)| type_of(&c["schema"])).collect();
        let about = text(&response["description"]);
        html.push_str(&format!("<p><b>{}</b> {} {about}</p>\n", escaped(status), types.join(", ")));
    }
    html.push_str("</details>\n");
    html
}

fn schema_of(name: &str, schema: &Value) -> String {
    let name = escaped(name);
    let mut html = format!("<details id=\"{name}\"><summary><code>{name}</code></summary>\n");
    html.push_str(&format!("<p>{}</p>\n<table>\n", text(&schema["description"])));
    for (field, about) in entries(&schema["properties"]) {
        html.push_str(&format!(
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>\n",
            escaped(field),
            type_of(about),
            text(&about["description"])
        ));
    }
    html.push_str("</table></details>\n");
    html
}

/// A schema in a word or two, with a link to ours.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|r| r.rsplit('/').next()) {
        let name = escaped(name);
        return format!("<a href=\"#{name}\">{name}</a>");
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let other = choices.iter().find(|choice| choice["type"] != "null");
        return other.map_or(String::new(), type_of);
    }
    if schema["type"] == "array" || schema["items"].is_object() {
        return format!("list of {}", type_of(&schema["items"]));
    }
    match &schema["type"] {
        Value::String(name) => escaped(name),
        Value::Array(names) => names.first().map_or(String::new(), text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "any JSON".into(),
    }
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_document_becomes_markup() {
        let document = serde_json::json!({
            "info": {"description": "<script>"},
            "paths": {"/a\"b": {"get": {"summary": "<b>", "responses": {}}}},
            "components": {"schemas": {"X": {"properties": {"<i>": {"type": "string"}}}}},
        });
        let html = docs(&document);
        assert!(!html.contains("<script>") && !html.contains("<i>") && html.contains("&lt;script&gt;"));
    }
}
