//! The REST door of a running server, as its clients see it.

mod bounds;
mod compat_a;
mod compat_b;
mod compat_c;
mod limits;
mod operations;
mod pages;
mod parents;
mod reads;
mod requests;
mod scaling;
mod schedules;
mod search;
mod site;
mod statistics;
mod traces;
mod ui;

mod compat_d;
