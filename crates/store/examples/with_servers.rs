//! Runs a command beside a private PostgreSQL and a private Redis, which are gone when it ends: `with_servers COMMAND…`, where
//! `{store}` and `{redis}` in an argument stand for their addresses. For `make bench`; nothing that ships contains it.

use std::process::{Command, ExitCode};

use ganger_store::testing::{Postgres, Redis};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(program) = args.next() else {
        eprintln!(
            "usage: with_servers COMMAND [ARGUMENT]..., with {{store}} and {{redis}} for their addresses"
        );
        return ExitCode::from(2);
    };
    // As in production: every commit is on the disk before it is answered.
    let (postgres, redis) = (Postgres::start(), Redis::start());
    let args = args.map(|arg| arg.replace("{store}", &postgres.url()).replace("{redis}", &redis.url()));
    match Command::new(&program).args(args).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("cannot run {program}: {error}");
            ExitCode::FAILURE
        }
    }
}
