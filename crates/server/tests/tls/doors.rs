//! REST and gRPC inside TLS, certificates of workers, and a certificate that is renewed.

use ganger_core::Wall;
use ganger_proto::v1::jobs_client::JobsClient;
use ganger_proto::v1::{self};
use reqwest::Version;

use crate::authority::Authority;
use crate::site::{Site, client, pem};

#[tokio::test]
async fn rest_and_grpc_are_spoken_on_the_same_port() {
    let site = Site::start().await;
    let url = format!("{}/v1/whoami", site.server.url());
    assert!(url.starts_with("https://"), "{url}");
    let two = site.client(None).get(&url).bearer_auth(&site.admin).send().await.unwrap();
    assert_eq!((two.status().as_u16(), two.version()), (200, Version::HTTP_2), "ALPN");
    assert!(two.headers().contains_key("strict-transport-security"));
    let old = client(&site.authority, None).http1_only().build().unwrap();
    let one = old.get(&url).bearer_auth(&site.admin).send().await.unwrap();
    assert_eq!((one.status().as_u16(), one.version()), (200, Version::HTTP_11));
    let token = format!("Bearer {}", site.admin);
    let mut jobs =
        JobsClient::with_interceptor(site.channel().await, move |mut request: tonic::Request<()>| {
            request.metadata_mut().insert("authorization", token.parse().unwrap());
            Ok(request)
        });
    let job = v1::NewJob { kind: "echo".into(), queue: "default".into(), ..Default::default() };
    let request = v1::EnqueueRequest { job: Some(job), ..Default::default() };
    let id = jobs.enqueue(request).await.unwrap().into_inner().id;
    assert_eq!(site.status(&site.client(None), &format!("/v1/jobs/{id}"), &site.admin).await, 200);
    site.server.stop().await;
}

#[tokio::test]
async fn a_certificate_makes_a_worker_and_nothing_more() {
    let site = Site::start().await;
    let gpu = site.client(Some(&site.authority.worker("gpu-1.lan", &["gpu*"])));
    let (status, who) = site.ask(&gpu, "/v1/whoami", "").await;
    assert_eq!((status, who["who"].as_str()), (200, Some("certificate:gpu-1.lan")), "{who}");
    assert_eq!(who["queues"][0], "gpu*");
    let job = |queue: &str| serde_json::json!({"kind": "echo", "queue": queue}).to_string();
    for (queue, expected) in [("gpu", 201), ("mail", 403)] {
        let post = gpu.post(format!("{}/v1/jobs", site.server.url())).body(job(queue));
        let status = post.send().await.unwrap().status().as_u16();
        assert_eq!(
            status, expected,
            "a worker enqueues into the queues it serves, and into no others: {queue}"
        );
    }
    let (status, who) = site.ask(&gpu, "/v1/whoami", &site.admin).await;
    assert!(
        status == 200 && who["who"].as_str().unwrap().starts_with("token:"),
        "a token counts first: {who}"
    );
    assert_eq!(site.status(&gpu, "/v1/whoami", "gng_a_bad").await, 401);
    assert_eq!(site.status(&site.client(None), "/v1/whoami", "").await, 401, "nobody needs to show one");
    site.server.stop().await;
}

#[tokio::test]
async fn a_new_certificate_counts_from_the_next_handshake_on() {
    let site = Site::start().await;
    let before = site.client(None);
    assert_eq!(site.status(&before, "/livez", "").await, 200);
    let other = Authority::new();
    let tls = site.server.handle().tls().unwrap();
    let mut torn = pem(&other, &other.server());
    torn.key = other.server().key.into_bytes();
    assert!(tls.replace(&torn, Wall(0)).unwrap_err().to_string().contains("not that of the certificate"));
    assert_eq!(site.status(&site.client(None), "/livez", "").await, 200, "it goes on with what it has");
    tls.replace(&pem(&other, &other.server()), Wall(1_800_000_000_000_000)).unwrap();
    assert_eq!(site.status(&before, "/livez", "").await, 200, "what is connected stays");
    let late = site.client(None).get(format!("{}/livez", site.server.url())).send().await;
    assert!(late.is_err(), "the old authority does not vouch for it");
    let renewed = client(&other, None).build().unwrap();
    assert_eq!(site.status(&renewed, "/livez", "").await, 200);
    site.server.stop().await;
}
