//! `exec` with real programs.

use ganger_core::message::CancelWhy;

use super::*;

async fn exec(program: Exec) -> (Result<Output, JobError>, String) {
    let ctx = Ctx::for_test("exec");
    let output = run(Environment::default(), ctx.clone(), program).await;
    (output, ctx.chatter().take().log)
}

fn argv(words: &[&str]) -> Exec {
    Exec { argv: words.iter().map(ToString::to_string).collect(), ..Exec::default() }
}

fn shell(line: &str) -> Exec {
    Exec { shell: Some(line.into()), ..Exec::default() }
}

#[tokio::test]
async fn a_program_runs_without_a_shell_and_its_output_is_kept_and_logged() {
    let (output, log) = exec(argv(&["echo", "$HOME; *"])).await;
    let output = output.unwrap();
    assert_eq!((output.exit_code, output.stdout.as_str()), (0, "$HOME; *\n"));
    assert_eq!(log, "$HOME; *\n");
}

#[tokio::test]
async fn an_exit_code_is_an_error_that_names_it_and_the_last_complaint() {
    let (output, log) = exec(shell("echo oops >&2; exit 3")).await;
    let error = output.unwrap_err();
    assert_eq!(error.to_string(), "exit code 3: oops");
    assert!(!error.is_fatal());
    assert_eq!(log, "oops\n", "the log holds what the program said, and nothing of ours");
    assert!(exec(shell("exit 65")).await.0.unwrap_err().is_fatal());
    assert!(!exec(shell("exit 75")).await.0.unwrap_err().is_fatal());
    assert_eq!(exec(shell("kill -9 $$")).await.0.unwrap_err().to_string(), "killed by signal 9");
}

#[tokio::test]
async fn the_environment_is_cleared_but_for_what_passes() {
    let given = [("HOME", "/h"), ("SECRET", "s")].map(|(n, v)| (n.into(), v.into()));
    let program = Exec { env: [("MINE".to_owned(), "m".to_owned())].into(), ..argv(&["env"]) };
    let output = run(Environment::passed_from(given), Ctx::for_test("exec"), program).await.unwrap();
    let mut names: Vec<&str> = output.stdout.lines().filter_map(|l| l.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["GANGER_ATTEMPT", "GANGER_JOB_ID", "GANGER_THREADS", "HOME", "MINE", "PATH"]);
}

#[tokio::test]
async fn stdin_and_the_directory_are_given() {
    let dir = tempfile::tempdir().unwrap();
    let program = Exec { stdin: Some("words".into()), cwd: Some(dir.path().into()), ..shell("cat; pwd -P") };
    let output = exec(program).await.0.unwrap();
    let expected = format!("words{}\n", dir.path().canonicalize().unwrap().display());
    assert_eq!(output.stdout, expected);
}

#[tokio::test]
async fn a_program_that_is_not_there_or_not_named_is_an_error() {
    let error = exec(argv(&["/no/such/program"])).await.0.unwrap_err();
    assert!(error.to_string().starts_with("cannot start `/no/such/program`"), "{error}");
    assert!(exec(Exec::default()).await.0.unwrap_err().is_fatal());
    let both = Exec { shell: Some("true".into()), ..argv(&["true"]) };
    assert!(exec(both).await.0.unwrap_err().is_fatal());
}

/// The program starts another and both ignore that they are to stop politely.
#[tokio::test]
async fn a_timeout_ends_the_whole_group() {
    let program = Exec { timeout: Some(0.2), ..shell("sleep 300 & echo $!; wait") };
    let ctx = Ctx::for_test("exec");
    let error = run(Environment::default(), ctx.clone(), program).await.unwrap_err();
    assert_eq!(error.to_string(), "ran longer than 0.2 s");
    let child: i32 = ctx.chatter().take().log.trim().parse().unwrap();
    gone(child).await;
}

#[tokio::test]
async fn a_cancelled_or_dropped_attempt_takes_its_group_along() {
    for dropped in [false, true] {
        let ctx = Ctx::for_test("exec");
        let running =
            tokio::spawn(run(Environment::default(), ctx.clone(), shell("echo $$; exec sleep 300")));
        let mut said = String::new();
        while said.is_empty() {
            tokio::task::yield_now().await;
            said = ctx.chatter().take().log;
        }
        if dropped {
            running.abort();
        } else {
            ctx.cancel(CancelWhy::Cancelled);
            assert!(running.await.unwrap().is_err());
        }
        gone(said.trim().parse().unwrap()).await;
    }
}

/// A child left in the background keeps the pipes open.
#[tokio::test]
async fn a_program_that_left_somebody_behind_still_ends() {
    let (output, _) = exec(shell("echo done; sleep 300 &")).await;
    assert_eq!(output.unwrap().stdout, "done\n");
}

async fn gone(process: i32) {
    let pid = Pid::from_raw(process).unwrap();
    let wait = async {
        loop {
            // A zombie that nobody has reaped yet is gone as well.
            let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            if rustix::process::test_kill_process(pid).is_err() || state.contains(") Z ") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), wait).await.expect("the process ends");
}

/// What becomes of a program whose worker was killed: the kernel closes the worker's end of the pipe, and nothing else happens.
#[tokio::test]
async fn the_group_of_a_killed_worker_does_not_survive_it() {
    let start = || Command::new("sleep").arg("1000").process_group(0).kill_on_drop(true).spawn().unwrap();
    // The group itself would be killed when it is dropped: here only the watchdog may do that.
    let watch = |child: &Child| {
        let mut group = Group::of(child);
        let watchdog = Watchdog::over(&group).unwrap().expect("the program runs");
        group.is_over();
        watchdog
    };
    let mut child = start();
    let Watchdog { _shell: mut shell, _pipe: pipe } = watch(&child);
    assert!(child.try_wait().unwrap().is_none(), "nothing happens while the worker lives");
    drop(pipe);
    let status = tokio::time::timeout(Duration::from_secs(60), child.wait()).await;
    let status = status.expect("the watchdog kills the group").unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    assert!(tokio::time::timeout(Duration::from_secs(60), shell.wait()).await.is_ok(), "and ends");

    // A watchdog that is let go does nothing.
    let mut child = start();
    let watchdog = watch(&child);
    let id = watchdog._shell.id().unwrap();
    drop(watchdog);
    let gone = || !std::path::Path::new(&format!("/proc/{id}/cwd")).exists();
    for _ in 0..6_000 {
        if gone() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(gone(), "the watchdog has ended");
    assert!(child.try_wait().unwrap().is_none(), "and the program goes on");
}
