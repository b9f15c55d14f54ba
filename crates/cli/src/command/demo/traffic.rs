//! Which jobs come when. Pure: the same seed makes the same jobs in the same order.

use std::time::Duration;

use ganger_server::api::{HumanDuration, NewJobRequest, ParentRequest, RetryRequest, Timeout};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::value::to_raw_value;

use super::handlers::Plan;
use super::{BEAT, TAG};

/// The queues.
pub(super) const QUEUES: [&str; 4] = ["demo.mail", "demo.media", "demo.reports", "demo.billing"];
/// Tenants, and their shares.
const TENANTS: [(&str, u16); 4] = [("acme", 5), ("globex", 3), ("initech", 1), ("umbrella", 1)];
/// Whose interfaces are called, one at a time.
const PARTNERS: [&str; 3] = ["bank-north", "bank-south", "card-desk"];
/// How long a wave lasts, in beats: a minute.
const WAVE: f64 = 300.0;
/// How much higher than the average its top is.
const SWELL: f64 = 0.7;
/// Beats between two families of jobs, and between two jobs that are thought better of.
const FAMILY: u64 = 20;
const REGRET: u64 = 40;
/// Parts that a report is made of.
const PARTS: usize = 6;

/// What comes at a time.
#[derive(Debug, Default)]
pub(super) struct Beat {
    pub(super) number: u64,
    pub(super) jobs: Vec<NewJobRequest>,
    /// Jobs that depend on each other: parts, and what joins them.
    pub(super) family: Vec<NewJobRequest>,
    /// One that is cancelled at once.
    pub(super) regretted: Option<NewJobRequest>,
}

/// A source of jobs.
#[derive(Debug)]
pub(super) struct Traffic {
    random: StdRng,
    rate: f64,
    beats: u64,
    /// The part of a job that is not yet due.
    carried: f64,
    count: u64,
}

impl Traffic {
    pub(super) fn new(seed: u64, rate: u32) -> Traffic {
        Traffic { random: StdRng::seed_from_u64(seed), rate: rate.into(), beats: 0, carried: 0.0, count: 0 }
    }

    /// The jobs of the next beat.
    pub(super) fn beat(&mut self) -> Beat {
        self.beats += 1;
        let wave = 1.0 + SWELL * (self.beats as f64 / WAVE * std::f64::consts::TAU).sin();
        self.carried += self.rate * BEAT.as_secs_f64() * wave;
        let mut jobs = Vec::new();
        // Bounded by the rate.
        while self.carried >= 1.0 {
            self.carried -= 1.0;
            jobs.push(self.job());
        }
        let family = if self.beats % FAMILY == 1 { self.family() } else { Vec::new() };
        let regretted = (self.beats % REGRET == 5).then(|| {
            let job = self.of("demo.email.send", "demo.mail", Plan { ms: 50, ..Plan::default() });
            NewJobRequest { delay: Some(HumanDuration(Duration::from_secs(3_600))), ..job }
        });
        Beat { number: self.beats, jobs, family, regretted }
    }

    fn job(&mut self) -> NewJobRequest {
        let mut job = match self.random.random_range(0..100) {
            0..46 => self.email(),
            46..68 => self.image(),
            68..77 => self.video(),
            77..90 => self.invoice(),
            _ => self.report(),
        };
        if self.random.random_ratio(1, 20) {
            let later = Duration::from_secs(self.random.random_range(3..60));
            job.delay = Some(HumanDuration(later));
        }
        job
    }

    fn email(&mut self) -> NewJobRequest {
        let ms = self.random.random_range(20..160);
        let number = self.count;
        let (fails, fatal, error) = match self.random.random_range(0..100) {
            0..6 => (1, false, "SmtpError: 421 4.7.0 try again later".to_owned()),
            6..8 => (9, false, "SmtpError: connection to smtp.example.com:587 refused".to_owned()),
            8 => (9, true, format!("SmtpError: 550 mailbox user{number}@example.com unavailable")),
            _ => (0, false, String::new()),
        };
        let plan = Plan { ms, fails, fatal, error, ..Plan::default() };
        let mut job = self.of("demo.email.send", "demo.mail", plan);
        job.priority = self.random.random_ratio(1, 10).then_some(10);
        job
    }

    fn image(&mut self) -> NewJobRequest {
        let ms = self.random.random_range(60..300);
        let fails = if self.random.random_ratio(1, 25) { 2 } else { 0 };
        let error = if fails > 0 { "DecodeError: unexpected end of file" } else { "" };
        self.of("demo.image.resize", "demo.media", Plan { ms, fails, error: error.into(), ..Plan::default() })
    }

    fn video(&mut self) -> NewJobRequest {
        let ms = self.random.random_range(600..3_000);
        let mut job = self.of("demo.video.encode", "demo.media", Plan { ms, steps: 10, ..Plan::default() });
        job.priority = Some(-5);
        if self.random.random_ratio(1, 6) {
            job.timeout = Some(Timeout::After(Duration::from_millis(500)));
            job.max_attempts = Some(2);
        }
        job
    }

    fn invoice(&mut self) -> NewJobRequest {
        let ms = self.random.random_range(40..200);
        let (fails, fatal, error) = match self.random.random_range(0..100) {
            0..5 => (9, true, "PaymentError: card declined"),
            5..9 => (1, false, "PaymentError: gateway answered 502"),
            _ => (0, false, ""),
        };
        let throttled_ms = if self.random.random_ratio(1, 30) { 3_000 } else { 0 };
        let plan = Plan { ms, fails, fatal, error: error.into(), throttled_ms, ..Plan::default() };
        let mut job = self.of("demo.invoice.charge", "demo.billing", plan);
        let partner = PARTNERS[self.random.random_range(0..PARTNERS.len())];
        job.concurrency_key = Some(partner.into());
        // Now and then an order is charged that is being charged already.
        let order = self.count.saturating_sub(self.random.random_range(0..3) * 7);
        job.unique_key = Some(format!("order-{}", order / 4));
        job
    }

    fn report(&mut self) -> NewJobRequest {
        let ms = self.random.random_range(100..500);
        let fails = if self.random.random_ratio(1, 30) { 9 } else { 0 };
        let error = if fails > 0 { "SqlError: relation \"sales_2026\" does not exist" } else { "" };
        self.of(
            "demo.report.part",
            "demo.reports",
            Plan { ms, fails, error: error.into(), ..Plan::default() },
        )
    }

    /// Parts of a report, and the job that joins them once all have ended.
    fn family(&mut self) -> Vec<NewJobRequest> {
        let mut jobs: Vec<NewJobRequest> = (0..PARTS)
            .map(|_| {
                let ms = self.random.random_range(300..1_500);
                self.of("demo.report.part", "demo.reports", Plan { ms, steps: 3, ..Plan::default() })
            })
            .collect();
        let mut join = self.of("demo.report.join", "demo.reports", Plan { ms: 400, ..Plan::default() });
        join.depends_on = Some((0..PARTS).map(|part| ParentRequest::Id(format!("#{part}"))).collect());
        jobs.push(join);
        jobs
    }

    fn of(&mut self, kind: &str, queue: &str, mut plan: Plan) -> NewJobRequest {
        self.count += 1;
        let (tenant, weight) = TENANTS[self.random.random_range(0..TENANTS.len())];
        plan.customer = tenant.into();
        plan.number = self.count;
        let seconds = |seconds| Some(HumanDuration(Duration::from_secs(seconds)));
        NewJobRequest {
            kind: kind.into(),
            queue: Some(queue.into()),
            // Texts and numbers always serialise.
            payload: to_raw_value(&plan).ok(),
            max_attempts: Some(3),
            retry: Some(RetryRequest {
                base: seconds(2),
                factor: Some(2.0),
                max: seconds(20),
                jitter: Some(0.3),
            }),
            timeout: Some(Timeout::After(Duration::from_secs(30))),
            fair_key: Some(tenant.into()),
            fair_weight: Some(weight),
            tags: Some(vec![TAG.into(), format!("tenant-{tenant}")]),
            ..NewJobRequest::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(seed: u64, beats: usize) -> Vec<NewJobRequest> {
        let mut traffic = Traffic::new(seed, 20);
        (0..beats)
            .map(|_| traffic.beat())
            .flat_map(|beat| beat.jobs.into_iter().chain(beat.family).chain(beat.regretted))
            .collect()
    }

    #[test]
    fn a_seed_decides_every_job() {
        let text = |seed| serde_json::to_string(&all(seed, 100)).unwrap();
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }

    #[test]
    fn a_minute_has_the_rate_that_was_asked_for_and_something_of_everything() {
        let jobs = all(1, 300);
        let families = 300usize.div_ceil(FAMILY as usize) * (PARTS + 1);
        let ordinary = jobs.len() - families - 300 / REGRET as usize;
        assert!((1_190..=1_210).contains(&ordinary), "{ordinary}");
        let some = |what: &str, has: &dyn Fn(&NewJobRequest) -> bool| {
            assert!(jobs.iter().any(has), "no job with {what}");
        };
        some("a delay", &|job| job.delay.is_some());
        some("a dependency", &|job| job.depends_on.is_some());
        some("a priority", &|job| job.priority == Some(10));
        some("a concurrency key", &|job| job.concurrency_key.is_some());
        some("a unique key", &|job| job.unique_key.is_some());
        some("a short timeout", &|job| job.max_attempts == Some(2));
        assert!(jobs.iter().all(|job| job.tags.iter().flatten().any(|tag| tag == TAG)));
        assert!(jobs.iter().all(|job| job.kind.starts_with("demo.")));
    }
}
