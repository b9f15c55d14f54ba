//! Connections that are secured, and that are refused where they cannot be trusted.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use ganger_store::testing::{Durability, Postgres};
use ganger_store::{PgOptions, PgStore, Store};

use crate::support::connect;

/// Gives a cluster a certificate for this name, and starts it again. Returns the certificate.
async fn secure(cluster: &mut Postgres, name: &str) -> PathBuf {
    let client = connect(&cluster.url()).await;
    let row = client.query_one("SHOW data_directory", &[]).await.unwrap();
    let data = PathBuf::from(row.get::<_, String>(0));
    let (key, certificate) = (data.join("server.key"), data.join("server.crt"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj"])
        .args([format!("/CN={name}"), "-addext".into(), format!("subjectAltName=DNS:{name}")])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .expect("openssl can be run");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let owner = std::fs::metadata(&data).unwrap().uid();
    for file in [&key, &certificate] {
        chown(file, Some(owner), None).unwrap();
    }
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    client.batch_execute("ALTER SYSTEM SET ssl = on").await.unwrap();
    drop(client);
    cluster.restart();
    certificate
}

fn with(url: &str, host: &str, mode: &str, root: Option<&Path>) -> PgOptions {
    let root = root.map(|root| format!("&sslrootcert={}", root.display())).unwrap_or_default();
    PgOptions::new(format!("{}?sslmode={mode}{root}", url.replace("127.0.0.1", host)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_trusted_as_far_as_its_address_says() {
    let mut cluster = Postgres::start_with(Durability::None);
    let url = cluster.migrated_database().await;
    let refused = PgStore::connect(&with(&url, "127.0.0.1", "require", None)).await.unwrap_err();
    assert!(refused.to_string().contains("TLS"), "{refused}");
    let root = secure(&mut cluster, "localhost").await;
    let good = [
        with(&url, "127.0.0.1", "disable", None),
        with(&url, "127.0.0.1", "prefer", None),
        with(&url, "127.0.0.1", "require", None),
        with(&url, "127.0.0.1", "verify-ca", Some(&root)),
        with(&url, "localhost", "verify-full", Some(&root)),
    ];
    let client = connect(&url).await;
    for (options, secured) in good.iter().zip([false, true, true, true, true]) {
        let store =
            PgStore::connect(options).await.unwrap_or_else(|error| panic!("{}: {error}", options.url));
        store.take_over("a", 0).await.unwrap();
        let used = "SELECT bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
                    WHERE a.application_name = 'ganger' AND a.datname = current_database()";
        assert_eq!(client.query_one(used, &[]).await.unwrap().get::<_, bool>(0), secured, "{}", options.url);
    }
    // A certificate for another name, and one of an authority that nobody knows.
    for options in
        [with(&url, "127.0.0.1", "verify-full", Some(&root)), with(&url, "localhost", "verify-full", None)]
    {
        let error = PgStore::connect(&options).await.unwrap_err().to_string();
        assert!(error.contains("certificate"), "{}: {error}", options.url);
    }
    let missing = with(&url, "localhost", "verify-full", Some(Path::new("/nowhere/ca.pem")));
    let error = PgStore::connect(&missing).await.unwrap_err().to_string();
    assert!(error.contains("/nowhere/ca.pem"), "{error}");
}
