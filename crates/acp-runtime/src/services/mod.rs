//! What the client does on behalf of the agent: the permission floor, files, terminals.

pub mod agent;
mod clean;
mod decode;
pub mod elicitation;
pub mod fs;
pub mod permission;
pub mod terminal;
