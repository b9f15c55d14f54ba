//! Authorities and certificates for tests, made anew each time.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SanType, date_time_ymd};

/// An authority.
pub(crate) struct Authority {
    /// Its certificate.
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key.
pub(crate) struct Signed {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { pem, issuer: Issuer::new(params, key) }
    }

    /// For a server on this machine.
    pub(crate) fn server(&self) -> Signed {
        self.sign(CertificateParams::new(vec!["localhost".into(), "127.0.0.1".into()]).unwrap())
    }

    /// For a worker of that name, confined to these queues if there are any.
    pub(crate) fn worker(&self, name: &str, queues: &[&str]) -> Signed {
        self.sign(worker(name, queues))
    }

    /// The same, but it was valid long ago.
    pub(crate) fn expired(&self, name: &str) -> Signed {
        let mut params = worker(name, &[]);
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Signed {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Signed { certificate, key: key.serialize_pem() }
    }
}

fn worker(name: &str, queues: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.into()]).unwrap();
    for queue in queues {
        params.subject_alt_names.push(SanType::URI(format!("ganger-queue:{queue}").try_into().unwrap()));
    }
    params
}
