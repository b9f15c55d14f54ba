//! Marks over the real wire: a handler goes on only when the leader has said that its mark stands.

mod support;

use std::time::Duration;

use ganger_core::message::{ToLeader, ToWorker};
use ganger_core::outcome::Report;
use ganger_worker::{Ctx, Job, JobError, Worker};
use support::{Leader, Stream, fence, ok, parcel};

const TTL: Duration = Duration::from_secs(15);
const MAIL: Job<bool, String> = Job::new("mail");

/// Marks its effect; if it is told that the other side refused, it takes the mark off and fails.
async fn mail(ctx: Ctx, refused: bool) -> Result<String, JobError> {
    ctx.mark_effect().await?;
    if refused {
        ctx.unmark_effect().await?;
        Err("refused")?;
    }
    Ok("sent".into())
}

async fn mark_asked(stream: &mut Stream, seq: u64, stands: bool) {
    let asked = stream.hear_and_pong().await;
    let ToLeader::Mark { fence: of, stands: wanted, .. } = asked else { panic!("{asked:?}") };
    assert_eq!((of, wanted), (fence(seq), stands));
}

async fn answer(stream: &Stream, seq: u64, stands: bool) {
    stream.say(ToWorker::Marked { fence: fence(seq), stands }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_waits_for_its_mark_also_over_a_broken_connection() {
    let mut leader = Leader::start().await;
    let _handle = Worker::connect(leader.url()).handle(&MAIL, mail).start().await.unwrap();
    let (mut stream, _) = leader.welcomed(TTL).await;
    stream.assign(vec![parcel(1, "mail", "false")]).await;
    mark_asked(&mut stream, 1, true).await;
    drop(stream);

    let (mut stream, _) = leader.welcomed(TTL).await;
    mark_asked(&mut stream, 1, true).await;
    answer(&stream, 1, true).await;
    let result = stream.result().await;
    assert_eq!((result.fence, result.report), (fence(1), ok("\"sent\"")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_mark_stops_the_handler_and_one_that_is_off_lets_it_fail() {
    let mut leader = Leader::start().await;
    let _handle = Worker::connect(leader.url()).handle(&MAIL, mail).start().await.unwrap();
    let (mut stream, _) = leader.welcomed(TTL).await;
    stream.assign(vec![parcel(1, "mail", "false")]).await;
    mark_asked(&mut stream, 1, true).await;
    answer(&stream, 1, false).await;
    let refused = Report::Error("the lease is lost: nothing may be done under it".into());
    assert_eq!(stream.result().await.report, refused);

    stream.assign(vec![parcel(2, "mail", "true")]).await;
    mark_asked(&mut stream, 2, true).await;
    answer(&stream, 2, true).await;
    mark_asked(&mut stream, 2, false).await;
    answer(&stream, 2, false).await;
    assert_eq!(stream.result().await.report, Report::Error("refused".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_waits_for_a_mark_of_a_lost_session_is_told_no() {
    let mut leader = Leader::start().await;
    let _handle = Worker::connect(leader.url()).handle(&MAIL, mail).start().await.unwrap();
    let (mut stream, _) = leader.welcomed(TTL).await;
    stream.assign(vec![parcel(1, "mail", "false")]).await;
    mark_asked(&mut stream, 1, true).await;
    stream.say(ToWorker::Gone).await;
    let (mut stream, _) = leader.welcomed(TTL).await;
    // Offered under the old fence, which the leader refuses; it did nothing.
    assert!(!matches!(stream.result().await.report, Report::Ok(_)));
}
