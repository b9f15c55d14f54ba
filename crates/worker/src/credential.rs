//! What a connection shows to be let in.

use std::fmt;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

/// A token, if there is one. It goes with every call, and is never printed.
#[derive(Clone, Default)]
pub struct Credential(Option<MetadataValue<Ascii>>);

impl Credential {
    /// That token; `None` if it has characters that no token has.
    #[must_use]
    pub fn token(text: &str) -> Option<Credential> {
        let mut value: MetadataValue<Ascii> = format!("Bearer {}", text.trim()).parse().ok()?;
        value.set_sensitive(true);
        Some(Credential(Some(value)))
    }
}

impl Interceptor for Credential {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Credential(…)" } else { "Credential(none)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_with_the_call_and_is_not_printed() {
        let mut credential = Credential::token(" gng_a_hush\n").unwrap();
        let request = credential.call(Request::new(())).unwrap();
        assert_eq!(request.metadata().get("authorization").unwrap(), "Bearer gng_a_hush");
        assert!(!format!("{credential:?} {request:?}").contains("hush"));
        assert!(Credential::token("a\nb").is_none());
        assert!(Credential::default().call(Request::new(())).unwrap().metadata().is_empty());
    }
}
