//! The one place that imports the official schema crate.
//!
//! Everything else names protocol types through this module, so that a new schema version is a change here.

pub use agent_client_protocol_schema::v1::{
    AgentCapabilities, AuthMethod, ClientCapabilities, InitializeResponse, McpCapabilities, PromptCapabilities,
    SessionCapabilities,
};

/// The protocol version this client speaks, an integer on the wire.
pub const PROTOCOL_VERSION: u16 = 1;
