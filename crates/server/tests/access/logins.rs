//! People: passwords, access tokens, refresh tokens, and what failing costs.

use reqwest::Method;
use serde_json::{Value, json};

use crate::site::{Said, Site};

const PASSWORD: &str = "correct horse battery";

async fn with_ada(role: &str) -> Site {
    let site = Site::start().await;
    let ada = json!({"name": "ada", "password": PASSWORD, "role": role});
    let (status, made) = site.post(&site.admin, "/v1/users", ada).await;
    assert_eq!(status, 201, "{made}");
    assert!(!made.to_string().contains("argon"), "{made}");
    site
}

async fn login(site: &Site, name: &str, password: &str) -> Said {
    site.post("", "/v1/auth:login", json!({"name": name, "password": password})).await
}

fn text(said: &Value, field: &str) -> String {
    said[field].as_str().unwrap_or_else(|| panic!("{field} in {said}")).to_owned()
}

#[tokio::test]
async fn a_login_lets_in_until_it_ends() {
    let site = with_ada("operator").await;
    let (status, said) = login(&site, "ada", PASSWORD).await;
    assert_eq!((status, &said["expires_in"]), (200, &json!(900)), "{said}");
    let access = text(&said, "access_token");
    let (_, who) = site.get(&access, "/v1/whoami").await;
    assert_eq!(who["who"], "user:ada", "{who}");
    assert_eq!(site.get(&access, "/v1/users").await.0, 403);
    assert_eq!(site.post(&access, "/v1/queues/mail:pause", json!({})).await.0, 200);
    assert_eq!(site.post(&access, "/v1/auth:logout", json!({})).await.0, 204);
    assert_eq!(site.get(&access, "/v1/whoami").await.0, 401, "the access token ends with its login");
    let refresh = json!({"refresh_token": text(&said, "refresh_token")});
    assert_eq!(site.post("", "/v1/auth:refresh", refresh).await.0, 401);
}

#[tokio::test]
async fn a_refresh_token_that_is_used_twice_ends_the_login() {
    let site = with_ada("viewer").await;
    let (_, first) = login(&site, "ada", PASSWORD).await;
    let old = json!({"refresh_token": text(&first, "refresh_token")});
    let (status, second) = site.post("", "/v1/auth:refresh", old.clone()).await;
    assert_eq!(status, 200, "{second}");
    assert_eq!(site.get(&text(&second, "access_token"), "/v1/whoami").await.0, 200);
    let (status, stolen) = site.post("", "/v1/auth:refresh", old).await;
    assert_eq!((status, &stolen["code"]), (401, &json!("login_refused")));
    let new = json!({"refresh_token": text(&second, "refresh_token")});
    assert_eq!(site.post("", "/v1/auth:refresh", new).await.0, 401, "the whole family is void");
    assert_eq!(site.get(&text(&second, "access_token"), "/v1/whoami").await.0, 401);
}

#[tokio::test]
async fn a_sixth_login_ends_the_first() {
    let site = with_ada("viewer").await;
    let mut logins = Vec::new();
    for _ in 0..6 {
        let (status, said) = login(&site, "ada", PASSWORD).await;
        assert_eq!(status, 200, "{said}");
        logins.push(text(&said, "access_token"));
    }
    assert_eq!(site.get(&logins[0], "/v1/whoami").await.0, 401);
    assert_eq!(site.get(&logins[1], "/v1/whoami").await.0, 200);
    let (_, ada) = site.get(&site.admin, "/v1/users/ada").await;
    assert_eq!(ada["logins"], 5);
}

#[tokio::test]
async fn another_password_or_role_ends_every_login() {
    let site = with_ada("operator").await;
    for change in
        [json!({"role": "viewer"}), json!({"password": "another long password"}), json!({"disabled": true})]
    {
        let (_, said) = login(&site, "ada", PASSWORD).await;
        let access = text(&said, "access_token");
        assert_eq!(site.get(&access, "/v1/whoami").await.0, 200);
        let (status, changed) =
            site.ask(&site.admin, Method::PUT, "/v1/users/ada", Some(change.clone())).await;
        assert_eq!(status, 200, "{changed}");
        assert_eq!(site.get(&access, "/v1/whoami").await.0, 401, "{change}");
        let back = json!({"password": PASSWORD});
        site.ask(&site.admin, Method::PUT, "/v1/users/ada", Some(back)).await;
    }
    assert_eq!(login(&site, "ada", PASSWORD).await.0, 401, "he is disabled");
}

#[tokio::test]
async fn the_own_password_is_changed_by_whoever_knows_it() {
    let site = with_ada("viewer").await;
    let (_, said) = login(&site, "ada", PASSWORD).await;
    let (_, other) = login(&site, "ada", PASSWORD).await;
    let access = text(&said, "access_token");
    let next = "something else entirely";
    let wrong = json!({"present": "not it at all", "next": next});
    assert_eq!(site.post(&access, "/v1/auth:password", wrong).await.0, 401);
    let short = json!({"present": PASSWORD, "next": "short"});
    assert_eq!(site.post(&access, "/v1/auth:password", short).await.0, 422);
    let right = json!({"present": PASSWORD, "next": next});
    assert_eq!(site.post(&access, "/v1/auth:password", right).await.0, 204);
    assert_eq!(site.get(&access, "/v1/whoami").await.0, 200, "this login goes on");
    assert_eq!(site.get(&text(&other, "access_token"), "/v1/whoami").await.0, 401, "others end");
    assert_eq!(login(&site, "ada", next).await.0, 200);
}

/// A refusal tells neither whether there is such a user, nor lets anyone guess for long.
#[tokio::test]
async fn failures_are_told_alike_and_then_have_to_wait() {
    let site = with_ada("viewer").await;
    let (wrong, absent) = (login(&site, "ada", "x").await, login(&site, "eve", "x").await);
    assert_eq!((wrong.0, absent.0), (401, 401));
    assert_eq!((&wrong.1["code"], &wrong.1["detail"]), (&absent.1["code"], &absent.1["detail"]));
    let mut waited = None;
    for _ in 0..10 {
        let (status, said) = login(&site, "ada", "x").await;
        if status == 429 {
            waited = Some(said);
            break;
        }
    }
    assert_eq!(waited.expect("a wait")["code"], "rate_limited");
    assert_eq!(login(&site, "ada", PASSWORD).await.0, 429, "the right password has to wait as well");
    assert_eq!(site.get(&site.admin, "/v1/whoami").await.0, 200, "tokens go on");
}

#[tokio::test]
async fn what_a_user_may_not_be_is_refused_by_field() {
    let site = with_ada("viewer").await;
    for (body, status, at) in [
        (json!({"name": "ada", "password": PASSWORD}), 409, Value::Null),
        (json!({"name": "a b", "password": PASSWORD}), 422, json!("/name")),
        (json!({"name": "bob"}), 422, json!("/password")),
        (json!({"name": "bob", "password": "elevenbytes"}), 422, json!("/password")),
        (json!({"name": "bob", "password": "x".repeat(1_025)}), 422, json!("/password")),
        (json!({"name": "bob", "password": PASSWORD, "role": "king"}), 422, json!("/role")),
        (json!({"name": "bob", "password": "twelve bytes"}), 201, Value::Null),
    ] {
        let said = site.post(&site.admin, "/v1/users", body.clone()).await;
        assert_eq!((said.0, &said.1["errors"][0]["pointer"]), (status, &at), "{body}: {}", said.1);
    }
    assert_eq!(site.ask(&site.admin, Method::DELETE, "/v1/users/ada", None).await.0, 204);
    assert_eq!(site.get(&site.admin, "/v1/users/ada").await.0, 404);
    assert_eq!(login(&site, "ada", PASSWORD).await.0, 401);
}

/// A page of ours logs in by cookies, which scripts do not see, and other sites cannot use.
#[tokio::test]
async fn cookies_are_for_pages_of_this_server_only() {
    let site = with_ada("operator").await;
    let own = site.server.url();
    let send = async |path: &str, headers: &[(&str, &str)], body: Value| {
        let mut request = site.request("", Method::POST, path).body(if body.is_null() {
            String::new()
        } else {
            body.to_string()
        });
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.unwrap();
        let set = answer.headers().get_all("set-cookie").iter().map(|c| c.to_str().unwrap().to_owned());
        (answer.status().as_u16(), set.collect::<Vec<_>>(), answer.text().await.unwrap())
    };
    let (status, set, said) =
        send("/v1/auth:login", &[], json!({"name": "ada", "password": PASSWORD, "cookie": true})).await;
    assert_eq!((status, set.len()), (200, 2), "{said}");
    for cookie in &set {
        assert!(cookie.contains("; HttpOnly; SameSite=Strict") && !cookie.contains("Secure"), "{cookie}");
        let value = cookie.split(['=', ';']).nth(1).unwrap();
        assert!(!said.contains(value), "it is in the cookie alone");
    }
    let pair = |n: usize| set[n].split(';').next().unwrap().to_owned();
    let (access, refresh) = (pair(0), pair(1));
    let pause = "/v1/queues/mail:pause";
    assert_eq!(send(pause, &[("cookie", &access), ("origin", &own)], json!({})).await.0, 200);
    assert_eq!(
        send(pause, &[("cookie", &access), ("sec-fetch-site", "same-origin")], json!({})).await.0,
        200
    );
    assert_eq!(send(pause, &[("cookie", &access)], json!({})).await.0, 403, "nobody says which page it was");
    for other in
        [("origin", "http://evil.example"), ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "none")]
    {
        assert_eq!(send(pause, &[("cookie", &access), other], json!({})).await.0, 403, "{other:?}");
    }
    let read = site.request("", Method::GET, "/v1/whoami").header("cookie", &access).send().await.unwrap();
    assert_eq!(read.status().as_u16(), 200, "reading needs no page");
    assert_eq!(send("/v1/auth:refresh", &[("cookie", &refresh)], Value::Null).await.0, 403);
    let (status, again, _) =
        send("/v1/auth:refresh", &[("cookie", &refresh), ("origin", &own)], Value::Null).await;
    assert_eq!((status, again.len()), (200, 2));
    let access = again[0].split(';').next().unwrap().to_owned();
    let (status, cleared, _) =
        send("/v1/auth:logout", &[("cookie", &access), ("origin", &own)], json!({})).await;
    assert_eq!(status, 204);
    assert!(cleared.iter().all(|cookie| cookie.contains("Max-Age=0")) && cleared.len() == 2, "{cleared:?}");
    assert_eq!(send(pause, &[("cookie", &access), ("origin", &own)], json!({})).await.0, 401);
}
