//! Many jobs over a connection that keeps breaking.

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ganger_core::Fence;
use ganger_core::message::{ToLeader, ToWorker};
use ganger_core::outcome::Report;
use ganger_worker::{Ctx, Job, Worker};
use support::{Leader, fence, parcel};

const JOBS: u64 = 4_000;
/// Leases that are open at once.
const WINDOW: usize = 100;
/// The connection breaks after so many results.
const BREAK_EVERY: usize = 700;
const TTL: Duration = Duration::from_secs(15);
const COUNT: Job<u64, u64> = Job::new("count");

/// The leader breaks the stream without acknowledging what it has just heard, and sends every open lease
/// again on the next one.
#[tokio::test(flavor = "multi_thread")]
async fn no_lease_runs_twice_and_every_result_arrives_however_often_the_connection_breaks() {
    let mut leader = Leader::start().await;
    let runs: Arc<Vec<AtomicU32>> = Arc::new((0..=JOBS * 2).map(|_| AtomicU32::new(0)).collect());
    let counted = runs.clone();
    let _handle = Worker::connect(leader.url())
        .threads(8)
        .handle(&COUNT, move |ctx: Ctx, n: u64| {
            let counted = counted.clone();
            async move {
                counted[ctx.fence().seq as usize].fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                Ok(n)
            }
        })
        .start()
        .await
        .unwrap();

    let (mut next, mut done) = (1, 0);
    let mut open: BTreeSet<Fence> = BTreeSet::new();
    let mut handed_back = 0;
    while done < JOBS {
        let (mut stream, _) = leader.welcomed(TTL).await;
        let again = open.iter().map(|f| parcel(f.seq, "count", "7")).collect();
        stream.assign(again).await;
        let mut heard = 0;
        while done < JOBS && heard < BREAK_EVERY {
            let fresh: Vec<_> = (open.len()..WINDOW).map(|i| next + (i - open.len()) as u64).collect();
            next += fresh.len() as u64;
            open.extend(fresh.iter().map(|seq| fence(*seq)));
            if !fresh.is_empty() {
                stream.assign(fresh.iter().map(|seq| parcel(*seq, "count", "7")).collect()).await;
            }
            let ToLeader::Results(results) = stream.hear_and_pong().await else { panic!("not a result") };
            heard += results.len();
            if heard >= BREAK_EVERY {
                break;
            }
            for result in &results {
                assert!(open.remove(&result.fence), "{} ended twice", result.fence);
                // On a slow machine a lease may wait too long and be handed back; then it never ran.
                let ran = result.report == Report::Ok("7".into());
                assert!(ran || result.report == Report::Released { started: false }, "{result:?}");
                handed_back += u64::from(!ran);
                done += u64::from(ran);
            }
            stream.say(ToWorker::Ack(results.iter().map(|r| r.fence).collect())).await;
        }
    }
    assert!(runs.iter().all(|count| count.load(Ordering::SeqCst) <= 1), "a lease ran twice");
    let ran: u64 = runs.iter().map(|count| u64::from(count.load(Ordering::SeqCst))).sum();
    assert!(ran >= JOBS && ran <= JOBS + WINDOW as u64 * 2, "{ran} runs, {handed_back} handed back");
}
