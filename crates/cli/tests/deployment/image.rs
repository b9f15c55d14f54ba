//! The image, without an engine: the steps of the Dockerfile are executed in folders that stand for its stages, then what the image
//! runs is run, as a user without rights.
//!
//! Three things are not as in a container, because they would take half an hour and the network: Debian packages are looked up
//! and not installed, `cargo build` gives the binary of this test's own build, and `npm` gives the page that was built before,
//! if there is one. What those lines say is checked.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::{self, eventually, free_port, stderr, terminate};
use crate::dockerfile::{Step, is_in_context, list, steps, words};
use crate::files::{are_settings, is_a_command, read, root};

/// An image that is being built: a folder for each stage.
struct Build {
    top: tempfile::TempDir,
    stages: Vec<Stage>,
}

#[derive(Clone, Default)]
struct Stage {
    name: String,
    root: PathBuf,
    workdir: String,
    variables: Vec<(String, String)>,
    user: Option<String>,
    entrypoint: Vec<String>,
    command: Vec<String>,
    health: Vec<String>,
}

impl Build {
    /// Executes a Dockerfile.
    fn of(text: &str) -> Build {
        let top = tempfile::tempdir().unwrap();
        // The user without rights must be able to get there.
        fs::set_permissions(top.path(), fs::Permissions::from_mode(0o755)).unwrap();
        stand_ins(&top.path().join("bin"));
        let mut build = Build { top, stages: Vec::new() };
        for step in steps(text) {
            build.step(&step);
        }
        build
    }

    fn step(&mut self, step: &Step) {
        if step.verb == "FROM" {
            let (_, plain) = words(&step.rest);
            assert!(plain[0].contains(':') && !plain[0].ends_with(":latest"), "{} is not pinned", plain[0]);
            let name = plain.get(2).cloned().unwrap_or_default();
            let root = self.top.path().join(format!("stage-{}", self.stages.len()));
            fs::create_dir_all(root.join("tmp")).unwrap();
            let workdir = "/".to_owned();
            self.stages.push(Stage { name, root, workdir, ..Stage::default() });
            return;
        }
        let stages = self.stages.clone();
        let stage = self.stages.last_mut().expect("a stage has begun");
        match step.verb.as_str() {
            "WORKDIR" => {
                stage.workdir.clone_from(&step.rest);
                fs::create_dir_all(stage.inside(&step.rest)).unwrap();
            }
            "COPY" => stage.copy(&step.rest, &stages),
            "RUN" => stage.run(&step.rest, &self.top.path().join("bin")),
            "ENV" => {
                let pairs = step.rest.split_whitespace().map(|pair| pair.split_once('=').unwrap());
                stage.variables.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            "USER" => stage.user = Some(step.rest.clone()),
            "ENTRYPOINT" => stage.entrypoint = list(&step.rest),
            "CMD" => stage.command = list(&step.rest),
            "HEALTHCHECK" => stage.health = list(step.rest.split_once("CMD ").unwrap().1),
            "STOPSIGNAL" => assert_eq!(step.rest, "SIGTERM"),
            "VOLUME" | "EXPOSE" => {}
            other => panic!("nobody has said here what {other} does"),
        }
    }

    fn last(&self) -> &Stage {
        self.stages.last().unwrap()
    }
}

impl Stage {
    /// Where a path of the stage is.
    fn inside(&self, path: &str) -> PathBuf {
        let whole = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.workdir) };
        self.root.join(whole.trim_start_matches('/'))
    }

    fn copy(&self, rest: &str, stages: &[Stage]) {
        let (options, plain) = words(rest);
        let options: HashMap<String, String> = options.into_iter().collect();
        let [from, to] = &plain[..] else { panic!("COPY {rest} is not understood here") };
        let to = self.inside(to);
        match options.get("from") {
            Some(name) => {
                let stage = stages
                    .iter()
                    .find(|stage| stage.name == *name)
                    .unwrap_or_else(|| panic!("no stage {name}"));
                copy_all(&stage.inside(from), &to);
            }
            None => copy_context(from, &to),
        }
        if let Some(owner) = options.get("chown") {
            assert!(owner.split(':').all(|id| id.parse::<u32>().is_ok_and(|id| id > 0)), "{owner}");
        }
    }

    fn run(&self, line: &str, stand_ins: &Path) {
        if line.starts_with("apt-get update") {
            return packages_exist(line);
        }
        // Paths of the image are paths of its folder.
        let mut mapped = line.to_owned();
        for top in ["/out", "/sdk", "/app"] {
            mapped = mapped.replace(&format!(" {top}"), &format!(" {}{top}", self.root.display()));
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", stand_ins.display());
        let done = Command::new("sh")
            .args(["-ec", &mapped])
            .current_dir(self.inside(&self.workdir))
            .env("PATH", path)
            .env("STAGE", &self.root)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(done.status.success(), "RUN {line}: {}", stderr(&done));
    }
}

/// Programs that would take too long: they check what they are told, and give what was made before.
fn stand_ins(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let (root, binary) = (root().display().to_string(), common::binary().display().to_string());
    let cargo = format!(
        "#!/bin/sh\nset -e\n[ \"$*\" = 'build --locked --profile dist -p ganger' ] || {{ echo \"cargo $*?\" >&2; exit 1; }}\n\
         grep -q '^\\[profile.dist\\]' Cargo.toml\n[ -d ui/dist ]\nmkdir -p target/dist\ncp {binary} target/dist/ganger\n"
    );
    let npm = format!(
        "#!/bin/sh\nset -e\ncase \"$1 $2\" in\n'ci --no-audit') [ -f package-lock.json ];;\n'run build')\n\
         grep -q '\"build\":' package.json\nmkdir -p dist\nif [ -d {root}/ui/dist ]; then cp -R {root}/ui/dist/. dist/; fi;;\n\
         *) echo \"npm $*?\" >&2; exit 1;;\nesac\n"
    );
    // Installing the SDK takes its dependencies from the network; that its package is whole is another test's claim.
    let pip = "#!/bin/sh\nset -e\n[ \"$*\" = \"-m pip install --no-cache-dir $STAGE/sdk\" ] || { echo \"python3 $*?\" >&2; exit 1; }\n\
         [ -f \"$STAGE/sdk/pyproject.toml\" ]\n[ -f \"$STAGE/sdk/README.md\" ]\n[ -f \"$STAGE/sdk/src/ganger/__main__.py\" ]\n";
    for (name, text) in [("cargo", cargo.as_str()), ("npm", npm.as_str()), ("python3", pip)] {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Debian has every package that the image wants, where Debian can be asked.
fn packages_exist(line: &str) {
    let install = line.split(" && ").find_map(|part| part.strip_prefix("apt-get install ")).unwrap();
    let packages: Vec<&str> = install.split_whitespace().filter(|word| !word.starts_with('-')).collect();
    assert!(!packages.is_empty() && line.contains("--no-install-recommends"), "{line}");
    let Ok(shown) = Command::new("apt-cache").arg("show").args(&packages).output() else {
        eprintln!("skipped: apt-cache is not here, so nobody knows whether {packages:?} exist");
        return;
    };
    let shown = common::stdout(&shown);
    if shown.is_empty() {
        eprintln!("skipped: there are no lists of packages here, so nobody knows whether {packages:?} exist");
        return;
    }
    for package in packages {
        assert!(
            shown.lines().any(|line| line == format!("Package: {package}")),
            "there is no package {package}"
        );
    }
}

/// What the `.dockerignore` lets in of the repository.
fn copy_context(from: &str, to: &Path) {
    let ignore = read(".dockerignore");
    let (mut folders, mut copied) = (vec![String::new()], 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if entry.path().is_dir() {
                // Large, and let in by nothing: not worth a walk.
                if !["target", ".git", "node_modules"].contains(&name.as_str()) {
                    folders.push(path);
                }
                continue;
            }
            let inside =
                if from == "." { Some(path.as_str()) } else { path.strip_prefix(&format!("{from}/")) };
            let Some(inside) = inside.filter(|_| is_in_context(&ignore, &path)) else { continue };
            let target = to.join(inside);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(entry.path(), target).unwrap();
            copied += 1;
        }
    }
    assert!(copied > 0, "COPY {from} copies nothing");
}

fn copy_all(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().flatten() {
            copy_all(&entry.path(), &to.join(entry.file_name()));
        }
        return;
    }
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
}

/// Every file that the sources of a context take in is in it too.
fn sources_are_whole(context: &Path) {
    let mut folders = vec![context.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                for taken in text.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                    let found = path.parent().unwrap().join(taken);
                    assert!(
                        found.exists(),
                        "{} takes in {taken}, which is not in the context",
                        path.display()
                    );
                }
            }
        }
    }
    assert!(
        fs::read_dir(context.join("docs/errors")).unwrap().count() > 10,
        "the pages of errors are compiled in"
    );
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"])
        .current_dir(context)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(cargo.status.success(), "cargo cannot read the context: {}", stderr(&cargo));
}

#[test]
fn the_steps_of_the_image_work_and_what_it_runs_is_healthy() {
    let build = Build::of(&read("Dockerfile"));
    let sources = build.stages.iter().find(|stage| stage.name == "build").unwrap();
    sources_are_whole(&sources.inside("/src"));
    assert!(!sources.inside("/src/.git").exists() && !sources.inside("/src/deploy").exists());
    let image = build.last();
    assert_eq!(image.user.as_deref(), Some("10001:10001"), "nobody with rights");
    are_settings(&image.variables);
    let started: Vec<String> = [&image.entrypoint[1..], &image.command[..]].concat();
    is_a_command(&started);
    is_a_command(&image.health[1..]);

    let runs = Running::start(image);
    let healthy = || runs.as_user(&image.health).output().unwrap();
    eventually("the image is healthy", || healthy().status.success().then_some(()));
    let first = image.inside("/var/lib/ganger/admin-token");
    eventually("the first token", || first.exists().then_some(()));
    let refused = runs
        .as_user(&["ganger", "job", "list"].map(str::to_owned))
        .env("GANGER_TOKEN", "gng_x_y")
        .output()
        .unwrap();
    assert_eq!(common::code(&refused), 4, "it asks who calls: {}", stderr(&refused));
    let written = written_beside(image, "/var/lib/ganger");
    assert!(written.is_empty(), "a container whose root cannot be written to would miss {written:?}");
    assert_eq!(runs.stop().status.code(), Some(0));
}

/// The main process of the image.
struct Running<'a> {
    image: &'a Stage,
    child: std::process::Child,
    port: u16,
}

impl<'a> Running<'a> {
    fn start(image: &'a Stage) -> Running<'a> {
        let port = free_port();
        if is_root() {
            let owned = Command::new("chown")
                .args(["-R", "10001:10001"])
                .arg(image.inside("/var/lib/ganger"))
                .status();
            assert!(owned.unwrap().success());
        }
        let mut whole = image.entrypoint.clone();
        whole.extend(image.command.clone());
        let child =
            user_command(image, &whole, port).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        Running { image, child, port }
    }

    /// A command inside, as the user of the image.
    fn as_user(&self, words: &[String]) -> Command {
        user_command(self.image, words, self.port)
    }

    fn stop(mut self) -> Output {
        terminate(self.child.id());
        eventually("it stops", || self.child.try_wait().unwrap());
        self.child.wait_with_output().unwrap()
    }
}

/// A command of the image with its variables, whose paths lead into its folder, as its user where that is possible.
fn user_command(image: &Stage, words: &[String], port: u16) -> Command {
    let program = image.inside("/usr/local/bin").join(&words[0]);
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=10001", "--regid=10001", "--clear-groups", "--no-new-privs", "--"])
            .arg(&program);
        command
    } else {
        Command::new(&program)
    };
    command.args(&words[1..]).current_dir(image.inside(&image.workdir)).env_clear();
    for (name, value) in &image.variables {
        let mapped =
            if value.starts_with('/') { image.inside(value).display().to_string() } else { value.clone() };
        command.env(name, mapped);
    }
    // The port of the image may be anybody's here.
    let (listen, url) = (format!("0.0.0.0:{port}"), format!("http://127.0.0.1:{port}"));
    command.env("GANGER_LISTEN", listen).env("GANGER_URL", url).env("TMPDIR", image.inside("/tmp"));
    command.stdin(Stdio::null());
    command
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    common::stdout(&id).trim() == "0"
}

/// Files of that user that are not below a folder.
fn written_beside(image: &Stage, folder: &str) -> Vec<PathBuf> {
    let found = Command::new("find").arg(&image.root).args(["-type", "f", "-uid", "10001"]).output().unwrap();
    let found = common::stdout(&found);
    found.lines().map(PathBuf::from).filter(|path| !path.starts_with(image.inside(folder))).collect()
}

/// The image of the worker in Python: what it copies is there, and its entry point finds the token in a file.
#[test]
fn the_python_image_has_what_it_runs_and_takes_its_token_from_a_file() {
    let build = Build::of(&read("sdk/python/examples/Dockerfile"));
    let image = build.last();
    assert_eq!(image.user.as_deref(), Some("10001:10001"));
    assert!(image.inside("/app/hello.py").exists());
    assert_eq!(image.command, ["python3", "-m", "ganger", "worker", "hello:app"]);
    let token = build.top.path().join("token");
    fs::write(&token, "gng_a_b\n").unwrap();
    let said = |file: &Path| {
        let mut command = Command::new(&image.entrypoint[0]);
        command.args(&image.entrypoint[1..]).args(["sh", "-c", "printf %s \"$GANGER_TOKEN\""]);
        common::stdout(&command.env("GANGER_TOKEN", "own").env("GANGER_TOKEN_FILE", file).output().unwrap())
    };
    assert_eq!(said(&token), "gng_a_b");
    assert_eq!(said(Path::new("/nowhere")), "own", "without a file the environment counts");
}
