//! Mails that must not be sent twice: the real binary, a mail server on loopback, and a worker that is killed between the
//! two halves of a mail.

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use common::{Instance, PATIENCE, Process, eventually};
use serde_json::{Value, json};

/// A mail server that takes every mail but the first `silent`, whose fates it keeps to itself: it reads the whole mail and says no
/// more. It knows nobody at refused.example. Tells of each mail that it has read.
fn mail_server(silent: usize) -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut io = BufReader::new(stream.expect("a connection"));
            let say = |io: &mut BufReader<std::net::TcpStream>, words: &str| {
                let _ = io.get_mut().write_all(format!("{words}\r\n").as_bytes());
            };
            say(&mut io, "220 ready");
            let (mut line, mut mail) = (String::new(), None::<String>);
            while io.read_line(&mut line).is_ok_and(|read| read > 0) {
                let said = std::mem::take(&mut line);
                match (&mut mail, said.trim_end()) {
                    (Some(text), ".") => {
                        let _ = sender.send(std::mem::take(text));
                        mail = None;
                        if number >= silent {
                            say(&mut io, "250 taken");
                        }
                    }
                    (Some(text), _) => text.push_str(&said),
                    (None, "DATA") => {
                        mail = Some(String::new());
                        say(&mut io, "354 go on");
                    }
                    (None, "QUIT") => say(&mut io, "221 bye"),
                    (None, to) if to.contains("@refused.example") => say(&mut io, "550 nobody here"),
                    (None, _) => say(&mut io, "250 fine"),
                }
            }
        }
    });
    (port, receiver)
}

fn worker(server: &Instance, port: u16) -> Process {
    let mut command = server.command(&["worker", "--ttl", "1s", "--threads", "1"]);
    command.env("GANGER_SMTP_URL", format!("smtp://127.0.0.1:{port}?from=me@here.org"));
    Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the worker starts"))
}

fn ends(server: &Instance, id: &str) -> Value {
    eventually("it is over", || {
        let job = server.json(&["job", "get", id]);
        ["dead", "succeeded"].iter().any(|state| job["state"] == json!(state)).then_some(job)
    })
}

/// The mail server has the mail, and before it answers the worker is killed, without a word. Nobody knows whether the mail
/// is on its way, so nobody sends it again; until a person says so.
#[test]
fn a_mail_whose_worker_was_killed_is_not_sent_again_until_a_person_replays_it() {
    let (port, mails) = mail_server(1);
    let server = Instance::server();
    let mut first = worker(&server, port);
    let ada = r#"{"email":"ada@example.com","name":"Ada"}"#;
    // As the door makes it.
    let key = ["--key", r#"["welcome","ada@example.com","Ada"]"#, "--unique-for", "forever"];
    let id = server.enqueue(&[&["welcome_email", "-p", ada][..], &key].concat());
    let mail = mails.recv_timeout(PATIENCE).expect("the mail arrives");
    assert!(mail.contains(&format!("Message-ID: <{id}@ganger>")), "{mail}");
    first.0.kill().expect("it can be killed");
    first.0.wait().expect("it can be waited for");
    let _second = worker(&server, port);
    let job = ends(&server, &id);
    assert_eq!(
        (&job["state"], &job["reason"], &job["attempt"]),
        (&json!("dead"), &json!("delivery unknown"), &json!(1))
    );
    assert!(mails.try_recv().is_err(), "nothing was sent again");
    let token = server.json(&["token", "create", "mailer", "--role", "submitter"]);
    let bearer = format!("Authorization: Bearer {}", token["token"].as_str().expect("a token"));
    let add = [&format!("{}/addJob", server.url), "-d", ada, "-H", &bearer, "-w", " %{http_code}"];
    let said = curl(&add);
    assert!(said.contains("Job not added") && said.contains(&id) && said.ends_with(" 409"), "{said}");

    assert!(server.ganger(&["job", "replay", &id]).status.success());
    assert_eq!(ends(&server, &id)["state"], "succeeded");
    assert!(
        mails.recv_timeout(PATIENCE).is_ok() && mails.try_recv().is_err(),
        "once, because a person said so"
    );
}

/// What somebody typed who used the scheduler that this door stands in for.
fn curl(args: &[&str]) -> String {
    let output =
        Command::new("curl").args(["-sS", "--max-time", "60"]).args(args).output().expect("there is a curl");
    assert!(output.status.success(), "curl {args:?}: {}", common::stderr(&output));
    common::stdout(&output)
}

#[test]
fn the_lines_that_people_typed_welcome_each_person_once_and_list_those_who_could_not_be() {
    let (port, mails) = mail_server(0);
    let directory = tempfile::tempdir().unwrap();
    let smtp = format!("smtp://127.0.0.1:{port}?from=me@here.org");
    let variables = [("GANGER_SMTP_URL", Path::new(&smtp))];
    let dev =
        Instance::with("dev", &["--worker", "4"], &directory.path().join("data"), "127.0.0.1:0", &variables);
    let at = |path: &str| format!("{}{path}", dev.url);
    let post = |path: &str, body: &str, more: &[&str]| {
        let json = ["-X", "POST", &at(path), "-H", "Content-Type: application/json", "-d", body];
        curl(&[&json[..], more].concat())
    };
    let tokens = |text: &str| -> (String, String) {
        let said: Value = serde_json::from_str(text).unwrap();
        let token = |name: &str| said[name].as_str().unwrap_or_else(|| panic!("{said}")).to_owned();
        (token("access_token"), token("refresh_token"))
    };
    let user = r#"{"username":"john","password":"secret"}"#;
    tokens(&post("/signup", user, &[]));
    let (_, refresh) = tokens(&post("/login", user, &[]));
    let (access, _) = tokens(&post("/refreshToken", &json!({"refresh_token": refresh}).to_string(), &[]));
    let bearer = format!("Authorization: Bearer {access}");
    assert_eq!(curl(&[&at("/health")]), "No token provided");
    assert_eq!(curl(&[&at("/health"), "-H", &bearer]), "Good health");
    assert_eq!(curl(&[&at("/failedJobs"), "-H", &bearer]), "[]");

    let refused = r#"{"email":"x@refused.example","name":"X"}"#;
    let john = r#"{"email":"john@example.com","name":"John Doe"}"#;
    for body in [refused, john, john, john] {
        let said = post("/addJob", body, &["-H", &bearer]);
        assert_eq!(said, r#"{"message":"Job added to queue"}"#);
    }
    let mail = mails.recv_timeout(PATIENCE).expect("the mail arrives");
    assert!(mail.contains("<john@example.com>"), "{mail}");
    let failed = eventually("the other one failed for good", || {
        let failed: Value = serde_json::from_str(&curl(&[&at("/failedJobs"), "-H", &bearer])).unwrap();
        failed.get(0).cloned()
    });
    assert_eq!((&failed["email"], &failed["attempts"]), (&json!("x@refused.example"), &json!(5)), "{failed}");
    assert_eq!(failed["error"], "the mail server refused the recipient: 550 nobody here");
    let attempts = dev.json(&["job", "attempts", failed["id"].as_str().unwrap()]);
    let moment =
        |attempt: &Value, name: &str| attempt[name].as_str().unwrap().parse::<ganger_core::Wall>().unwrap();
    let attempts = attempts["items"].as_array().unwrap_or_else(|| panic!("{attempts}")).clone();
    let waits: Vec<u64> = attempts
        .windows(2)
        .map(|two| moment(&two[1], "leased_at").since(moment(&two[0], "ended_at")).as_secs())
        .collect();
    assert!(waits.iter().zip([1, 2, 4, 8]).all(|(waited, least)| *waited >= least), "{waits:?}");
    assert!(mails.try_recv().is_err(), "nobody was mailed twice");
}
