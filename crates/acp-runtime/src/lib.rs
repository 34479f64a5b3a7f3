//! The client side of the [Agent Client Protocol](https://agentclientprotocol.com): the connection, ownership of the
//! agent's process tree, and the security floor. Knows nothing of JavaScript.
#![warn(missing_docs)]

pub mod ask;
pub mod bridge;
pub mod capabilities;
pub mod client;
pub mod connection;
pub mod delivery;
pub mod diagnostics;
pub mod error;
pub mod pending;
pub mod port;
pub mod probe;
pub mod process;
pub mod services;
pub mod session;
pub mod text;
pub mod trace;
pub mod verdict;
pub mod wire;
