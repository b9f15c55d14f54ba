//! A client in Go, generated from the contract of profile D, that sends no metadata: as users of the original have it.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Instance, code, stderr, stdout};
use serde_json::Value;

/// The client, if there is a Go that can build it.
fn client(into: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/go_client");
    let go = |args: &[&str]| Command::new("go").args(args).current_dir(&source).output();
    let fetched = match go(&["mod", "download"]) {
        Ok(fetched) => fetched,
        Err(error) => {
            eprintln!("skipped: there is no Go here ({error})");
            return None;
        }
    };
    if !fetched.status.success() {
        eprintln!("skipped: Go has not the modules that the client needs: {}", stderr(&fetched));
        return None;
    }
    let program = into.join("client");
    let built = go(&["build", "-o", &program.to_string_lossy(), "."]).expect("there was a go a moment ago");
    assert!(built.status.success(), "{}", stderr(&built));
    Some(program)
}

fn run(client: &Path, server: &Instance, file: &Path, command: &str) -> Output {
    let address = server.url.trim_start_matches("http://");
    Command::new(client).arg(address).arg(file).arg(command).output().expect("the client starts")
}

/// Runs the client's two tasks and looks at what they did.
fn works(client: &Path, server: &Instance, folder: &Path) {
    let (by_command, by_file) = (folder.join("by-command"), folder.join("by-file"));
    // Without a `#!` line, and in Python by its ending alone.
    let file = folder.join("task");
    std::fs::write(&file, format!("open({:?}, 'w').write('by a file')\n", by_file.display().to_string()))
        .unwrap();
    let command = format!("for i in {{1..5}}; do echo $i; done > '{}'", by_command.display());
    let output = run(client, server, &file, &command);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let statuses: Vec<Value> = serde_json::from_str(&stdout(&output)).unwrap();
    for status in &statuses {
        assert!(status["completed_at"].is_string() && status["failed_at"].is_null(), "{status}");
    }
    assert_eq!(statuses[0]["command"], command);
    let bash = ["/bin/bash", "/usr/bin/bash"].iter().any(|path| Path::new(path).exists());
    let counted = if bash { "1\n2\n3\n4\n5\n" } else { "{1..5}\n" };
    assert_eq!(std::fs::read_to_string(by_command).unwrap(), counted);
    assert_eq!(std::fs::read_to_string(by_file).unwrap(), "by a file");
}

#[test]
fn the_client_of_the_original_works_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let Some(client) = client(folder.path()) else { return };
    let dev = Instance::dev();
    works(&client, &dev, folder.path());
}

#[test]
fn it_works_where_the_door_is_opened_and_commands_are_allowed_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let Some(client) = client(folder.path()) else { return };
    let file = folder.path().join("task");
    std::fs::write(&file, "print(1)\n").unwrap();
    for closed in [&["--allow-exec"][..], &["--compat-open", "d"]] {
        let server = Instance::start("server", closed);
        let output = run(&client, &server, &file, "true");
        assert_ne!(code(&output), 0, "{closed:?}");
        assert!(stderr(&output).contains("PermissionDenied"), "{closed:?}: {}", stderr(&output));
    }
    let dev = Instance::start("dev", &["--no-exec"]);
    assert!(stderr(&run(&client, &dev, &file, "true")).contains("PermissionDenied"));
    let server = Instance::start("server", &["--allow-exec", "--compat-open", "d"]);
    let _worker = server.worker(&["start", "--threads", "2", "--allow-exec"]);
    works(&client, &server, folder.path());
}
