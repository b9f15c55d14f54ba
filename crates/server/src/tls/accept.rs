//! Handshakes: bounded in number and time, and a word for those who do not speak TLS.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ganger_core::access::Certificate;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::{Tls, pem};

/// Handshakes at the same time.
const HANDSHAKES: usize = 2_048;
/// Of one address.
const HANDSHAKES_OF_ADDRESS: usize = 512;
/// A handshake takes no longer.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(5);
/// With this byte TLS begins.
const TLS_BEGINS: u8 = 0x16;
/// What is read of a client that was told off, so that it can read why.
const LAST_BYTES: usize = 64 << 10;
const LAST_WITHIN: Duration = Duration::from_secs(1);
/// What a client without TLS is told.
const PLAIN: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n\
    content-length: 73\r\nconnection: close\r\n\r\n\
    This port speaks TLS. Use https:// instead of http:// in the server's URL";

/// The handshakes that are under way.
#[derive(Debug)]
pub(crate) struct Handshakes {
    tls: Tls,
    places: Arc<Places>,
}

/// Why a connection is not secured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotSecured {
    #[error("too many handshakes are under way")]
    TooMany,
    #[error("its client does not speak TLS")]
    Plain,
    #[error("the handshake took longer than {} s", HANDSHAKE_WITHIN.as_secs())]
    TooSlow,
    #[error("the handshake failed: {0}")]
    Failed(#[from] std::io::Error),
}

impl Handshakes {
    /// With that certificate.
    pub(crate) fn new(tls: Tls) -> Handshakes {
        Handshakes { tls, places: Arc::default() }
    }

    /// Secures a connection whose client has begun to speak.
    pub(crate) async fn secure(
        &self,
        stream: TcpStream,
    ) -> Result<(TlsStream<TcpStream>, Option<Arc<Certificate>>), NotSecured> {
        let from = stream.peer_addr()?.ip().to_canonical();
        let _place = self.places.take(from).ok_or(NotSecured::TooMany)?;
        let shaken = tokio::time::timeout(HANDSHAKE_WITHIN, self.shake(stream)).await;
        let stream = shaken.map_err(|_| NotSecured::TooSlow)??;
        let chain = stream.get_ref().1.peer_certificates();
        let certificate = chain.and_then(<[_]>::first).and_then(pem::shown).map(Arc::new);
        Ok((stream, certificate))
    }

    async fn shake(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>, NotSecured> {
        let mut first = [0; 3];
        let seen = stream.peek(&mut first).await?;
        if seen > 0 && first[0] != TLS_BEGINS {
            // HTTP/2 without TLS begins with `PRI`, and cannot read what we would say.
            if &first != b"PRI" {
                tell_off(stream).await?;
            }
            return Err(NotSecured::Plain);
        }
        Ok(TlsAcceptor::from(self.tls.config()).accept(stream).await?)
    }
}

/// Says why, and waits for the client to have read it: closing at once would throw it away.
async fn tell_off(mut stream: TcpStream) -> std::io::Result<()> {
    stream.write_all(PLAIN.as_bytes()).await?;
    stream.shutdown().await?;
    let mut rest = stream.take(LAST_BYTES as u64);
    let _ = tokio::time::timeout(LAST_WITHIN, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
    Ok(())
}

/// Who is shaking hands.
#[derive(Debug, Default)]
struct Places(Mutex<HashMap<IpAddr, usize>>);

/// A place, until it is dropped.
struct Place {
    places: Arc<Places>,
    from: IpAddr,
}

impl Places {
    fn take(self: &Arc<Places>, from: IpAddr) -> Option<Place> {
        let mut taken = self.locked();
        let all: usize = taken.values().sum();
        let his = taken.get(&from).copied().unwrap_or(0);
        if all >= HANDSHAKES || his >= HANDSHAKES_OF_ADDRESS {
            return None;
        }
        taken.insert(from, his + 1);
        Some(Place { places: self.clone(), from })
    }

    /// A panic while the lock is held leaves whole numbers.
    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.locked();
        match taken.get_mut(&self.from) {
            Some(his) if *his > 1 => *his -= 1,
            Some(_) | None => drop(taken.remove(&self.from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_cannot_take_every_place() {
        let places = Arc::new(Places::default());
        let address = |n: u8| IpAddr::from([10, 0, 0, n]);
        let mut held: Vec<Place> =
            (0..HANDSHAKES_OF_ADDRESS).map(|_| places.take(address(1)).unwrap()).collect();
        assert!(places.take(address(1)).is_none());
        for n in 2..=4 {
            held.extend((0..HANDSHAKES_OF_ADDRESS).map(|_| places.take(address(n)).unwrap()));
        }
        assert_eq!(held.len(), HANDSHAKES);
        assert!(places.take(address(9)).is_none(), "all are taken");
        held.clear();
        assert!(places.locked().is_empty(), "nothing is kept of who was here");
        assert!(places.take(address(1)).is_some());
    }

    #[test]
    fn the_word_for_those_without_tls_has_its_length() {
        let (head, body) = PLAIN.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
    }
}
