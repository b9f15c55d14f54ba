//! Files of certificates and keys, and reading them.

use std::path::{Path, PathBuf};

use ganger_server::TlsPem;
use ganger_worker::Credential;

use super::{Key, Layers, Origin, Setting};
use crate::failure::{Failure, Fallible};

/// Largest file that is read as certificates or as a key.
const LARGEST: u64 = 4 << 20;

/// A file, if one was named.
pub(crate) type File = Setting<Option<PathBuf>>;

/// What a server shows.
#[derive(Clone, Debug)]
pub(crate) struct TlsSettings {
    /// Its certificate.
    pub(super) cert: File,
    /// The key of it.
    pub(super) key: File,
    /// Authorities that sign certificates of workers.
    pub(super) client_ca: File,
}

/// Whom a client believes, and what it shows.
#[derive(Clone, Debug)]
pub(crate) struct ClientTls {
    /// Authorities that vouch for servers, if not those of the system.
    pub(super) ca: File,
    /// The client's own certificate.
    pub(super) cert: File,
    /// The key of it.
    pub(super) key: File,
}

impl TlsSettings {
    pub(super) fn of(layers: &Layers) -> TlsSettings {
        let [cert, key, client_ca] =
            [Key::TlsCert, Key::TlsPrivate, Key::TlsClientCa].map(|key| file(layers, key));
        TlsSettings { cert, key, client_ca }
    }

    /// Whether there is TLS.
    pub(crate) fn is_on(&self) -> bool {
        self.cert.value.is_some()
    }

    /// The file of the key, if one was named.
    pub(crate) fn key_file(&self) -> Option<&Path> {
        self.key.value.as_deref()
    }

    /// The files.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        [&self.cert, &self.key, &self.client_ca].into_iter().filter_map(|file| file.value.clone()).collect()
    }

    /// What is in them now; nothing if none was named.
    pub(crate) fn read(&self) -> Fallible<Option<TlsPem>> {
        let Some((certificate, key)) = pair(&self.cert, &self.key, ("--tls-cert", "--tls-key"))? else {
            let Some(path) = &self.client_ca.value else { return Ok(None) };
            return Err(Failure::usage(
                format!("cannot ask workers for certificates of {}", path.display()),
                "the server has no certificate of its own, so that it does not speak TLS",
                "add --tls-cert FILE and --tls-key FILE",
            ));
        };
        Ok(Some(TlsPem { certificate, key, client_ca: read(&self.client_ca)? }))
    }
}

impl ClientTls {
    pub(super) fn of(layers: &Layers) -> ClientTls {
        let [ca, cert, key] = [Key::Ca, Key::ClientCert, Key::ClientPrivate].map(|key| file(layers, key));
        ClientTls { ca, cert, key }
    }

    /// The same authorities, and nothing to show.
    pub(crate) fn without_certificate(&self) -> ClientTls {
        let none = || Setting { value: None, origin: Origin::Default };
        ClientTls { ca: self.ca.clone(), cert: none(), key: none() }
    }

    /// The file of the client's key, if one was named.
    pub(crate) fn key_file(&self) -> Option<&Path> {
        self.key.value.as_deref()
    }

    /// Whether a certificate of the client's own was named.
    pub(crate) fn has_certificate(&self) -> bool {
        self.cert.value.is_some()
    }

    /// The authorities that vouch for servers, if some were named.
    pub(crate) fn ca(&self) -> Fallible<Option<Vec<u8>>> {
        read(&self.ca)
    }

    /// A certificate and its key, if they were named.
    pub(crate) fn identity(&self) -> Fallible<Option<(Vec<u8>, Vec<u8>)>> {
        pair(&self.cert, &self.key, ("--client-cert", "--client-key"))
    }

    /// The same for a worker, beside its token.
    pub(crate) fn join(&self, mut credential: Credential) -> Fallible<Credential> {
        if let Some(ca) = self.ca()? {
            credential = credential.ca(ca);
        }
        if let Some((certificate, key)) = self.identity()? {
            credential = credential.certificate(certificate, key);
        }
        Ok(credential)
    }

    /// The flags that name the same files.
    pub(crate) fn flags(&self) -> Vec<(&'static str, String)> {
        let files = [(&self.ca, "--ca"), (&self.cert, "--client-cert"), (&self.key, "--client-key")];
        let named = files.into_iter().filter_map(|(file, flag)| Some((flag, file.value.as_ref()?)));
        named.map(|(flag, path)| (flag, path.display().to_string())).collect()
    }
}

fn file(layers: &Layers, key: Key) -> File {
    layers.optional(key).map(|path| path.map(PathBuf::from))
}

/// As `ganger config show` has it.
pub(super) fn entry(key: Key, file: &File) -> (Key, String, &Origin) {
    (key, file.value.as_ref().map(|path| path.display().to_string()).unwrap_or_default(), &file.origin)
}

fn pair(
    cert: &File,
    key: &File,
    (cert_flag, key_flag): (&str, &str),
) -> Fallible<Option<(Vec<u8>, Vec<u8>)>> {
    match (read(cert)?, read(key)?) {
        (Some(cert), Some(key)) => Ok(Some((cert, key))),
        (None, None) => Ok(None),
        (Some(_), None) | (None, Some(_)) => Err(Failure::usage(
            "cannot use half a certificate",
            format!("{cert_flag} and {key_flag} belong together, and one is missing"),
            format!("give both: {cert_flag} FILE {key_flag} FILE"),
        )),
    }
}

fn read(file: &File) -> Fallible<Option<Vec<u8>>> {
    let Some(path) = &file.value else { return Ok(None) };
    let size = std::fs::metadata(path).map(|data| data.len());
    let text = size.and_then(|size| match size <= LARGEST {
        true => std::fs::read(path),
        false => Err(std::io::Error::other(format!("it has {size} bytes, the limit is {LARGEST}"))),
    });
    match text {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let what = format!("cannot read {}", path.display());
            Err(Failure::file(what, &error, format!("correct the path; it came from {}", file.origin)))
        }
    }
}
