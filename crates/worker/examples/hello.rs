//! A worker in a dozen lines. Try it: `ganger dev`, this, and `ganger enqueue greet -p '"Ada"' --wait`.

use ganger_worker::{Ctx, Job, JobError, Worker};

const GREET: Job<String, String> = Job::new("greet");

async fn greet(ctx: Ctx, name: String) -> Result<String, JobError> {
    ctx.log(format!("attempt {} of {}", ctx.attempt(), ctx.max_attempts()));
    Ok(format!("hello, {name}"))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    Worker::connect("http://127.0.0.1:8080").name("hello").threads(4).handle(&GREET, greet).run().await?;
    Ok(())
}
