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
//! | `add_numbers` | `{"x": 2, "y": 3}` | `{"sum": 5}` |
//! | `reverse_string` | `{"text": "abc"}` | `{"reversed": "cba"}` |
//! | `large_array_sum` | `{"numbers": [1, 2, 3]}` | `{"sum": 6}`, added up on the granted threads |
//! | `cpu_intensive`, `io_intensive`, `mixed_workload`, `network_task`, `default` | a text | see [`demo`] |
//! | `resize_image` | `{"data", "width", "height"}`, base64 PNG or JPEG | `{"data", "format", "width", "height"}` |
//! | `welcome_email` | `{"email", "name"}`, where a mail server is configured | `{"message_id"}` |

mod add_numbers;
pub mod demo;
mod echo;
pub mod exec;
mod fail;
pub mod guard;
pub mod http;
pub mod large_array_sum;
mod noop;
mod resize_image;
mod reverse_string;
mod sleep;
pub mod smtp;
mod tail;
pub mod welcome_email;

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
    /// How much of the workloads for demonstrations is done.
    pub demo_scale: demo::Scale,
    /// Registers `welcome_email`, which sends its mails there.
    pub smtp: Option<smtp::SmtpUrl>,
}

/// The built-in kinds, for [`crate::Worker::with`].
#[must_use]
pub fn builtin(options: KindOptions) -> Registry {
    let mut registry = Registry::new()
        .handle(&noop::NOOP, noop::run)
        .handle(&echo::ECHO, echo::run)
        .handle(&sleep::SLEEP, sleep::run)
        .handle(&fail::FAIL, fail::run)
        .handle(&add_numbers::ADD_NUMBERS, add_numbers::run)
        .handle_blocking(&reverse_string::REVERSE_STRING, reverse_string::run)
        .handle_blocking(&large_array_sum::LARGE_ARRAY_SUM, large_array_sum::run)
        .handle(&resize_image::RESIZE_IMAGE, resize_image::run);
    let http = http::Http::new(options.guard);
    registry = registry.with(demo::registry(options.demo_scale, http.clone()));
    registry = registry.handle(&http::HTTP, move |ctx, request| http.clone().run(ctx, request));
    if let Some(url) = options.smtp {
        let smtp = smtp::Smtp::new(url);
        registry = registry
            .handle(&welcome_email::WELCOME_EMAIL, move |ctx, to| welcome_email::run(smtp.clone(), ctx, to));
    }
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
        assert!(!kinds(KindOptions::default()).contains(&"exec".to_owned()));
        let allowed = KindOptions { allow_exec: true, ..KindOptions::default() };
        assert!(kinds(allowed).contains(&"exec".to_owned()));
    }
}
