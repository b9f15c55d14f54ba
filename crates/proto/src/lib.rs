//! The wire types of Ganger, and the one place where they meet the rules of `core`.
//!
//! [`v1`] is generated from `proto/ganger/v1/*.proto` and committed, so that a build needs neither
//! protoc nor a build script. [`convert`] translates it to and from the messages of `core`; decoding
//! takes any rubbish and answers with an error that names the field.

pub mod convert;
pub mod span;

pub use convert::{DecodeError, Down, Parcel, Trace};
pub use prost::Message;

/// Largest message either side accepts. A larger one breaks the stream instead of the memory.
pub const MESSAGE_BYTES: usize = 8 << 20;

/// The generated wire types, clients and servers of package `ganger.v1`.
#[expect(
    clippy::all,
    clippy::too_many_lines,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    missing_docs,
    reason = "generated: its style is not ours to choose"
)]
pub mod v1 {
    include!("generated/ganger.v1.rs");
}

/// The generated wire types, clients and servers of package `dts`: the contract of a scheduler that Ganger stands in for.
#[expect(
    clippy::too_many_lines,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    missing_docs,
    reason = "generated: its style is not ours to choose"
)]
pub mod dts {
    include!("generated/dts.rs");
}

/// The generated wire types, clients and servers of package `grpc.health.v1`: the standard health protocol.
#[expect(
    clippy::all,
    clippy::too_many_lines,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    missing_docs,
    reason = "generated: its style is not ours to choose"
)]
pub mod health {
    include!("generated/grpc.health.v1.rs");
}
