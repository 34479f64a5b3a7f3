//! The one registry of protocol methods: what is advertised, what is handled, what may be called.
//!
//! `initialize` advertises from it, inbound requests are admitted by it, outbound calls are gated by it, and the tests
//! and `docs/protocol.md` iterate it. Nothing is advertised that is not handled; nothing is called that the agent did not
//! advertise (rules C13–C15, C21).

pub mod registry;

use serde_json::{Value, json};

use crate::error::{Error, ErrorCode, Result};

/// What the agent must have said in `initialize` before a method may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Every agent has it.
    Baseline,
    /// A boolean in `agentCapabilities` that must be `true`; a JSON pointer.
    Flag(&'static str),
    /// An object in `agentCapabilities` whose presence means support; a JSON pointer.
    Marker(&'static str),
    /// No capability; the session's own state offers it (`modes`, `configOptions`).
    Session,
}

/// A method that this client calls.
#[derive(Clone, Copy, Debug)]
pub struct OutboundMethod {
    /// The name on the wire.
    pub name: &'static str,
    /// When it may be called.
    pub gate: Gate,
    /// Whether it belongs to the unstable part of the protocol.
    pub unstable: bool,
    /// Whether the host has to ask for it, too ([`Offers::unstable`]).
    pub switched: bool,
    /// Whether it is a request, which gets a response.
    pub request: bool,
}

/// A part of a call that needs a capability of its own.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// What a person would call it.
    pub name: &'static str,
    /// When it may be used.
    pub gate: Gate,
    /// Whether the host has to ask for it, too ([`Offers::unstable`]).
    pub switched: bool,
}

/// What the host must have enabled before an agent's request is handled; anything else is answered −32601.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Always handled.
    Baseline,
    /// `fs.readTextFile`
    ReadTextFile,
    /// `fs.writeTextFile`
    WriteTextFile,
    /// All five terminal methods or none.
    Terminal,
    /// `elicitation.form` or `elicitation.url`.
    Elicitation,
    /// Nothing is advertised for it; the host asked for the unstable part of the protocol.
    Unstable,
}

/// A method that the agent calls.
#[derive(Clone, Copy, Debug)]
pub struct InboundMethod {
    /// The name on the wire.
    pub name: &'static str,
    /// When it is handled.
    pub offer: Offer,
    /// Whether it is a request, which gets exactly one response.
    pub request: bool,
}

const fn outbound(name: &'static str, gate: Gate) -> OutboundMethod {
    OutboundMethod { name, gate, unstable: false, switched: false, request: true }
}

const fn unstable(name: &'static str, gate: Gate) -> OutboundMethod {
    OutboundMethod { name, gate, unstable: true, switched: true, request: true }
}

const fn feature(name: &'static str, gate: Gate) -> Feature {
    Feature { name, gate, switched: false }
}

const fn request(name: &'static str, offer: Offer) -> InboundMethod {
    InboundMethod { name, offer, request: true }
}

const fn notification(name: &'static str, offer: Offer) -> InboundMethod {
    InboundMethod { name, offer, request: false }
}

/// Everything this client can call (schema 1.20.0, version 1).
pub const OUTBOUND: &[OutboundMethod] = &[
    outbound("initialize", Gate::Baseline),
    outbound("authenticate", Gate::Baseline),
    outbound("logout", Gate::Marker("/auth/logout")),
    outbound("session/new", Gate::Baseline),
    outbound("session/load", Gate::Flag("/loadSession")),
    outbound("session/resume", Gate::Marker("/sessionCapabilities/resume")),
    outbound("session/list", Gate::Marker("/sessionCapabilities/list")),
    outbound("session/delete", Gate::Marker("/sessionCapabilities/delete")),
    outbound("session/close", Gate::Marker("/sessionCapabilities/close")),
    outbound("session/set_mode", Gate::Session),
    outbound("session/set_config_option", Gate::Session),
    outbound("session/prompt", Gate::Baseline),
    OutboundMethod { request: false, ..outbound("session/cancel", Gate::Baseline) },
    // Older than the switch, and in wide use.
    OutboundMethod {
        name: "session/fork",
        gate: Gate::Marker("/sessionCapabilities/fork"),
        unstable: true,
        switched: false,
        request: true,
    },
    unstable("session/archive", Gate::Marker("/sessionCapabilities/archive")),
    unstable("session/unarchive", Gate::Marker("/sessionCapabilities/archive")),
    unstable("session/status", Gate::Marker("/sessionCapabilities/status")),
    unstable("session/options", Gate::Marker("/sessionCapabilities/options")),
    unstable("session/set_title", Gate::Marker("/sessionCapabilities/title")),
    unstable("auth/status", Gate::Marker("/auth/status")),
    unstable("providers/list", Gate::Marker("/providers")),
    unstable("providers/set", Gate::Marker("/providers")),
    unstable("providers/disable", Gate::Marker("/providers")),
    // What an MCP server of the host tells of a request.
    OutboundMethod { request: false, ..unstable("mcp/message", Gate::Flag("/mcpCapabilities/acp")) },
];

/// Parts of calls with a gate of their own.
pub mod features {
    use super::{Feature, Gate, feature};

    /// `session/…` with `additionalDirectories` (rule C25).
    pub const ADDITIONAL_DIRECTORIES: Feature =
        feature("additionalDirectories", Gate::Marker("/sessionCapabilities/additionalDirectories"));
    /// `session/…` with `systemPrompt` (rule C29).
    pub const SYSTEM_PROMPT: Feature = feature("a system prompt", Gate::Marker("/sessionCapabilities/systemPrompt"));
    /// A `systemPrompt` of mode `override` (rule C29).
    pub const SYSTEM_PROMPT_OVERRIDE: Feature =
        feature("a system prompt override", Gate::Marker("/sessionCapabilities/systemPrompt/mode/override"));
    /// `session/…` with `configOptions` (rule C30).
    pub const INITIAL_CONFIG_OPTIONS: Feature =
        Feature { name: "configOptions", gate: Gate::Marker("/sessionCapabilities/options"), switched: true };
    /// `session/fork` with `cursorId`. That the cursor lets itself be forked at is checked where cursors are known.
    pub const FORK_AT_CURSOR: Feature =
        Feature { name: "cursorId", gate: Gate::Marker("/sessionCapabilities/fork"), switched: true };
    /// `session/list` with `archived`.
    pub const LIST_ARCHIVED: Feature =
        Feature { name: "archived", gate: Gate::Marker("/sessionCapabilities/archive"), switched: true };
    /// An MCP server over HTTP (rule C26).
    pub const MCP_HTTP: Feature = feature("an MCP server of type http", Gate::Flag("/mcpCapabilities/http"));
    /// An MCP server over server-sent events (rule C26).
    pub const MCP_SSE: Feature = feature("an MCP server of type sse", Gate::Flag("/mcpCapabilities/sse"));
    /// An MCP server that the host serves over the connection.
    pub const MCP_ACP: Feature =
        Feature { name: "an MCP server of type acp", gate: Gate::Flag("/mcpCapabilities/acp"), switched: true };
    /// A prompt with an image (rule C32).
    pub const IMAGE: Feature = feature("a content block of type image", Gate::Flag("/promptCapabilities/image"));
    /// A prompt with audio (rule C32).
    pub const AUDIO: Feature = feature("a content block of type audio", Gate::Flag("/promptCapabilities/audio"));
    /// A prompt with an embedded resource (rule C32).
    pub const EMBEDDED_CONTEXT: Feature =
        feature("a content block of type resource", Gate::Flag("/promptCapabilities/embeddedContext"));

    /// All of them.
    pub const ALL: &[Feature] = &[
        ADDITIONAL_DIRECTORIES,
        SYSTEM_PROMPT,
        SYSTEM_PROMPT_OVERRIDE,
        INITIAL_CONFIG_OPTIONS,
        FORK_AT_CURSOR,
        LIST_ARCHIVED,
        MCP_HTTP,
        MCP_SSE,
        MCP_ACP,
        IMAGE,
        AUDIO,
        EMBEDDED_CONTEXT,
    ];
}

/// Everything this client handles.
pub const INBOUND: &[InboundMethod] = &[
    notification("session/update", Offer::Baseline),
    request("session/request_permission", Offer::Baseline),
    request("fs/read_text_file", Offer::ReadTextFile),
    request("fs/write_text_file", Offer::WriteTextFile),
    request("terminal/create", Offer::Terminal),
    request("terminal/output", Offer::Terminal),
    request("terminal/wait_for_exit", Offer::Terminal),
    request("terminal/kill", Offer::Terminal),
    request("terminal/release", Offer::Terminal),
    request("elicitation/create", Offer::Elicitation),
    notification("elicitation/complete", Offer::Elicitation),
    notification("auth/status_update", Offer::Unstable),
    // To a server of the host that a session was opened with.
    request("mcp/message", Offer::Unstable),
    notification("$/cancel_request", Offer::Baseline),
];

/// What the host enabled. Everything is off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the protocol")]
pub struct Offers {
    /// Answer `fs/read_text_file`.
    pub read_text_file: bool,
    /// Answer `fs/write_text_file`.
    pub write_text_file: bool,
    /// Answer the five terminal methods.
    pub terminal: bool,
    /// Answer `elicitation/create` in form mode.
    pub elicitation_form: bool,
    /// Answer `elicitation/create` in URL mode.
    pub elicitation_url: bool,
    /// Whether the launch can be repeated on a terminal for a person to sign in (rule C17).
    pub auth_terminal: bool,
    /// Take the additions of a full client: plans by id, notices, compaction, subagents, boolean config options; of the
    /// unstable part, cursors and prompt suggestions.
    pub rich_updates: bool,
    /// Use the unstable part of the protocol where the agent advertises it.
    pub unstable: bool,
}

impl Offers {
    /// Whether a method of the agent is handled.
    pub fn handles(&self, offer: Offer) -> bool {
        match offer {
            Offer::Baseline => true,
            Offer::ReadTextFile => self.read_text_file,
            Offer::WriteTextFile => self.write_text_file,
            Offer::Terminal => self.terminal,
            Offer::Elicitation => self.elicitation_form || self.elicitation_url,
            Offer::Unstable => self.unstable,
        }
    }

    /// The entry of a method the agent called, if it is handled.
    pub fn admit(&self, method: &str) -> Option<&'static InboundMethod> {
        INBOUND.iter().find(|m| m.name == method).filter(|m| self.handles(m.offer))
    }

    /// Whether a notification may reach the host: one of the protocol must be offered, any other is an extension.
    pub fn hears(&self, method: &str) -> bool {
        INBOUND.iter().find(|m| !m.request && m.name == method).is_none_or(|m| self.handles(m.offer))
    }

    /// The `clientCapabilities` of `initialize`. `fs` is always spelled out, as agents expect it.
    pub fn client_capabilities(&self) -> Value {
        let mut capabilities = json!({
            "fs": { "readTextFile": self.read_text_file, "writeTextFile": self.write_text_file },
        });
        if self.terminal {
            capabilities["terminal"] = json!(true);
        }
        if self.auth_terminal {
            capabilities["auth"] = json!({ "terminal": true });
        }
        let mut elicitation = serde_json::Map::new();
        if self.elicitation_form {
            elicitation.insert("form".to_owned(), json!({}));
        }
        if self.elicitation_url {
            elicitation.insert("url".to_owned(), json!({}));
        }
        if !elicitation.is_empty() {
            capabilities["elicitation"] = Value::Object(elicitation);
        }
        if self.rich_updates {
            capabilities["session"] = json!({ "compaction": {}, "configOptions": { "boolean": {} }, "notices": {} });
            if self.unstable {
                capabilities["session"]["cursors"] = json!({});
                // Of text and links, which every agent takes back as a prompt.
                capabilities["session"]["promptSuggestions"] = json!({});
            }
            capabilities["plan"] = json!({});
            capabilities["subagents"] = json!({});
        }
        capabilities
    }
}

/// What may be used of an agent: what it said it can do, kept as it was sent, and whether the host wants more than the
/// stable part of it.
#[derive(Clone, Debug, Default)]
pub struct AgentCapabilities {
    raw: Value,
    unstable: bool,
}

impl AgentCapabilities {
    /// From the `agentCapabilities` of the `initialize` result; anything but an object means none.
    pub fn new(capabilities: Option<Value>) -> Self {
        Self { raw: capabilities.filter(Value::is_object).unwrap_or_else(|| json!({})), unstable: false }
    }

    /// The same for a host that does, or does not, ask for the unstable part ([`Offers::unstable`]).
    #[must_use]
    pub fn with_unstable(self, unstable: bool) -> Self {
        Self { unstable, ..self }
    }

    /// As it was sent.
    pub fn raw(&self) -> &Value {
        &self.raw
    }

    /// Whether a gate is open. Omitted, null and wrong-typed markers mean unsupported (rule C13).
    pub fn allows(&self, gate: Gate) -> bool {
        match gate {
            Gate::Baseline | Gate::Session => true,
            Gate::Flag(pointer) => self.raw.pointer(pointer) == Some(&Value::Bool(true)),
            Gate::Marker(pointer) => self.raw.pointer(pointer).is_some_and(Value::is_object),
        }
    }

    /// Whether a method may be called, extension methods aside.
    pub fn allows_method(&self, method: &str) -> bool {
        OUTBOUND.iter().any(|m| m.name == method) && self.check(method).is_ok()
    }

    /// Refuses a call that the agent did not advertise, or that the host did not ask for. Extension methods (`_…`) are
    /// between host and agent.
    pub fn check(&self, method: &str) -> Result<()> {
        let Some(entry) = OUTBOUND.iter().find(|m| m.name == method) else {
            if method.starts_with('_') {
                return Ok(());
            }
            return Err(Error::invalid_argument(format!(
                "{method} is not a method of the protocol; extension methods start with an underscore"
            )));
        };
        self.admit(method, entry.gate, entry.switched, json!({ "method": method }))
    }

    /// The same for a part of a call.
    pub fn check_feature(&self, feature: &Feature) -> Result<()> {
        self.admit(feature.name, feature.gate, feature.switched, json!({}))
    }

    fn admit(&self, what: &str, gate: Gate, switched: bool, mut extra: Value) -> Result<()> {
        if switched && !self.unstable {
            extra["option"] = json!("unstable");
            let why = format!("{what} is not a stable part of the protocol; the host did not ask for it");
            return Err(Error::new(ErrorCode::UnsupportedCapability, why).with_extra(extra));
        }
        if self.allows(gate) {
            return Ok(());
        }
        let pointer = match gate {
            Gate::Flag(pointer) | Gate::Marker(pointer) => pointer.trim_start_matches('/').replace('/', "."),
            Gate::Baseline | Gate::Session => String::new(),
        };
        extra["capability"] = json!(pointer);
        let why = format!("the agent does not advertise {pointer}, which {what} needs");
        Err(Error::new(ErrorCode::UnsupportedCapability, why).with_extra(extra))
    }
}

#[cfg(test)]
#[path = "capabilities_tests.rs"]
mod tests;
