//! Addresses on the server.

/// A path with a query; pairs without a value are left out.
pub(crate) fn with_query<'a>(
    path: &str,
    pairs: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> String {
    let mut query = String::new();
    for (name, value) in pairs {
        if let Some(value) = value {
            query.push(if query.is_empty() { '?' } else { '&' });
            query.push_str(name);
            query.push('=');
            encode(&value, &mut query);
        }
    }
    format!("{path}{query}")
}

/// Everything but the unreserved characters of RFC 3986 is escaped.
fn encode(value: &str, into: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(byte.into());
        } else {
            into.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_and_missing_ones_left_out() {
        let path = with_query(
            "/v1/jobs",
            [("queue", Some("a b&c=é".into())), ("kind", None), ("limit", Some("5".into()))],
        );
        assert_eq!(path, "/v1/jobs?queue=a%20b%26c%3D%C3%A9&limit=5");
        assert_eq!(with_query("/v1/jobs", [("queue", None)]), "/v1/jobs");
    }
}
