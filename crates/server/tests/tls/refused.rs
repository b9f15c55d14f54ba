//! Who is not let in, and what he is told.

use std::error::Error;

use ganger_server::{Server, ServerError, testing};
use ganger_store::MemoryStore;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::authority::Authority;
use crate::site::{PATIENCE, Site, client, pem};

fn told(error: &reqwest::Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[tokio::test]
async fn whoever_trusts_another_authority_does_not_connect() {
    let site = Site::start().await;
    let stranger = client(&Authority::new(), None).build().unwrap();
    let error = stranger.get(format!("{}/livez", site.server.url())).send().await.unwrap_err();
    assert!(told(&error).to_lowercase().contains("certificate"), "{}", told(&error));
    site.server.stop().await;
}

#[tokio::test]
async fn certificates_of_strangers_and_expired_ones_end_the_handshake() {
    let site = Site::start().await;
    let forged = Authority::new().worker("gpu-1.lan", &[]);
    for shown in [forged, site.authority.expired("gpu-1.lan")] {
        let request = site.client(Some(&shown)).get(format!("{}/livez", site.server.url()));
        assert!(request.timeout(PATIENCE).send().await.is_err());
    }
    // One that names nobody is fine for the handshake, and makes nobody a worker.
    let nobody = site.client(Some(&site.authority.worker("*.lan", &[])));
    assert_eq!(site.status(&nobody, "/v1/whoami", "").await, 401);
    site.server.stop().await;
}

#[tokio::test]
async fn whoever_speaks_plain_http_is_told_to_use_tls() {
    let site = Site::start().await;
    let mut plain = TcpStream::connect(site.server.address()).await.unwrap();
    plain
        .write_all(b"POST /v1/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}")
        .await
        .unwrap();
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, plain.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("https://"), "{answer}");
    // A gRPC client without TLS is closed.
    let mut grpc = TcpStream::connect(site.server.address()).await.unwrap();
    grpc.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    let mut rest = Vec::new();
    // Closing with something unread may be a reset; either is an end.
    let _ = tokio::time::timeout(PATIENCE, grpc.read_to_end(&mut rest)).await.unwrap();
    assert!(rest.is_empty());
    site.server.stop().await;
}

/// They begin and say no more; others are served meanwhile.
#[tokio::test]
async fn slow_handshakes_hold_up_nobody() {
    let site = Site::start().await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(site.server.address()).await.unwrap();
        stream.write_all(&[0x16, 0x03]).await.unwrap();
        slow.push(stream);
    }
    assert_eq!(site.status(&site.client(None), "/livez", "").await, 200);
    let mut end = [0; 8];
    let first = tokio::time::timeout(PATIENCE, slow[0].read(&mut end)).await.expect("it is closed in time");
    assert!(matches!(first, Ok(0) | Err(_)), "{first:?}");
    site.server.stop().await;
}

#[tokio::test]
async fn a_server_with_nothing_to_show_does_not_start() {
    type Change = fn(&mut ganger_server::TlsPem);
    let authority = Authority::new();
    let good = pem(&authority, &authority.server());
    let with = |change: Change| {
        let mut pem = good.clone();
        change(&mut pem);
        let mut options = testing::options(Arc::new(MemoryStore::default()));
        options.tls = Some(pem);
        options
    };
    let bad: [(Change, &str); 4] = [
        (|pem| pem.certificate = b"rubbish".to_vec(), "no certificate"),
        (|pem| pem.key = b"".to_vec(), "no private key"),
        (|pem| pem.key = Authority::new().server().key.into_bytes(), "not that of the certificate"),
        (|pem| pem.client_ca = Some(b"".to_vec()), "client authority"),
    ];
    for (change, expected) in bad {
        let error = Server::start(with(change)).await.unwrap_err();
        assert!(matches!(error, ServerError::Tls(_)) && error.to_string().contains(expected), "{error}");
    }
}
