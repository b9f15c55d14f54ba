//! The REST door of a running server, as its clients see it.

mod bounds;
mod compat_a;
mod compat_b;
mod compat_c;
mod limits;
mod operations;
mod parents;
mod reads;
mod requests;
mod scaling;
mod schedules;
mod search;
mod site;
mod statistics;

mod compat_d;
