//! The certificate of a server: its flags, and taking up a new one while the server runs.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use ganger_server::Tls;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};

use crate::clock;
use crate::config::{Key, Layer, TlsSettings};
use crate::failure::Fallible;

/// How often it is looked whether the files have changed.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// What a server shows to its clients.
#[derive(Args, Clone, Debug)]
pub(super) struct TlsFlags {
    /// Speak TLS with this certificate, and those between it and its authority (PEM) [env: GANGER_TLS_CERT]
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate (PEM) [env: GANGER_TLS_KEY]
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Workers may show a certificate of this authority instead of a token (PEM) [env: GANGER_TLS_CLIENT_CA]
    #[arg(long, value_name = "FILE")]
    tls_client_ca: Option<PathBuf>,
}

impl TlsFlags {
    pub(super) fn settings(&self, layer: &mut Layer) {
        layer.set(Key::TlsCert, self.tls_cert.as_ref().map(|path| path.display()));
        layer.set(Key::TlsPrivate, self.tls_key.as_ref().map(|path| path.display()));
        layer.set(Key::TlsClientCa, self.tls_client_ca.as_ref().map(|path| path.display()));
    }
}

/// Takes up what is in the files whenever they change, and on SIGHUP. What cannot be used changes nothing.
pub(super) async fn keep_fresh(settings: TlsSettings, tls: Option<Tls>) {
    let Some(tls) = tls else { return std::future::pending().await };
    let Ok(mut hangup) = signal(SignalKind::hangup()) else {
        error!("cannot listen for SIGHUP: a new certificate is taken up at the next start");
        return std::future::pending().await;
    };
    let mut seen = stamps(&settings);
    loop {
        let told = tokio::select! {
            _ = hangup.recv() => true,
            () = tokio::time::sleep(LOOK_EVERY) => false,
        };
        let now = stamps(&settings);
        if !told && now == seen {
            continue;
        }
        // A pair that does not fit yet is looked at again when its other half comes.
        seen = now;
        match renew(&settings, &tls) {
            Ok(()) => info!("took up the certificate again: what is connected stays"),
            Err(why) => error!("goes on with the certificate that it has: {why}"),
        }
    }
}

fn renew(settings: &TlsSettings, tls: &Tls) -> Result<(), String> {
    let read: Fallible<_> = settings.read();
    let read = read.map_err(|failure| format!("{}: {}", failure.what, failure.why))?;
    let pem = read.ok_or("no certificate is named any more")?;
    tls.replace(&pem, clock::now()).map_err(|error| error.to_string())
}

/// By which a change is noticed.
fn stamps(settings: &TlsSettings) -> Vec<Option<(SystemTime, u64)>> {
    let stamp = |path: PathBuf| {
        let data = std::fs::metadata(path).ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    settings.files().into_iter().map(stamp).collect()
}
