//! Mails that must not be sent twice: the real binary, a mail server on loopback, and a worker that is killed between the
//! two halves of a mail.

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::mpsc;

use common::{Instance, PATIENCE, Process, eventually};
use serde_json::{Value, json};

/// A mail server that takes every mail but the first, whose fate it keeps to itself: it reads the whole mail and says no
/// more. Tells of each mail that it has read.
fn mail_server() -> (u16, mpsc::Receiver<String>) {
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
                        if number > 0 {
                            say(&mut io, "250 taken");
                        }
                    }
                    (Some(text), _) => text.push_str(&said),
                    (None, "DATA") => {
                        mail = Some(String::new());
                        say(&mut io, "354 go on");
                    }
                    (None, "QUIT") => say(&mut io, "221 bye"),
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
    let (port, mails) = mail_server();
    let server = Instance::server();
    let mut first = worker(&server, port);
    let id = server.enqueue(&["welcome_email", "-p", r#"{"email":"ada@example.com","name":"Ada"}"#]);
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

    assert!(server.ganger(&["job", "replay", &id]).status.success());
    assert_eq!(ends(&server, &id)["state"], "succeeded");
    assert!(
        mails.recv_timeout(PATIENCE).is_ok() && mails.try_recv().is_err(),
        "once, because a person said so"
    );
}
