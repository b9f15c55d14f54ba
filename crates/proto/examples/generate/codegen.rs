//! From `.proto` files to Rust, without protoc: shared by the example that writes the committed
//! code and the test that compares it.

use std::path::Path;

/// Every contract, relative to the `proto` directory.
const CONTRACTS: [&str; 13] = [
    "ganger/v1/worker.proto",
    "ganger/v1/jobs.proto",
    "ganger/v1/queues.proto",
    "ganger/v1/keys.proto",
    "ganger/v1/kinds.proto",
    "ganger/v1/schedules.proto",
    "ganger/v1/operations.proto",
    "ganger/v1/failures.proto",
    "ganger/v1/views.proto",
    "ganger/v1/workers.proto",
    "ganger/v1/server.proto",
    "dts/client.proto",
    "grpc/health/v1/health.proto",
];

/// Writes one Rust file per protobuf package into `out`.
pub(crate) fn generate(out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let descriptors = protox::compile(CONTRACTS, [&root])?;
    tonic_prost_build::configure().out_dir(out).emit_rerun_if_changed(false).compile_fds(descriptors)?;
    Ok(())
}
