//! What handlers say while they run counts for their own job, and tells no secrets.

use ganger_core::JobId;
use ganger_core::lease::Fence;
use ganger_core::message::ToLeader;

use crate::world::{World, says};

fn progress(job: JobId, fence: Fence, note: &str) -> ToLeader {
    ToLeader::Progress { job, fence, fraction: 0.5, note: note.into() }
}

fn log(job: JobId, fence: Fence, text: &str) -> ToLeader {
    ToLeader::Log { job, fence, text: text.into() }
}

/// A worker that names another job beside its own fence, or another's fence, is not heard.
#[test]
fn nobody_speaks_for_the_job_of_another() {
    let mut world = World::with_workers(&[1, 1]);
    let (own, other) = (world.narrow(), world.narrow());
    let unknown = JobId::new(999, [7; 10]);
    let fences: Vec<Fence> = world.running.iter().map(|(_, work)| work.fence).collect();
    let speaker = world.running[0].0;
    for (job, fence) in [(other, fences[0]), (unknown, fences[0]), (other, fences[1]), (own, fences[1])] {
        world.give(vec![says(speaker, progress(job, fence, "mine")), says(speaker, log(job, fence, "mine"))]);
    }
    for job in [own, other, unknown] {
        assert_eq!(world.coordinator.progress(job), None);
    }
    assert_eq!(world.logged, []);
    world
        .give(vec![says(speaker, progress(own, fences[0], "half")), says(speaker, log(own, fences[0], "a"))]);
    assert_eq!(world.coordinator.progress(own), Some((0.5, "half".into())));
    assert_eq!(world.logged.iter().map(|lines| lines.job).collect::<Vec<_>>(), [own]);
}

#[test]
fn what_looks_like_a_secret_is_hidden_before_it_is_kept() {
    let mut world = World::with_workers(&[1]);
    let job = world.narrow();
    let (worker, work) = world.running[0].clone();
    world.give(vec![says(worker, progress(job, work.fence, "login with password=hunter2"))]);
    world.give(vec![says(worker, log(job, work.fence, "Authorization: Bearer abc.def\nuser=ada\n"))]);
    assert_eq!(world.coordinator.progress(job), Some((0.5, "login with password=[redacted]".into())));
    assert_eq!(world.logged[0].text, "Authorization: Bearer [redacted]\nuser=ada\n");
}
