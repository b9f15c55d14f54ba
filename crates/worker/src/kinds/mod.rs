//! Kinds that come with every worker, so that the binary is useful alone.
//!
//! | kind | payload | result |
//! |---|---|---|
//! | `noop` | anything | `null` |
//! | `echo` | anything | the payload |
//! | `sleep` | `{"seconds": 1.5}` or `{"ms": 1500}` | `null` |
//! | `fail` | `{"times": 2, "message": "…"}` | `{"attempt": 3}`, once it has failed so often |
//! | `exec` | see [`exec`] | `{"exit_code", "stdout", "stderr"}` |
//! | `http` | see [`http`] | `{"status", "headers", "body"}` |

mod echo;
pub mod exec;
mod fail;
pub mod guard;
pub mod http;
mod noop;
mod sleep;
mod tail;

use crate::registry::Registry;

/// What the built-in kinds may do.
#[derive(Clone, Debug, Default)]
pub struct KindOptions {
    /// Registers `exec`: whoever may enqueue may then run programs as this user.
    pub allow_exec: bool,
    /// The environment of `exec` programs, besides what describes the attempt.
    pub environment: exec::Environment,
    /// Where `http` may connect to.
    pub guard: guard::Guard,
}

/// The built-in kinds, for [`crate::Worker::with`].
#[must_use]
pub fn builtin(options: KindOptions) -> Registry {
    let mut registry = Registry::new()
        .handle(&noop::NOOP, noop::run)
        .handle(&echo::ECHO, echo::run)
        .handle(&sleep::SLEEP, sleep::run)
        .handle(&fail::FAIL, fail::run);
    let http = http::Http::new(options.guard);
    registry = registry.handle(&http::HTTP, move |ctx, request| http.clone().run(ctx, request));
    if options.allow_exec {
        let environment = options.environment;
        registry =
            registry.handle(&exec::EXEC, move |ctx, program| exec::run(environment.clone(), ctx, program));
    }
    registry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exec_is_there_only_if_it_is_allowed() {
        let kinds = |options| builtin(options).kinds().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(kinds(KindOptions::default()), ["echo", "fail", "http", "noop", "sleep"]);
        let allowed = KindOptions { allow_exec: true, ..KindOptions::default() };
        assert!(kinds(allowed).contains(&"exec".to_owned()));
    }
}
