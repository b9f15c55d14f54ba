//! The REST door of a running server, as its clients see it.

mod bounds;
mod limits;
mod parents;
mod reads;
mod requests;
mod site;
mod statistics;
