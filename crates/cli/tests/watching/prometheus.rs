//! A private Prometheus with the configuration that ships, on a free port, ended when dropped.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{eventually, free_port};

/// Where the files are that ship.
pub(crate) fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").canonicalize().expect("deploy/ is there")
}

/// A running Prometheus.
pub(crate) struct Prometheus {
    child: Child,
    url: String,
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
    _directory: TempDir,
}

impl Prometheus {
    /// Scrapes this server every second, and evaluates the rules as often.
    pub(crate) fn watching(server: &str) -> Prometheus {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let config = directory.path().join("prometheus.yml");
        std::fs::write(&config, adapted(server.trim_start_matches("http://"))).expect("it can be written");
        let listen = format!("127.0.0.1:{}", free_port());
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", directory.path().join("data").display()))
            .arg(format!("--web.listen-address={listen}"))
            .arg("--log.level=error")
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("Prometheus is installed (scripts/setup)");
        let prometheus = Prometheus {
            child,
            url: format!("http://{listen}"),
            client: reqwest::Client::new(),
            runtime: tokio::runtime::Runtime::new().expect("a runtime"),
            _directory: directory,
        };
        eventually("Prometheus is ready", || prometheus.get("/-/ready", &[]).map(drop));
        prometheus
    }

    /// The result of a query at this moment.
    pub(crate) fn query(&self, query: &str) -> Result<Vec<Value>, String> {
        let text = self.get("/api/v1/query", &[("query", query)]).ok_or("Prometheus does not answer")?;
        let answer: Value = serde_json::from_str(&text).map_err(|error| format!("{error} in {text}"))?;
        match answer["status"].as_str() {
            Some("success") => Ok(answer["data"]["result"].as_array().cloned().unwrap_or_default()),
            _ => Err(answer["error"].as_str().unwrap_or(&text).to_owned()),
        }
    }

    /// Every alert as it has been loaded.
    pub(crate) fn alerts(&self) -> Vec<Value> {
        let text = self.get("/api/v1/rules", &[("type", "alert")]).expect("Prometheus answers");
        let answer: Value = serde_json::from_str(&text).expect("rules are JSON");
        let groups = answer["data"]["groups"].as_array().expect("groups of rules");
        groups.iter().flat_map(|group| group["rules"].as_array().expect("rules").clone()).collect()
    }

    fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Option<String> {
        let pairs = parameters.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
        let url = format!("{}{path}?{}", self.url, pairs.collect::<Vec<_>>().join("&"));
        self.runtime.block_on(async {
            let answer = self.client.get(url).send().await.ok()?;
            // A query that is wrong is answered with 400 or 422, and says why.
            (!answer.status().is_server_error()).then_some(())?;
            answer.text().await.ok()
        })
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The configuration that ships, with another target and shorter intervals. The rules are the very files.
fn adapted(target: &str) -> String {
    let directory = deploy().join("prometheus");
    let mut text = std::fs::read_to_string(directory.join("prometheus.yml")).expect("it ships");
    let rules = format!("- {}/rules/*.yml", directory.display());
    for (ours, here) in [
        ("[server-1:8080, server-2:8080]", format!("['{target}']").as_str()),
        ("scrape_interval: 15s", "scrape_interval: 1s"),
        ("evaluation_interval: 15s", "evaluation_interval: 1s"),
        ("- rules/*.yml", &rules),
    ] {
        assert!(text.contains(ours), "prometheus.yml has `{ours}`");
        text = text.replace(ours, here);
    }
    text
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
