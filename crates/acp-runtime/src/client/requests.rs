//! Parameters of the session methods, checked here so that a mistake never reaches the wire.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::AgentFacts;
use super::secrets::MIN_ENV_SECRET_BYTES;
use crate::capabilities::{AgentCapabilities, features};
use crate::connection::MAX_NAME_BYTES;
use crate::error::{Error, Result};
use crate::wire::encode;

/// What a session is opened with.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionRequest {
    /// The working directory: absolute (rules C8, C24).
    pub cwd: String,
    /// MCP servers in the protocol's shape; an empty list is sent when there are none.
    pub mcp_servers: Vec<Value>,
    /// More directories, absolute; only for agents that advertise them (rule C25).
    pub additional_directories: Option<Vec<String>>,
    /// `{mode, content}`; only for agents that advertise it (rule C29).
    pub system_prompt: Option<Value>,
    /// Values to start with, each `{configId, value}`, a boolean one with `type: "boolean"`; only for agents that advertise
    /// them, and hosts that use the unstable part (rule C30).
    pub config_options: Option<Vec<Value>>,
    /// The cursor to fork at; only for hosts that use the unstable part, and a cursor that the agent offers for that.
    pub cursor_id: Option<String>,
    /// `_meta` of the call; trace context is in it (rule C63).
    #[serde(rename = "_meta")]
    pub meta: Option<Value>,
    /// How long the agent may take.
    #[serde(skip)]
    pub timeout: Option<Duration>,
}

impl SessionRequest {
    /// A session in `cwd` and nothing else.
    pub fn new(cwd: impl Into<String>) -> Self {
        Self { cwd: cwd.into(), ..Self::default() }
    }

    /// What is secret in it: the environment and the headers of its MCP servers (field case F04).
    pub(super) fn secrets(&self) -> Vec<String> {
        let values = |list: &Value| -> Vec<String> {
            list.as_array().into_iter().flatten().filter_map(|pair| pair["value"].as_str().map(str::to_owned)).collect()
        };
        let mut secrets = Vec::new();
        for server in &self.mcp_servers {
            secrets.extend(values(&server["env"]).into_iter().filter(|value| value.len() >= MIN_ENV_SECRET_BYTES));
            for header in values(&server["headers"]) {
                // The credential alone, without its scheme.
                secrets.extend(header.split_once(' ').map(|(_, credential)| credential.to_owned()));
                secrets.push(header);
            }
        }
        secrets
    }

    /// Ids of the MCP servers that the host serves over the connection.
    pub(super) fn served_here(&self) -> Vec<String> {
        let servers = self.mcp_servers.iter().filter(|server| server["type"] == "acp");
        servers.filter_map(|server| server["serverId"].as_str().map(str::to_owned)).collect()
    }

    /// The parameters of `method`, for an agent with these capabilities.
    pub(super) fn params(
        &self,
        method: &str,
        id: Option<&str>,
        capabilities: &AgentCapabilities,
    ) -> Result<Box<RawValue>> {
        absolute("cwd", &self.cwd)?;
        for server in &self.mcp_servers {
            check_mcp_server(server, capabilities)?;
        }
        let mut params = json!({ "cwd": self.cwd, "mcpServers": self.mcp_servers });
        if let Some(id) = id {
            params["sessionId"] = json!(id);
        }
        if let Some(directories) = &self.additional_directories {
            capabilities.check_feature(&features::ADDITIONAL_DIRECTORIES)?;
            for directory in directories {
                absolute("additionalDirectories", directory)?;
            }
            params["additionalDirectories"] = json!(directories);
        }
        if let Some(prompt) = &self.system_prompt {
            check_system_prompt(prompt, capabilities)?;
            params["systemPrompt"] = prompt.clone();
        }
        if let Some(options) = &self.config_options {
            capabilities.check_feature(&features::INITIAL_CONFIG_OPTIONS)?;
            options.iter().try_for_each(check_config_option)?;
            params["configOptions"] = json!(options);
        }
        if let Some(cursor_id) = &self.cursor_id {
            if method != "session/fork" {
                return Err(Error::invalid_argument("only a fork begins at a cursor"));
            }
            capabilities.check_feature(&features::FORK_AT_CURSOR)?;
            params["cursorId"] = json!(cursor_id);
        }
        if let Some(meta) = self.meta.as_ref().filter(|m| m.as_object().is_some_and(|m| !m.is_empty())) {
            params["_meta"] = meta.clone();
        }
        tracing::debug!(target: "acp::session", method, mcp_servers = self.mcp_servers.len(), "opening a session");
        encode::raw(&params)
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Prompt<'a> {
    session_id: &'a str,
    #[serde(rename = "prompt")]
    blocks: &'a RawValue,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

/// Refuses parameters that need more of the agent than their method does.
pub(super) fn check_params(method: &str, params: &RawValue, facts: &AgentFacts) -> Result<()> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        archived: Option<IgnoredAny>,
        session_id: Option<IgnoredAny>,
        method_id: Option<String>,
    }
    if !matches!(method, "authenticate" | "session/list" | "session/options") {
        return Ok(());
    }
    let Ok(params) = serde_json::from_str::<Params>(params.get()) else {
        return Err(Error::invalid_argument(format!("the parameters of {method} are not what it takes")));
    };
    let capabilities = &facts.capabilities;
    match method {
        // A terminal method is a command for a person, never a call (rule C16).
        "authenticate"
            if facts
                .auth_methods
                .iter()
                .any(|m| m["type"] == "terminal" && m["id"].as_str() == params.method_id.as_deref()) =>
        {
            Err(Error::invalid_argument("a terminal method is run by a person in a terminal, not by a call"))
        }
        "session/list" if params.archived.is_some() => capabilities.check_feature(&features::LIST_ARCHIVED),
        // Options of a session that is not open: whoever cannot reopen it has no use for them (rule C30).
        "session/options" if params.session_id.is_some() && !capabilities.allows_method("session/load") => {
            capabilities.check("session/resume")
        }
        _ => Ok(()),
    }
}

/// The parameters of `session/prompt`.
pub(super) fn prompt_params(
    session_id: &str,
    blocks: &RawValue,
    meta: Option<&RawValue>,
    capabilities: &AgentCapabilities,
) -> Result<Box<RawValue>> {
    let listed: Vec<Block<'_>> = serde_json::from_str(blocks.get())
        .map_err(|_| Error::invalid_argument("a prompt is a list of content blocks, each with a type"))?;
    if listed.is_empty() {
        return Err(Error::invalid_argument("a prompt needs at least one content block"));
    }
    for block in listed {
        let (feature, needed) = match &*block.kind {
            "text" => (None, &[("text", block.text)][..]),
            "resource_link" => (None, &[("name", block.name), ("uri", block.uri)][..]),
            "image" => (Some(features::IMAGE), &[("data", block.data), ("mimeType", block.mime_type)][..]),
            "audio" => (Some(features::AUDIO), &[("data", block.data), ("mimeType", block.mime_type)][..]),
            "resource" => (Some(features::EMBEDDED_CONTEXT), &[][..]),
            other => return Err(Error::invalid_argument(format!("{other} is not a type of content block"))),
        };
        if let Some((missing, _)) = needed.iter().find(|(_, value)| !value.is_some_and(|v| v.get().starts_with('"'))) {
            let message = format!("in a prompt, a block of type {} has {missing}, a string", block.kind);
            return Err(Error::invalid_argument(message));
        }
        if block.kind == "resource" && !block.resource.is_some_and(|value| value.get().starts_with('{')) {
            return Err(Error::invalid_argument("in a prompt, a block of type resource has resource, an object"));
        }
        if let Some(feature) = feature {
            capabilities.check_feature(&feature)?;
        }
    }
    encode::raw(&Prompt { session_id, blocks, meta })
}

/// A content block, as far as its type needs something (spec: Content).
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(rename = "mimeType", borrow)]
    mime_type: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    resource: Option<&'a RawValue>,
}

fn absolute(what: &str, path: &str) -> Result<()> {
    if Path::new(path).is_absolute() && !path.contains('\0') {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("{what} must be an absolute path")))
}

/// `{configId, value}` with a string, or `type: "boolean"` and a boolean (rule C62).
fn check_config_option(option: &Value) -> Result<()> {
    let fits = match option.get("type").and_then(Value::as_str) {
        Some("boolean") => option["value"].is_boolean(),
        _ => option["value"].is_string(),
    };
    if option["configId"].is_string() && fits {
        return Ok(());
    }
    Err(Error::invalid_argument("a configuration option has a configId, and a value that fits its type"))
}

/// The shapes of the protocol (rule C26, field case P19): agents answer the wrong one with a bare −32602.
fn check_mcp_server(server: &Value, capabilities: &AgentCapabilities) -> Result<()> {
    let wrong = |why: &str| Err(Error::invalid_argument(format!("an MCP server {why}")));
    if !server["name"].is_string() {
        return wrong("has no name");
    }
    let pairs = |value: &Value| {
        value.as_array().is_some_and(|list| list.iter().all(|p| p["name"].is_string() && p["value"].is_string()))
    };
    match server.get("type").and_then(Value::as_str) {
        None | Some("stdio") => {
            let strings = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
            if !server["command"].is_string() {
                return wrong("over stdio has no command");
            }
            if !strings(&server["args"]) {
                return wrong("over stdio needs a list of args");
            }
            if !pairs(&server["env"]) {
                return wrong("over stdio needs its env as a list of {name, value}");
            }
            Ok(())
        }
        Some(kind @ ("http" | "sse")) => {
            if !server["url"].is_string() {
                return wrong("over HTTP has no url");
            }
            if !pairs(&server["headers"]) {
                return wrong("over HTTP needs its headers as a list of {name, value}");
            }
            capabilities.check_feature(if kind == "http" { &features::MCP_HTTP } else { &features::MCP_SSE })
        }
        Some("acp") => {
            if !server["serverId"].as_str().is_some_and(|id| !id.is_empty() && id.len() <= MAX_NAME_BYTES) {
                return wrong("of type acp has no serverId, or a long one");
            }
            capabilities.check_feature(&features::MCP_ACP)
        }
        Some(_) => wrong("has an unknown type"),
    }
}

fn check_system_prompt(prompt: &Value, capabilities: &AgentCapabilities) -> Result<()> {
    capabilities.check_feature(&features::SYSTEM_PROMPT)?;
    if prompt["mode"] == "override" {
        capabilities.check_feature(&features::SYSTEM_PROMPT_OVERRIDE)?;
    }
    let texts = prompt["content"].as_array().filter(|blocks| !blocks.is_empty());
    if texts.is_some_and(|blocks| blocks.iter().all(|b| b["type"] == "text" && b["text"].is_string())) {
        return Ok(());
    }
    Err(Error::invalid_argument("the content of a system prompt is a list of text blocks, not empty"))
}
