//! A disk that can fail, under the real binary: `disk.c` says what it models.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::common::Instance;

const FILES: [&str; 2] = ["ganger.db", "ganger.db-wal"];

/// The disk, the data directory on it, and everything else a test leaves behind.
pub(crate) struct Disk {
    directory: TempDir,
}

impl Disk {
    /// A disk that works.
    pub(crate) fn new() -> Disk {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let disk = Disk { directory };
        fs::create_dir(disk.path("disk")).expect("a directory for what the disk has");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/failing_disk/disk.c");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(disk.path("disk.so"))
            .args([source, "-ldl", "-lpthread"])
            .output()
            .expect("there is a C compiler: SQLite was compiled with it");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        disk
    }

    /// A server whose data is on this disk.
    pub(crate) fn server(&self) -> Instance {
        let variables = [("LD_PRELOAD", &*self.path("disk.so")), ("GANGER_DISK", &*self.path("disk"))];
        Instance::with("server", &[], &self.path("data"), "127.0.0.1:0", &variables)
    }

    /// From now on no sync succeeds.
    pub(crate) fn fail(&self) {
        fs::write(self.path("disk/failing"), []).expect("the fault can be switched on");
    }

    /// From now on it works again. What it did not write is still not there.
    pub(crate) fn mend(&self) {
        fs::remove_file(self.path("disk/failing")).expect("the fault can be switched off");
    }

    /// A server on what is left after the power failed: what the disk has, and nothing of the page cache.
    pub(crate) fn server_after_power_loss(&self, mut server: Instance) -> Instance {
        server.kill();
        let after = self.path("after/data");
        fs::create_dir_all(&after).expect("a directory for what is left");
        for file in FILES {
            fs::copy(self.path("disk").join(file), after.join(file)).expect("the disk has it");
        }
        Instance::on("server", &[], &after, "127.0.0.1:0")
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(name)
    }
}
