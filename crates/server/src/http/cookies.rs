//! Cookies for pages of ours: what a login sets and a logout clears.
//!
//! They are out of reach of scripts and of other sites, and over TLS they never travel without it. A change that is asked for by cookie
//! must come from a page of this server, which [`auth::porter`](crate::auth) checks: a browser sends cookies along whoever made it ask.
//!
//! They name no path. So the browser keeps them for the directory of the login as *it* sees it, which is `/v1` or, behind a proxy that
//! shows the server under a prefix, `/prefix/v1`: they go nowhere else, and two servers of one host do not take each other's.

use axum::http::{HeaderValue, header};
use axum::response::Response;
use ganger_core::limits;

use crate::auth::{COOKIE, REFRESH_COOKIE};
use crate::service::LoggedIn;

/// Sets both tokens of a login.
pub(super) fn set(response: &mut Response, login: &LoggedIn, secured: bool) {
    let access = cookie(COOKIE, &login.access, limits::ACCESS_LASTS.as_secs(), secured);
    let refresh = cookie(REFRESH_COOKIE, &login.refresh, limits::LOGIN_IDLE.as_secs(), secured);
    add(response, access);
    add(response, refresh);
}

/// Makes the browser forget them.
pub(super) fn clear(response: &mut Response, secured: bool) {
    add(response, cookie(COOKIE, "", 0, secured));
    add(response, cookie(REFRESH_COOKIE, "", 0, secured));
}

fn cookie(name: &str, value: &str, seconds: u64, secured: bool) -> String {
    let secure = if secured { "; Secure" } else { "" };
    format!("{name}={value}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

fn add(response: &mut Response, cookie: String) {
    if let Ok(mut value) = HeaderValue::from_str(&cookie) {
        value.set_sensitive(true);
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_other_sites_do_not_get_them() {
        let plain = cookie("a", "b", 9, false);
        assert_eq!(plain, "a=b; Max-Age=9; HttpOnly; SameSite=Strict");
        assert!(cookie("a", "b", 9, true).ends_with("; Secure"));
    }
}
