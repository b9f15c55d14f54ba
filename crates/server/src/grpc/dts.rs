//! Profile D: `dts.ClientService`, a scheduler of commands.
//!
//! A task is a job of kind `exec`: it runs only on workers that allow commands, and only for callers who show the token for them in
//! the metadata `x-ganger-exec-token`, unless the server was told that this door needs none (`CompatOptions::open_commands`): clients
//! of the original cannot send it. It is never started before its time. A script travels as the standard input of its interpreter, so
//! that no file of a stranger is left on a worker's disk.

use std::time::Duration;

use ganger_core::Wall;
use ganger_core::job::{JobSpec, State};
use ganger_core::limits;
use ganger_core::name::Kind;
use ganger_core::trace::TraceContext;
use ganger_proto::dts;
use ganger_proto::dts::client_service_server::ClientService;
use ganger_store::read::StoredJob;
use serde_json::{Value, json};
use tokio_stream::{Stream, StreamExt as _};
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status, Streaming};

use super::exec_allowed;
use super::intake::{self, Key};
use super::jobs::{Asked, JobsDoor, Submission};
use super::status::status;
use crate::http::problem::{Code, Problem};
use crate::service::ServiceError;

/// What runs a script that does not say, by the ending of its name. The original gave every file to Python.
const BY_ENDING: [(&str, &str); 6] = [
    (".sh", "/bin/sh"),
    (".bash", "/bin/sh"),
    (".js", "node"),
    (".pl", "perl"),
    (".rb", "ruby"),
    ("", "python3"),
];
/// A part of a file comes within this of the one before.
const CHUNK_WITHIN: Duration = Duration::from_secs(30);
/// Longest name of a file.
const FILENAME_BYTES: usize = 120;

/// The door: a translation onto that for programs.
#[derive(Debug)]
pub(super) struct DtsDoor {
    pub(super) jobs: JobsDoor,
    /// Whether it runs commands for callers without the token for commands.
    pub(super) open: bool,
}

#[tonic::async_trait]
impl ClientService for DtsDoor {
    async fn schedule_task(
        &self,
        request: Request<dts::ScheduleTaskRequest>,
    ) -> Result<Response<dts::ScheduleTaskResponse>, Status> {
        self.may_run_commands(request.metadata())?;
        let key = Key::of("", request.metadata());
        let trace = intake::trace(request.metadata());
        let dts::ScheduleTaskRequest { scheduled_at, command } = request.into_inner();
        if command.trim().is_empty() {
            return Err(Status::invalid_argument("`command` is empty"));
        }
        let wrong =
            |error| Status::invalid_argument(format!("`scheduled_at` is not an RFC 3339 time: {error}"));
        let run_at: Wall = scheduled_at.parse().map_err(wrong)?;
        let mut spec = exec(&json!({ "shell": command, "bash": true }))?;
        spec.run_at = Some(run_at);
        let task_id = self.submit(key, trace, "dts.ScheduleTask", spec).await?;
        let scheduled_at = run_at.0.div_euclid(1_000_000);
        Ok(Response::new(dts::ScheduleTaskResponse { task_id, scheduled_at, command }))
    }

    async fn get_status(
        &self,
        request: Request<dts::GetStatusRequest>,
    ) -> Result<Response<dts::GetStatusResponse>, Status> {
        let task_id = request.into_inner().task_id;
        let unknown = || Status::not_found("there is no such task");
        let id = task_id.parse().map_err(|_| unknown())?;
        match self.jobs.service.job(id).await {
            Ok(view) => Ok(Response::new(shown(&view.stored))),
            Err(ServiceError::NoSuchJob(_)) => Err(unknown()),
            Err(error) => Err(status(error)),
        }
    }

    async fn transfer_file(
        &self,
        request: Request<Streaming<dts::FileChunk>>,
    ) -> Result<Response<dts::FileTransferResponse>, Status> {
        self.may_run_commands(request.metadata())?;
        let key = Key::of("", request.metadata());
        let trace = intake::trace(request.metadata());
        let (filename, content) = collected(request.into_inner()).await?;
        let bytes = content.len();
        let script = String::from_utf8(content)
            .map_err(|_| Status::invalid_argument("the file is not UTF-8 text, so it is no script"))?;
        let mut program = json!({ "argv": interpreter(&filename, &script)?, "stdin": script });
        if !script.starts_with("#!") {
            program["bash"] = true.into();
        }
        let mut spec = exec(&program)?;
        spec.options.tags = vec![format!("file:{filename}")];
        let file_id = self.submit(key, trace, "dts.TransferFile", spec).await?;
        let message = format!("{filename} was taken in, {bytes} bytes; it runs as task {file_id}");
        Ok(Response::new(dts::FileTransferResponse { success: true, message, file_id }))
    }
}

impl DtsDoor {
    fn may_run_commands(&self, metadata: &MetadataMap) -> Result<(), Status> {
        if self.open || exec_allowed(self.jobs.exec_token.as_ref(), metadata) {
            return Ok(());
        }
        let detail = "a task runs a command on a worker, and this call has not the right token";
        Err(status(Problem::new(Code::ExecNotAllowed, detail)))
    }

    /// Submits one job and tells its id, as the original wrote its own.
    async fn submit(
        &self,
        key: Key,
        trace: Option<TraceContext>,
        call: &'static str,
        spec: JobSpec,
    ) -> Result<String, Status> {
        spec.check().map_err(|error| Status::invalid_argument(error.to_string()))?;
        let id = self.jobs.submit_one(Submission::new(call, key, false, Asked::within(trace)), spec).await?;
        Ok(id.uuid().to_string())
    }
}

/// A job that runs this program.
fn exec(program: &Value) -> Result<JobSpec, Status> {
    let kind: Kind = "exec".parse().map_err(|_| Status::internal("`exec` is not a kind"))?;
    Ok(JobSpec { payload: program.to_string(), ..JobSpec::new(kind) })
}

/// The parts of a file, put together.
async fn collected(
    mut chunks: impl Stream<Item = Result<dts::FileChunk, Status>> + Unpin,
) -> Result<(String, Vec<u8>), Status> {
    let (mut filename, mut content) = (String::new(), Vec::new());
    loop {
        let next = tokio::time::timeout(CHUNK_WITHIN, chunks.next());
        let chunk = match next.await {
            Err(_) => return Err(Status::deadline_exceeded("the next part of the file did not come")),
            Ok(None) => return Err(Status::invalid_argument("the file was cut off: no part was the last")),
            Ok(Some(chunk)) => chunk?,
        };
        if content.len() + chunk.content.len() > limits::PAYLOAD_BYTES {
            let most = limits::PAYLOAD_BYTES;
            return Err(Status::invalid_argument(format!("the file has more than {most} bytes")));
        }
        content.extend_from_slice(&chunk.content);
        if filename.is_empty() {
            filename = chunk.filename;
        } else if !chunk.filename.is_empty() && chunk.filename != filename {
            return Err(Status::invalid_argument("the parts are of different files"));
        }
        if chunk.is_last {
            break;
        }
    }
    let plain = |c: char| !c.is_control() && c != '/';
    if filename.is_empty() || filename.len() > FILENAME_BYTES || !filename.chars().all(plain) {
        let detail =
            format!("`filename` must be 1 to {FILENAME_BYTES} bytes without `/` and control characters");
        return Err(Status::invalid_argument(detail));
    }
    Ok((filename, content))
}

/// What a script wants to be run by: its first line says, or the ending of its name.
fn interpreter<'a>(filename: &str, script: &'a str) -> Result<Vec<&'a str>, Status> {
    let Some(line) = script.strip_prefix("#!") else {
        let of_ending = BY_ENDING.iter().find(|(ending, _)| filename.ends_with(ending));
        return Ok(of_ending.map(|(_, program)| *program).into_iter().collect());
    };
    let words: Vec<&str> = line.lines().next().unwrap_or_default().split_whitespace().collect();
    if words.is_empty() {
        return Err(Status::invalid_argument("the first line of the script names no interpreter"));
    }
    Ok(words)
}

fn shown(job: &StoredJob) -> dts::GetStatusResponse {
    let last = job.last_attempt.as_ref();
    let (picked, started) = match (&job.lease, last) {
        // The store learns when a handler began from its report; until then the lease tells.
        (Some(lease), _) => (Some(lease.at), Some(lease.at)),
        (None, Some(attempt)) => (Some(attempt.leased_at), Some(attempt.started_at)),
        (None, None) => (None, None),
    };
    let ended = job.end.as_ref().map(|end| end.at);
    let (completed, failed) = match job.state {
        State::Succeeded => (ended, None),
        State::Dead | State::Cancelled => (None, ended),
        // It is tried again, but so far it failed.
        State::Retrying => (None, last.map(|attempt| attempt.ended_at)),
        State::Scheduled | State::Blocked | State::Queued | State::Running => (None, None),
    };
    let moment = |at: Option<Wall>| at.map(|at| at.to_string()).unwrap_or_default();
    dts::GetStatusResponse {
        task_id: job.id.uuid().to_string(),
        command: command(job),
        scheduled_at: moment(Some(job.spec.run_at.unwrap_or(job.created_at))),
        picked_at: moment(picked),
        started_at: moment(started),
        completed_at: moment(completed),
        failed_at: moment(failed),
    }
}

/// What a task runs; of a job that came by another door, its kind.
fn command(job: &StoredJob) -> String {
    let payload: Value = serde_json::from_str(&job.spec.payload).unwrap_or_default();
    let words = |argv: &Vec<Value>| argv.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    match (job.spec.kind.as_str(), payload["shell"].as_str(), payload["argv"].as_array()) {
        ("exec", Some(line), _) => line.to_owned(),
        ("exec", None, Some(argv)) => words(argv),
        (kind, ..) => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    fn chunk(filename: &str, content: &[u8], is_last: bool) -> Result<dts::FileChunk, Status> {
        Ok(dts::FileChunk { filename: filename.into(), content: content.into(), is_last })
    }

    async fn collect(chunks: Vec<Result<dts::FileChunk, Status>>) -> Result<(String, Vec<u8>), Code> {
        collected(tokio_stream::iter(chunks)).await.map_err(|status| status.code())
    }

    #[tokio::test]
    async fn a_file_is_put_together_up_to_its_last_part() {
        let whole =
            collect(vec![chunk("a.sh", b"echo ", false), chunk("", b"hi", true), chunk("", b"x", true)]);
        assert_eq!(whole.await.unwrap(), ("a.sh".into(), b"echo hi".to_vec()));
        let refused = Err(Code::InvalidArgument);
        assert_eq!(collect(vec![chunk("a.sh", b"echo", false)]).await, refused, "cut off");
        assert_eq!(collect(vec![]).await, refused);
        assert_eq!(collect(vec![chunk("a", b"", false), chunk("b", b"", true)]).await, refused);
        for name in ["", "../a", "a\nb", "a\0", &"n".repeat(FILENAME_BYTES + 1)] {
            assert_eq!(collect(vec![chunk(name, b"x", true)]).await, refused, "{name:?}");
        }
        assert!(collect(vec![chunk(&"n".repeat(FILENAME_BYTES), b"x", true)]).await.is_ok());
        let large = vec![b'x'; limits::PAYLOAD_BYTES];
        assert!(collect(vec![chunk("a", &large, true)]).await.is_ok());
        assert_eq!(collect(vec![chunk("a", &large, false), chunk("a", b"x", true)]).await, refused);
    }

    #[test]
    fn a_script_is_run_by_what_its_first_line_or_its_ending_names() {
        for (filename, program) in [
            ("hello.sh", "/bin/sh"),
            ("hello.bash", "/bin/sh"),
            ("hello.js", "node"),
            ("hello.py", "python3"),
            ("hello", "python3"),
            ("sh", "python3"),
        ] {
            assert_eq!(interpreter(filename, "echo hi").unwrap(), [program], "{filename}");
        }
        assert_eq!(interpreter("a.sh", "#!/usr/bin/env python3\nx").unwrap(), ["/usr/bin/env", "python3"]);
        assert_eq!(interpreter("a.py", "#! /bin/bash -e\r\nx").unwrap(), ["/bin/bash", "-e"]);
        assert!(interpreter("a.sh", "#!\necho").is_err());
    }
}
