//! What of the protocol this client knows, beside its methods: the kinds of everything that comes over the wire.
//!
//! `schema/registry.json` is this registry as data; `docs/protocol.md` is made from it, and the tests iterate it. A test
//! holds it against the protocol's own schema, so that nothing of a new version is overlooked.

use serde_json::{Value, json};

use super::{Gate, INBOUND, OUTBOUND, Offer, features};

/// A value that the protocol knows: a tag, a kind, a reason.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// As it is on the wire.
    pub name: &'static str,
    /// What one side must have advertised for the other to send it; empty: nothing.
    pub needs: &'static str,
    /// Whether it belongs to the unstable part of the protocol.
    pub unstable: bool,
}

const fn known(name: &'static str) -> Known {
    Known { name, needs: "", unstable: false }
}

const fn needing(name: &'static str, needs: &'static str) -> Known {
    Known { name, needs, unstable: false }
}

const fn unstable(name: &'static str, needs: &'static str) -> Known {
    Known { name, needs, unstable: true }
}

/// Kinds of `session/update`; what they need is the client's.
pub const UPDATES: &[Known] = &[
    known("user_message_chunk"),
    known("agent_message_chunk"),
    known("agent_thought_chunk"),
    known("tool_call"),
    known("tool_call_update"),
    known("plan"),
    needing("plan_update", "plan"),
    needing("plan_removed", "plan"),
    known("available_commands_update"),
    known("current_mode_update"),
    known("config_option_update"),
    known("session_info_update"),
    known("usage_update"),
    needing("notice", "session.notices"),
    needing("compaction_update", "session.compaction"),
    needing("compaction_summary_chunk", "session.compaction"),
    needing("subagent_update", "subagents"),
    needing("session_message", "subagents"),
    needing("session_message_chunk", "subagents"),
    unstable("prompt_suggestions_update", "session.promptSuggestions"),
    unstable("cursor_update", "session.cursors"),
];

/// Types of content blocks; what they need in a prompt is the agent's.
pub const CONTENT_BLOCKS: &[Known] = &[
    known("text"),
    needing("image", "promptCapabilities.image"),
    needing("audio", "promptCapabilities.audio"),
    known("resource_link"),
    needing("resource", "promptCapabilities.embeddedContext"),
];

/// Why a turn ends.
pub const STOP_REASONS: &[Known] =
    &[known("end_turn"), known("max_tokens"), known("max_turn_requests"), known("refusal"), known("cancelled")];

/// Types of authentication methods. A method without a type is an agent's own.
pub const AUTH_METHODS: &[Known] = &[known("agent"), needing("terminal", "auth.terminal")];

/// Kinds of tool calls.
pub const TOOL_KINDS: &[Known] = &[
    known("read"),
    known("edit"),
    known("delete"),
    known("move"),
    known("search"),
    known("execute"),
    known("think"),
    known("fetch"),
    known("switch_mode"),
    known("other"),
];

/// States of tool calls.
pub const TOOL_STATUSES: &[Known] = &[known("pending"), known("in_progress"), known("completed"), known("failed")];

/// Types of what a tool call shows.
pub const TOOL_CONTENT: &[Known] =
    &[known("content"), known("diff"), needing("terminal", "terminal"), needing("session", "subagents")];

/// Kinds of options of a permission request.
pub const PERMISSION_OPTIONS: &[Known] =
    &[known("allow_once"), known("allow_always"), known("reject_once"), known("reject_always")];

/// Types of configuration options.
pub const CONFIG_OPTIONS: &[Known] = &[known("select"), needing("boolean", "session.configOptions.boolean")];

/// Transports of MCP servers. A server without a type is one over stdio. One of type `acp` is served by the host.
pub const MCP_SERVERS: &[Known] = &[
    known("stdio"),
    needing("http", "mcpCapabilities.http"),
    needing("sse", "mcpCapabilities.sse"),
    unstable("acp", "mcpCapabilities.acp"),
];

/// Modes of elicitations.
pub const ELICITATION_MODES: &[Known] = &[needing("form", "elicitation.form"), needing("url", "elicitation.url")];

/// The tables by the names that `schema/registry.json` and `docs/protocol.md` give them.
pub const KINDS: &[(&str, &[Known])] = &[
    ("updates", UPDATES),
    ("contentBlocks", CONTENT_BLOCKS),
    ("stopReasons", STOP_REASONS),
    ("authMethods", AUTH_METHODS),
    ("toolKinds", TOOL_KINDS),
    ("toolStatuses", TOOL_STATUSES),
    ("toolContent", TOOL_CONTENT),
    ("permissionOptions", PERMISSION_OPTIONS),
    ("configOptions", CONFIG_OPTIONS),
    ("mcpServers", MCP_SERVERS),
    ("elicitationModes", ELICITATION_MODES),
];

/// Methods of the protocol's schema that this client neither calls nor handles, with the reason.
pub const LEFT_OUT: &[(&str, &str)] = &[];

/// Everything as data.
pub fn registry() -> Value {
    let outbound: Vec<_> = OUTBOUND
        .iter()
        .map(|method| {
            let (request, unstable, switched) = (method.request, method.unstable, method.switched);
            json!({ "name": method.name, "needs": needs(method.gate), "request": request, "unstable": unstable, "switched": switched })
        })
        .collect();
    let inbound: Vec<_> = INBOUND
        .iter()
        .map(|method| {
            let (request, switched) = (method.request, method.offer == Offer::Unstable);
            json!({ "name": method.name, "needs": offered(method.offer), "request": request, "unstable": switched, "switched": switched })
        })
        .collect();
    let parts: Vec<_> = features::ALL
        .iter()
        .map(|part| json!({ "name": part.name, "needs": needs(part.gate), "switched": part.switched }))
        .collect();
    let mut all = json!({ "agentMethods": outbound, "clientMethods": inbound, "parts": parts });
    for (name, entries) in KINDS {
        let entries: Vec<_> = entries
            .iter()
            .map(|known| json!({ "name": known.name, "needs": known.needs, "unstable": known.unstable }))
            .collect();
        all[*name] = entries.into();
    }
    all["leftOut"] = LEFT_OUT.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect();
    all
}

fn needs(gate: Gate) -> String {
    match gate {
        Gate::Baseline => String::new(),
        Gate::Flag(pointer) | Gate::Marker(pointer) => pointer.trim_start_matches('/').replace('/', "."),
        Gate::Session => "the session's own modes or options".to_owned(),
    }
}

fn offered(offer: Offer) -> &'static str {
    match offer {
        Offer::Baseline | Offer::Unstable => "",
        Offer::ReadTextFile => "fs.readTextFile",
        Offer::WriteTextFile => "fs.writeTextFile",
        Offer::Terminal => "terminal",
        Offer::Elicitation => "elicitation",
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
