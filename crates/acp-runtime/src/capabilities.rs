//! The one registry of protocol methods: what is advertised, what is handled, what may be called.
//!
//! `initialize` advertises from it, inbound requests are admitted by it, outbound calls are gated by it, and the tests
//! and `docs/protocol.md` iterate it. Nothing is advertised that is not handled; nothing is called that the agent did not
//! advertise (rules C13–C15, C21).

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
    OutboundMethod { name, gate, unstable: false }
}

const fn unstable(name: &'static str, gate: Gate) -> OutboundMethod {
    OutboundMethod { name, gate, unstable: true }
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
    outbound("session/cancel", Gate::Baseline),
    unstable("session/fork", Gate::Marker("/sessionCapabilities/fork")),
    unstable("session/archive", Gate::Marker("/sessionCapabilities/archive")),
    unstable("session/unarchive", Gate::Marker("/sessionCapabilities/archive")),
    unstable("session/status", Gate::Marker("/sessionCapabilities/status")),
    unstable("session/options", Gate::Marker("/sessionCapabilities/options")),
    unstable("session/set_title", Gate::Marker("/sessionCapabilities/title")),
    unstable("auth/status", Gate::Marker("/auth/status")),
    unstable("providers/list", Gate::Marker("/providers")),
    unstable("providers/set", Gate::Marker("/providers")),
    unstable("providers/disable", Gate::Marker("/providers")),
];

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
    /// Take the additions of a full client: plans by id, notices, compaction, subagents, boolean config options.
    pub rich_updates: bool,
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
        }
    }

    /// The entry of a method the agent called, if it is handled.
    pub fn admit(&self, method: &str) -> Option<&'static InboundMethod> {
        INBOUND.iter().find(|m| m.name == method).filter(|m| self.handles(m.offer))
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
            capabilities["plan"] = json!({});
            capabilities["subagents"] = json!({});
        }
        capabilities
    }
}

/// What the agent said it can do, kept as it was sent.
#[derive(Clone, Debug, Default)]
pub struct AgentCapabilities(Value);

impl AgentCapabilities {
    /// From the `agentCapabilities` of the `initialize` result; anything but an object means none.
    pub fn new(capabilities: Option<Value>) -> Self {
        Self(capabilities.filter(Value::is_object).unwrap_or_else(|| json!({})))
    }

    /// As it was sent.
    pub fn raw(&self) -> &Value {
        &self.0
    }

    /// Whether a gate is open. Omitted, null and wrong-typed markers mean unsupported (rule C13).
    pub fn allows(&self, gate: Gate) -> bool {
        match gate {
            Gate::Baseline | Gate::Session => true,
            Gate::Flag(pointer) => self.0.pointer(pointer) == Some(&Value::Bool(true)),
            Gate::Marker(pointer) => self.0.pointer(pointer).is_some_and(Value::is_object),
        }
    }

    /// Refuses a call that the agent did not advertise. Extension methods (`_…`) are between host and agent.
    pub fn check(&self, method: &str) -> Result<()> {
        let Some(entry) = OUTBOUND.iter().find(|m| m.name == method) else {
            if method.starts_with('_') {
                return Ok(());
            }
            return Err(Error::invalid_argument(format!(
                "{method} is not a method of the protocol; extension methods start with an underscore"
            )));
        };
        if self.allows(entry.gate) {
            return Ok(());
        }
        let pointer = match entry.gate {
            Gate::Flag(pointer) | Gate::Marker(pointer) => pointer.trim_start_matches('/').replace('/', "."),
            Gate::Baseline | Gate::Session => String::new(),
        };
        Err(Error::new(
            ErrorCode::UnsupportedCapability,
            format!("the agent does not advertise {pointer}, which {method} needs"),
        )
        .with_extra(json!({ "method": method, "capability": pointer })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_advertised_by_default() {
        assert_eq!(
            Offers::default().client_capabilities(),
            json!({ "fs": { "readTextFile": false, "writeTextFile": false } })
        );
        for method in INBOUND {
            let baseline = method.offer == Offer::Baseline;
            assert_eq!(Offers::default().admit(method.name).is_some(), baseline, "{}", method.name);
        }
    }

    /// A value for a capability, and whether it means support for a flag or for a marker.
    fn capability() -> impl Strategy<Value = (Value, bool, bool)> {
        prop_oneof![
            Just((Value::Null, false, false)),
            Just((json!(false), false, false)),
            Just((json!(true), true, false)),
            Just((json!({}), false, true)),
            Just((json!({ "x": 1 }), false, true)),
            Just((json!("yes"), false, false)),
            Just((json!([]), false, false)),
            Just((json!(1), false, false)),
        ]
    }

    proptest! {
        /// Rule C13: any combination of capabilities opens exactly the calls it names.
        #[test]
        fn every_combination_opens_exactly_what_it_names(
            values in proptest::collection::vec(proptest::option::of(capability()), OUTBOUND.len()),
        ) {
            let mut raw = json!({});
            let mut open = std::collections::HashMap::new();
            for (method, value) in OUTBOUND.iter().zip(&values) {
                let (Gate::Flag(pointer) | Gate::Marker(pointer)) = method.gate else { continue };
                let Some((value, flag, marker)) = value else { continue };
                let mut at = &mut raw;
                let parts: Vec<_> = pointer.trim_start_matches('/').split('/').collect();
                for part in &parts[..parts.len() - 1] {
                    if !at[*part].is_object() {
                        at[*part] = json!({});
                    }
                    at = &mut at[*part];
                }
                let last = parts[parts.len() - 1];
                if at.get(last).is_none() {
                    at[last] = value.clone();
                    open.insert(pointer, if matches!(method.gate, Gate::Flag(_)) { *flag } else { *marker });
                }
            }
            let capabilities = AgentCapabilities::new(Some(raw));
            for method in OUTBOUND {
                let expected = match method.gate {
                    Gate::Baseline | Gate::Session => true,
                    Gate::Flag(p) | Gate::Marker(p) => open.get(p).copied().unwrap_or(false),
                };
                let checked = capabilities.check(method.name);
                prop_assert_eq!(checked.is_ok(), expected, "{}", method.name);
                if let Err(error) = checked {
                    prop_assert_eq!(error.code(), ErrorCode::UnsupportedCapability);
                }
            }
        }
    }

    #[test]
    fn extension_methods_pass_and_inventions_do_not() {
        let none = AgentCapabilities::new(None);
        assert!(none.check("_vendor/x").is_ok());
        assert_eq!(none.check("session/invented").unwrap_err().code(), ErrorCode::InvalidArgument);
    }
}
