//! The command line explains itself: help, exit codes, completions.

mod common;

use common::{code, ganger, stderr, stdout};

const COMMANDS: &[&[&str]] = &[
    &["dev"],
    &["top"],
    &["demo"],
    &["server"],
    &["worker"],
    &["worker", "start"],
    &["worker", "list"],
    &["worker", "drain"],
    &["run"],
    &["enqueue"],
    &["import"],
    &["job"],
    &["job", "list"],
    &["job", "get"],
    &["job", "wait"],
    &["job", "explain"],
    &["job", "cancel"],
    &["job", "replay"],
    &["job", "run-now"],
    &["job", "attempts"],
    &["job", "logs"],
    &["job", "related"],
    &["job", "export"],
    &["job", "histogram"],
    &["job", "delete"],
    &["view"],
    &["view", "list"],
    &["view", "get"],
    &["view", "set"],
    &["view", "delete"],
    &["failure"],
    &["failure", "list"],
    &["failure", "get"],
    &["failure", "replay"],
    &["failure", "discard"],
    &["operation"],
    &["operation", "start"],
    &["operation", "list"],
    &["operation", "get"],
    &["operation", "cancel"],
    &["operation", "wait"],
    &["queue"],
    &["queue", "list"],
    &["queue", "get"],
    &["queue", "pause"],
    &["queue", "resume"],
    &["queue", "drain"],
    &["queue", "set"],
    &["queue", "purge"],
    &["key"],
    &["key", "list"],
    &["key", "close"],
    &["key", "open"],
    &["schedule"],
    &["schedule", "list"],
    &["schedule", "get"],
    &["schedule", "create"],
    &["schedule", "update"],
    &["schedule", "apply"],
    &["schedule", "delete"],
    &["schedule", "pause"],
    &["schedule", "resume"],
    &["schedule", "run"],
    &["schedule", "next"],
    &["schedule", "backfill"],
    &["schedule", "history"],
    &["stats"],
    &["stats", "timeseries"],
    &["health"],
    &["doctor"],
    &["migrate"],
    &["migrate", "status"],
    &["migrate", "up"],
    &["migrate", "down"],
    &["backup"],
    &["restore"],
    &["bench"],
    &["config"],
    &["config", "show"],
    &["completion"],
    &["version"],
    &["exit-codes"],
];

#[test]
fn every_command_exists_and_its_help_has_an_example() {
    for path in COMMANDS {
        let mut args = path.to_vec();
        args.push("--help");
        let output = ganger(&args);
        let text = stdout(&output);
        assert_eq!(code(&output), 0, "{path:?}: {}", stderr(&output));
        assert!(text.contains("Example") && text.contains("Usage:"), "{path:?} --help:\n{text}");
    }
}

#[test]
fn help_lists_every_command() {
    let text = stdout(&ganger(&["--help"]));
    for path in COMMANDS.iter().filter(|path| path.len() == 1) {
        assert!(text.contains(&format!("\n  {}", path[0])), "{} is missing:\n{text}", path[0]);
    }
}

#[test]
fn the_exit_codes_are_documented() {
    for args in [&["help", "exit-codes"][..], &["exit-codes"][..]] {
        let output = ganger(args);
        assert_eq!(code(&output), 0);
        let text = stdout(&output);
        for line in [
            "0  success",
            "3  the job ended without success",
            "9  the server is unreachable",
            "125  `ganger run`",
        ] {
            assert!(text.contains(line), "`{line}` is missing:\n{text}");
        }
    }
}

#[test]
fn completions_are_made_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = ganger(&["completion", shell]);
        assert_eq!(code(&output), 0, "{shell}");
        assert!(stdout(&output).contains("enqueue"), "{shell}");
    }
}

#[test]
fn the_version_is_told_in_both_forms() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(stdout(&ganger(&["version"])).trim(), format!("ganger {version}"));
    assert_eq!(stdout(&ganger(&["--version"])).trim(), format!("ganger {version}"));
    let json: serde_json::Value = serde_json::from_slice(&ganger(&["version", "-o", "json"]).stdout).unwrap();
    assert_eq!(json["version"], version);
    let json: serde_json::Value =
        serde_json::from_slice(&ganger(&["exit-codes", "-o", "json"]).stdout).unwrap();
    assert_eq!(json["items"][9]["code"], 9);
}
