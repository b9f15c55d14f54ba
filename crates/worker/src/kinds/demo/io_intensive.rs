//! `io_intensive`: writes a file line by line, reads it back, and deletes it.
//!
//! The file is the attempt's own: a fresh name in the temporary directory that no other user can read. It goes with the attempt,
//! however that ends.

use std::io::{BufRead as _, BufReader, BufWriter, Seek as _, Write as _};

use serde::Serialize;
use tempfile::NamedTempFile;

use super::content::Content;
use super::{Scale, go_on};
use crate::context::Ctx;
use crate::error::JobError;
use crate::job::Job;

pub(super) const IO_INTENSIVE: Job<Content, Written> = Job::new("io_intensive");

/// What was done.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct Written {
    /// Lines, written and read.
    pub(super) lines: u32,
    /// Bytes of them.
    pub(super) bytes: u64,
}

pub(super) fn work(ctx: &Ctx, scale: Scale) -> Result<Written, JobError> {
    let lines = scale.count(1_000..=9_999);
    let mut file = NamedTempFile::with_prefix("ganger-io-")?;
    let written = write(ctx, &mut file, lines)?;
    file.as_file().sync_data()?;
    file.rewind()?;
    let read = read(ctx, &mut file)?;
    if read != written {
        let (lines, bytes) = (read.lines, read.bytes);
        Err(format!("wrote {} lines and read {lines}, {bytes} bytes", written.lines))?;
    }
    file.close()?;
    Ok(written)
}

fn line(ctx: &Ctx, number: u32) -> String {
    format!("{} line {number}: the quick brown fox jumps over the lazy dog", ctx.job_id())
}

fn write(ctx: &Ctx, file: &mut NamedTempFile, lines: u32) -> Result<Written, JobError> {
    let mut out = BufWriter::new(file);
    let mut bytes = 0;
    for number in 0..lines {
        go_on(ctx)?;
        let line = line(ctx, number);
        writeln!(out, "{line}")?;
        bytes += line.len() as u64 + 1;
    }
    out.flush()?;
    Ok(Written { lines, bytes })
}

fn read(ctx: &Ctx, file: &mut NamedTempFile) -> Result<Written, JobError> {
    let mut read = Written { lines: 0, bytes: 0 };
    for found in BufReader::new(file).lines() {
        go_on(ctx)?;
        let found = found?;
        if found != line(ctx, read.lines) {
            Err(format!("line {} is not what was written", read.lines))?;
        }
        read.lines += 1;
        read.bytes += found.len() as u64 + 1;
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ganger_core::message::CancelWhy;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_is_written_is_read_back() {
        let ctx = Ctx::for_test("io_intensive");
        let mut file = NamedTempFile::with_prefix("ganger-io-").unwrap();
        assert_eq!(file.as_file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let written = write(&ctx, &mut file, 100).unwrap();
        file.rewind().unwrap();
        assert_eq!(read(&ctx, &mut file).unwrap(), written);
        assert_eq!(file.as_file().metadata().unwrap().len(), written.bytes);
        // A file that somebody changed is noticed.
        file.rewind().unwrap();
        file.write_all(b"x").unwrap();
        file.rewind().unwrap();
        assert!(read(&ctx, &mut file).is_err());
        assert_eq!(work(&ctx, Scale::TINY).unwrap().lines, 1);
    }

    #[test]
    fn it_stops_when_told_to() {
        let ctx = Ctx::for_test("io_intensive");
        ctx.cancel(CancelWhy::Cancelled);
        assert!(work(&ctx, Scale::default()).is_err());
    }
}
