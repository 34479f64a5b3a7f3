//! The client side of the [Agent Client Protocol](https://agentclientprotocol.com): the connection, ownership of the
//! agent's process tree, and the security floor. Knows nothing of JavaScript.
#![warn(missing_docs)]

pub mod capabilities;
pub mod delivery;
pub mod error;
pub mod pending;
pub mod port;
pub mod process;
pub mod services;
pub mod text;
pub mod wire;
