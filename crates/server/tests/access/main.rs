//! A server that asks who calls, as those who call see it.

mod confined;
mod logins;
mod roles;
mod site;
mod streams;
mod table;
