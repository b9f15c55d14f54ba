//! What those who watch Ganger see: a private Prometheus, the queries of dashboards and alerts asked of it, and the manual of metrics.

pub(crate) mod manual;
pub(crate) mod prometheus;
pub(crate) mod queries;
