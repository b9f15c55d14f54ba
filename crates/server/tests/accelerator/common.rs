//! What the worker by hand needs.

pub use crate::site::within;
