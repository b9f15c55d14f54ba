//! A server that asks who calls, as those who call see it.

mod audit;
mod confined;
mod doors;
mod logins;
mod roles;
mod secrets;
mod site;
mod standby;
mod streams;
mod table;
