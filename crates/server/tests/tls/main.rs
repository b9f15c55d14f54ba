//! TLS on the one port, as clients see it.

mod authority;
mod doors;
mod refused;
mod relayed;
mod site;
