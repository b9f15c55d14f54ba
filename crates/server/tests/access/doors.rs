//! The compatible doors of a server that asks: they ask as well, unless they are said to be open, and one always does.

use std::sync::Arc;

use ganger_proto::dts::GetStatusRequest;
use ganger_proto::dts::client_service_client::ClientServiceClient;
use ganger_server::auth::AuthOptions;
use ganger_server::testing::{self, TestServer};
use ganger_store::MemoryStore;
use reqwest::{Client, Method};
use tonic::Code;

/// A server that asks, with these doors open.
async fn server(open: &str) -> TestServer {
    let mut options = testing::options(Arc::new(MemoryStore::default()));
    options.auth = AuthOptions::Required { jwt_secret: None, first_token: Arc::new(|_| Ok(())) };
    options.compat.open = open.parse().unwrap();
    testing::start_with(options).await
}

async fn status(server: &TestServer, method: Method, path: &str, body: &'static str) -> u16 {
    let request = Client::new().request(method, format!("{}{path}", server.url())).body(body);
    request.send().await.unwrap().status().as_u16()
}

async fn call(server: &TestServer) -> Code {
    let mut client = ClientServiceClient::connect(server.url()).await.unwrap();
    let unknown = GetStatusRequest { task_id: "00000000-0000-0000-0000-000000000000".into() };
    client.get_status(unknown).await.unwrap_err().code()
}

const JOB: &str = r#"{"name":"default","type":"AddNumbers","payload":{"x":1,"y":2}}"#;

#[tokio::test]
async fn a_door_asks_for_a_token_unless_it_is_open_and_profile_c_always_does() {
    for (open, a, b, d) in [
        ("none", 401, (401, 401), Code::Unauthenticated),
        ("a,b,d", 201, (202, 200), Code::NotFound),
        ("a", 201, (401, 401), Code::Unauthenticated),
        ("all", 201, (202, 200), Code::NotFound),
    ] {
        let server = server(open).await;
        assert_eq!(status(&server, Method::POST, "/submit_job", JOB).await, a, "{open}");
        let of_b = (
            status(&server, Method::POST, "/jobs", JOB).await,
            status(&server, Method::GET, "/jobs", "").await,
        );
        assert_eq!(of_b, b, "{open}");
        assert_eq!(call(&server).await, d, "{open}");
        for (method, path) in
            [(Method::POST, "/addJob"), (Method::GET, "/failedJobs"), (Method::GET, "/health")]
        {
            assert_eq!(status(&server, method, path, "{}").await, 401, "{open} {path}");
        }
        assert_eq!(status(&server, Method::GET, "/v1/jobs", "").await, 401, "{open}: the API stays shut");
        // Nobody becomes somebody by way of an open door.
        let exec = r#"{"name":"exec","payload":{"argv":["id"]}}"#;
        assert_ne!(status(&server, Method::POST, "/submit_job", exec).await, 201, "{open}");
    }
}
