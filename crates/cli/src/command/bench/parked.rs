//! How fast jobs are run that stand behind as many of a closed key.

use std::time::Duration;

use ganger_server::api::{HumanDuration, KeyClose};

use super::meter::Meter;
use super::report::Drain;
use super::{KIND, PARKED, drain, intake, job, pause, payload};
use crate::client::Call;
use crate::exit::Exit;
use crate::failure::{Failure, Fallible};

/// The key that is closed.
const KEY: &str = "closed";
/// For longer than anything here takes.
const CLOSED_FOR: Duration = Duration::from_secs(24 * 3600);

/// Enqueues so many jobs of a closed key, and as many others behind them; then runs the others.
pub(super) async fn drain(meter: &Meter<'_>, jobs: u64) -> Fallible<Drain> {
    pause(meter.client, PARKED, true).await?;
    let close = KeyClose { for_: Some(HumanDuration(CLOSED_FOR)), until: None };
    let body = serde_json::to_string(&close)
        .map_err(|error| Failure::new(Exit::Failure, "cannot write the request as JSON", error, ""))?;
    let path = format!("/v1/queues/{PARKED}/keys/{KEY}:close");
    meter.client.send(&Call::submit_once(format!("close key {KEY}"), &path, body)).await?;
    let keyed = format!(
        "{{\"kind\":\"{KIND}\",\"queue\":\"{PARKED}\",\"concurrency_key\":\"{KEY}\",\"payload\":{}}}",
        payload()
    );
    intake::bulk(meter, &keyed, jobs).await?;
    intake::bulk(meter, &job(PARKED), jobs).await?;
    drain::drain(meter, PARKED, jobs).await
}
