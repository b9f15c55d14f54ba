//! Attacks on the real binary: what somebody without a token, or with too small a one, tries.

mod common;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Instance, PATIENCE, Process, binary, code, command, eventually, free_port, stderr};
use serde_json::Value;

/// One request on a connection of its own; its status and body.
fn ask(url: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Option<(u16, Value)> {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
    let json = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
    write!(stream, "{head}{json}content-length: {}\r\n\r\n{body}", body.len()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let status = answer.split(' ').nth(1)?.parse().ok()?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Some((status, serde_json::from_str(body).unwrap_or(Value::Null)))
}

/// A server that authenticates, started by a shell that sets limits first.
fn limited(limits: &str, data: &Path, args: &[&str]) -> (Process, String) {
    let url = format!("http://127.0.0.1:{}", free_port());
    let script = format!("{limits} && exec \"$0\" \"$@\"");
    let listen = url.strip_prefix("http://").unwrap();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .arg(binary())
        .args(["server", "--listen", listen, "--auth", "on", "--data"])
        .arg(data);
    shell.args(args).env_clear().env("HOME", data.parent().unwrap()).env("PATH", "/usr/bin:/bin");
    let child = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let server = Process(child);
    eventually("the server answers", || {
        ask(&url, "GET", "/livez", &[], "").filter(|(status, _)| *status == 200)
    });
    (server, url)
}

fn admin(data: &Path) -> String {
    let token = eventually("the first token", || std::fs::read_to_string(data.join("admin-token")).ok());
    format!("Bearer {}", token.trim())
}

/// Whether the other side has closed a connection on which nothing was ever asked.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    match stream.read(&mut [0; 16]) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

/// More connections than the server has file descriptors, none of which ever says a word.
#[test]
fn silent_connections_keep_nobody_out_and_are_closed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (_server, url) = limited("ulimit -n 256", &data, &[]);
    let admin = admin(&data);
    let address = url.strip_prefix("http://").unwrap();
    // Half of them begin a request and never end it: to the server that is the same.
    let mut silent: Vec<TcpStream> = Vec::new();
    for n in 0..400 {
        let Ok(mut stream) = TcpStream::connect(address) else { continue };
        if n % 2 == 0 {
            let _ = stream.write_all(b"PRI");
        }
        silent.push(stream);
    }
    let health = ask(&url, "GET", "/livez", &[], "").expect("a health check is answered");
    assert_eq!(health.0, 200);
    let list =
        ask(&url, "GET", "/v1/jobs", &[("authorization", &admin)], "").expect("a known caller is answered");
    assert_eq!(list.0, 200, "{list:?}");
    eventually("every silent connection is closed", || {
        silent.retain_mut(|stream| !is_closed(stream));
        silent.is_empty().then_some(())
    });
}

#[test]
fn a_server_takes_as_many_descriptors_as_it_may() {
    let dir = tempfile::tempdir().unwrap();
    let (server, _) = limited("ulimit -Sn 300 && ulimit -Hn 900", &dir.path().join("data"), &[]);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.0.id())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("900"), "{files}");
}

/// Whoever may replay is not whoever may have commands run: the second needs the exec token, each time.
#[test]
fn a_command_is_not_run_again_without_the_exec_token() {
    let dev = Instance::dev();
    let mark = dev.data.parent().unwrap().join("mark");
    let payload = serde_json::json!({ "argv": ["sh", "-c", format!("echo ran >> {}", mark.display())] });
    let id = dev.enqueue(&["exec", "-p", &payload.to_string()]);
    let state = |id: &str| dev.json(&["job", "get", id])["state"].as_str().map(str::to_owned);
    eventually("the command ran", || (state(&id).as_deref() == Some("succeeded")).then_some(()));
    let ran = || std::fs::read_to_string(&mark).unwrap_or_default().lines().count();
    assert_eq!(ran(), 1);
    let ask = |path: &str, body: &str| ask(&dev.url, "POST", path, &[], body).expect("it answers");

    let (status, body) = ask(&format!("/v1/jobs/{id}:replay"), "");
    assert_eq!((status, body["code"].as_str()), (403, Some("exec_not_allowed")), "{body}");

    let (status, operation) = ask("/v1/operations", r#"{"action":"replay","filter":"kind:exec"}"#);
    assert_eq!(status, 202, "{operation}");
    let operation = operation["id"].as_str().unwrap().to_owned();
    let over = eventually("the operation is over", || {
        let now = dev.json(&["operation", "get", &operation]);
        (now["state"] == "done").then_some(now)
    });
    assert_eq!((&over["done"], &over["skipped_by"]["exec_not_allowed"]), (&0.into(), &1.into()), "{over}");

    let made = dev.ganger(&[
        "schedule",
        "create",
        "nightly",
        "--kind",
        "exec",
        "-p",
        &payload.to_string(),
        "--cron",
        "0 3 1 1 *",
    ]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    for verb in ["run", "resume"] {
        let (status, body) = ask(&format!("/v1/schedules/nightly:{verb}"), "");
        assert_eq!((status, body["code"].as_str()), (403, Some("exec_not_allowed")), "{verb}: {body}");
    }
    let range = r#"{"from":"2024-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}"#;
    let (status, body) = ask("/v1/schedules/nightly:backfill", range);
    assert_eq!((status, body["code"].as_str()), (403, Some("exec_not_allowed")), "{body}");
    assert_eq!(ran(), 1, "nothing ran again");

    // Whoever can read the token file may.
    let replayed = dev.ganger(&["job", "replay", &id]);
    assert_eq!(code(&replayed), 0, "{}", stderr(&replayed));
    eventually("it ran again", || (ran() == 2).then_some(()));
    let fired = dev.ganger(&["schedule", "run", "nightly"]);
    assert_eq!(code(&fired), 0, "{}", stderr(&fired));
    eventually("the schedule ran", || (ran() == 3).then_some(()));
}

/// Anyone who reads the original's repository could sign as an administrator.
#[test]
fn a_published_secret_is_not_trusted() {
    let dir = tempfile::tempdir().unwrap();
    for secret in ["dev-secret-change-me-in-production", "a1b2c3-example-key-of-the-documentation"] {
        let mut server =
            command(dir.path(), &["server", "--compat-env", "--listen", "127.0.0.1:0", "--data", "d"]);
        let output = server.env("JWT_SECRET", secret).output().unwrap();
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains("openssl rand"), "{}", stderr(&output));
    }
}

/// Everybody behind the proxy has its address: bad tokens of some must not keep others from logging in.
#[test]
fn bad_tokens_do_not_stop_logins() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (_server, url) = limited("true", &data, &["--trusted-proxy", "127.0.0.1"]);
    let admin = admin(&data);
    let user = r#"{"name":"ada","password":"correct horse battery","role":"viewer"}"#;
    eventually("the first token holds", || {
        let made = ask(&url, "POST", "/v1/users", &[("authorization", &admin)], user)?;
        matches!(made.0, 200 | 201 | 409).then_some(())
    });
    let login = |from: &str, password: &str| {
        let body = format!(r#"{{"name":"ada","password":"{password}"}}"#);
        ask(&url, "POST", "/v1/auth:login", &[("x-forwarded-for", from)], &body).unwrap().0
    };
    for _ in 0..20 {
        ask(&url, "GET", "/v1/jobs", &[("authorization", "Bearer gng_no_body")], "");
        ask(
            &url,
            "GET",
            "/v1/jobs",
            &[("authorization", "Bearer gng_no_body"), ("x-forwarded-for", "10.1.1.1")],
            "",
        );
    }
    assert_eq!(login("10.1.1.1", "correct horse battery"), 200, "tokens and logins are counted apart");
    for _ in 0..12 {
        login("10.6.6.6", "wrong wrong wrong");
    }
    assert_eq!(login("10.6.6.6", "correct horse battery"), 429, "whoever guesses waits");
    assert_eq!(login("10.1.1.1", "correct horse battery"), 200, "she logged in from there before");
}

/// A viewer's token opens streams until no more come: an administrator still gets one.
#[test]
fn one_token_cannot_take_every_stream() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let (_server, url) =
        limited("ulimit -n 2048", &data, &["--limit", "event-streams=5", "--limit", "waits=2"]);
    let admin = admin(&data);
    let made = eventually("a token", || {
        let new = r#"{"name":"v","role":"viewer"}"#;
        ask(&url, "POST", "/v1/tokens", &[("authorization", &admin)], new)
            .filter(|(status, _)| *status == 201)
    });
    let viewer = format!("Bearer {}", made.1["token"].as_str().unwrap());
    let address = url.strip_prefix("http://").unwrap();
    let open = |path: &str, token: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: {token}\r\n\r\n").unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        (String::from_utf8_lossy(&head[9..]).parse::<u16>().unwrap(), stream)
    };
    let streams: Vec<_> = (0..5).map(|_| open("/v1/events", &viewer)).collect();
    assert!(streams.iter().all(|(status, _)| *status == 200));
    assert_eq!(open("/v1/events", &viewer).0, 429, "one past the bound");
    assert_eq!(open("/v1/events", &admin).0, 200);
    drop(streams);
    eventually("closed streams are given back", || (open("/v1/events", &viewer).0 == 200).then_some(()));
}

/// A colour profile that unpacks to a hundred megabytes, in an image of one pixel.
#[test]
fn a_compressed_colour_profile_does_not_fill_the_memory() {
    let dev = Instance::dev();
    let payload = |png: &[u8]| {
        let data = base64(png);
        serde_json::json!({ "data": data, "width": 2, "height": 2 }).to_string()
    };
    let run = |png: &[u8]| {
        let body = format!(r#"{{"kind":"resize_image","payload":{}}}"#, payload(png));
        let (status, made) = ask(&dev.url, "POST", "/v1/jobs", &[], &body).expect("it answers");
        assert_eq!(status, 201, "{made}");
        let id = made["id"].as_str().unwrap().to_owned();
        eventually("the job is over", || {
            let state = dev.json(&["job", "get", &id])["state"].as_str().map(str::to_owned);
            state.filter(|state| ["succeeded", "dead"].contains(&state.as_str()))
        })
    };
    // The same way once before, so that what it needs anyway is counted.
    assert_eq!(run(&png(&[0; 1_000])), "succeeded", "a profile that is none is left out");
    let before = peak_bytes(dev.pid());
    assert_eq!(run(&png(&zeros_compressed(100 << 20))), "succeeded");
    let grown = peak_bytes(dev.pid()).saturating_sub(before);
    assert!(grown < 64 << 20, "it took {grown} bytes more");
}

fn base64(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let bits = three
            .iter()
            .enumerate()
            .fold(0u32, |bits, (nth, byte)| bits | u32::from(*byte) << (16 - 8 * nth));
        let letter = move |nth: usize| match nth <= three.len() {
            true => char::from(letters[(bits >> (18 - 6 * nth)) as usize & 63]),
            false => '=',
        };
        (0..4).map(letter).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// The most memory that a process has had.
fn peak_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// A PNG of one grey pixel with that colour profile, which is taken as it is.
fn png(profile: &[u8]) -> Vec<u8> {
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let body: Vec<u8> = kind.iter().chain(data).copied().collect();
        let crc = !body.iter().fold(u32::MAX, |crc, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
        });
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&length[..], &body, &crc.to_be_bytes()].concat()
    };
    let header = [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0];
    // A stored block of two bytes: no filter, black.
    let pixels = [0x78, 0x01, 0x01, 2, 0, 0xfd, 0xff, 0, 0, 0, 2, 0, 1];
    let signature = b"\x89PNG\r\n\x1a\n".to_vec();
    let profile = [&b"x\0\0"[..], profile].concat();
    [
        signature,
        chunk(b"IHDR", &header),
        chunk(b"iCCP", &profile),
        chunk(b"IDAT", &pixels),
        chunk(b"IEND", &[]),
    ]
    .concat()
}

/// So many zeros, deflated: one literal, then again and again the longest match of what came before.
fn zeros_compressed(bytes: usize) -> Vec<u8> {
    let (mut out, mut bits, mut count) = (vec![0x78, 0x01], 0u32, 0u32);
    let mut put = |value: u32, width: u32, out: &mut Vec<u8>| {
        // Codes are written from their highest bit on.
        for bit in (0..width).rev() {
            bits |= ((value >> bit) & 1) << count;
            count += 1;
            if count == 8 {
                out.push(bits as u8);
                (bits, count) = (0, 0);
            }
        }
    };
    put(0b110, 3, &mut out);
    put(0b0011_0000, 8, &mut out);
    for _ in 0..bytes / 258 {
        put(0b1100_0101, 8, &mut out);
        put(0, 5, &mut out);
    }
    put(0, 7, &mut out);
    put(0, 7, &mut out);
    out.extend([0, 0, 0, 0]);
    out
}

/// A job's log is read by a person with a terminal: it must not be obeyed by that.
#[test]
fn what_a_job_says_does_not_reach_the_terminal_raw() {
    let dev = Instance::dev();
    let line = r"printf '\033]0;owned\007 \033[2J \033[32mgreen\033[0m \342\200\256dlrow\n'; printf '\033]52;c;cm0=\007' >&2; exit 3";
    let payload = serde_json::json!({ "shell": line }).to_string();
    let id = dev.enqueue(&["exec", "-p", &payload, "--max-attempts", "1"]);
    eventually("it failed", || (dev.json(&["job", "get", &id])["state"] == "dead").then_some(()));
    for args in
        [&["job", "logs", &id][..], &["job", "explain", &id], &["job", "wait", &id], &["job", "get", &id]]
    {
        let output = dev.ganger(args);
        let shown = format!("{}{}", common::stdout(&output), stderr(&output))
            .replace("\x1b[32m", "")
            .replace("\x1b[0m", "");
        let harmful =
            shown.chars().find(|c| (c.is_control() && *c != '\n' && *c != '\t') || *c == '\u{202e}');
        assert_eq!(harmful, None, "{args:?}: {shown:?}");
    }
    assert!(common::stdout(&dev.ganger(&["job", "logs", &id])).contains("\x1b[32mgreen"), "colours stay");
}

/// Whoever has lost every token has the data directory still.
#[test]
fn a_lost_token_is_recovered_from_the_store_itself_and_nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let path = data.to_str().unwrap();
    let mut server = Instance::with("server", &["--auth", "on"], &data, "127.0.0.1:0", &[]);
    let first = admin(&data);
    let busy = command(dir.path(), &["token", "recover", "--data", path]).output().unwrap();
    assert_ne!(code(&busy), 0, "a server uses it");
    assert!(stderr(&busy).contains("in use"), "{}", stderr(&busy));
    server.kill();
    let made = command(dir.path(), &["token", "recover", "--data", path, "-o", "json"]).output().unwrap();
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let recovered = format!("Bearer {}", made["token"].as_str().unwrap());
    let server = Instance::with("server", &["--auth", "on"], &data, "127.0.0.1:0", &[]);
    for token in [&recovered, &first] {
        let (status, who) = ask(&server.url, "GET", "/v1/tokens", &[("authorization", token)], "").unwrap();
        assert_eq!(status, 200, "{who}");
    }
    assert_eq!(admin(&data), first, "the first one is where it was");
    let (_, log) = ask(&server.url, "GET", "/v1/audit", &[("authorization", &recovered)], "").unwrap();
    assert!(log.to_string().contains("ganger token recover"), "{log}");
    let nothing = command(dir.path(), &["token", "recover", "--data", "nowhere"]).output().unwrap();
    assert_ne!(code(&nothing), 0);
    assert!(!dir.path().join("nowhere").exists(), "nothing is made where nothing was");
}

/// A restart does not change what commands prove themselves with, and a server finds its own whatever the default is.
#[test]
fn the_exec_token_stays_the_same_and_is_found_by_the_port() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("own-data");
    let token = || std::fs::read_to_string(data.join("exec-token")).unwrap();
    let mut dev = Instance::on("dev", &["--worker", "1"], &data, "127.0.0.1:0");
    let before = token();
    assert_eq!(dev.stop(), 0);
    let dev = Instance::on("dev", &["--worker", "1"], &data, "127.0.0.1:0");
    assert_eq!(token(), before);
    // Only the address is known, not the data directory.
    let ran = command(dir.path(), &["run", "--", "true"]).env("GANGER_URL", &dev.url).output().unwrap();
    assert_eq!(code(&ran), 0, "{}", stderr(&ran));
}

/// A proxy in front may go by one length and the server by the other: what is left over must not become a request.
#[test]
fn a_body_with_two_lengths_smuggles_nothing() {
    let dev = Instance::dev();
    let address = dev.url.strip_prefix("http://").unwrap();
    let smuggled = r#"POST /v1/jobs HTTP/1.1
host: localhost
content-type: application/json
content-length: 19

{"kind":"smuggled"}"#
        .replace('\n', "\r\n");
    for lengths in
        ["content-length: 3\r\ntransfer-encoding: chunked", "transfer-encoding: chunked\r\ncontent-length: 3"]
    {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "POST /v1/queues/default:pause HTTP/1.1\r\nhost: {address}\r\n{lengths}\r\n\r\n0\r\n\r\n{smuggled}").unwrap();
        let mut answers = String::new();
        let _ = stream.read_to_string(&mut answers);
        assert_eq!(answers.matches("HTTP/1.1 ").count(), 1, "{answers}");
    }
    let jobs = dev.json(&["job", "list"]);
    assert!(!jobs.to_string().contains("smuggled"), "{jobs}");
}
