//! `initialize` and `authenticate`.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::LaunchOptions;
use crate::capabilities::AgentCapabilities;
use crate::connection::{CallOptions, Connection};
use crate::error::{Error, ErrorCode, Phase, Result};
use crate::process::ProcessTree;
use crate::text::sanitize::strip_control_sequences;
use crate::wire::encode;
use crate::wire::schema::PROTOCOL_VERSION;

/// JSON-RPC code of agents that name the versions they speak instead of answering `initialize`.
const UNSUPPORTED_VERSION: i64 = -32022;
/// How often an extended handshake looks for progress.
const PROGRESS_POLL: Duration = Duration::from_millis(200);
/// Most that the answer to `initialize` may hold, in bytes: it is kept as values, which take many times as much.
const MAX_FACTS_BYTES: usize = 1024 * 1024;
/// The default limit of `authenticate`.
const AUTHENTICATE_TIMEOUT: Duration = Duration::from_secs(60);

/// Limits of the handshake.
#[derive(Clone, Copy, Debug)]
pub struct HandshakeOptions {
    /// How long `initialize` may take. 30 s by default.
    pub timeout: Duration,
    /// With this set, `timeout` counts from the last sign of life, a byte on stderr or stdout, and this is the hard cap
    /// (field case P17: cold package runners take minutes, and say so).
    pub extend_to: Option<Duration>,
}

impl Default for HandshakeOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), extend_to: None }
    }
}

/// How to sign in.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Authenticate {
    /// Method ids, the preferred first.
    pub prefer_methods: Vec<String>,
    /// The one method wanted; goes before the preferences.
    pub method_id: Option<String>,
    /// `_meta` of the call.
    pub meta: Option<Value>,
    /// Whether it is a failure that no wanted method is advertised.
    pub require: bool,
    /// The limit of the call in milliseconds; 60 s by default, 0 for none.
    pub timeout_ms: Option<u64>,
}

/// What the agent said in `initialize`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentFacts {
    /// The negotiated version.
    pub protocol_version: u16,
    /// Whether the version was written as no integer.
    #[serde(skip)]
    pub odd_version: bool,
    /// As sent; `null` when absent.
    pub agent_info: Value,
    /// Read through the registry.
    #[serde(serialize_with = "raw_capabilities", rename = "agentCapabilities")]
    pub capabilities: AgentCapabilities,
    /// As sent, without entries that have no string `id`.
    pub auth_methods: Vec<Value>,
    /// As sent.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

fn raw_capabilities<S: serde::Serializer>(capabilities: &AgentCapabilities, serializer: S) -> Result<S::Ok, S::Error> {
    capabilities.raw().serialize(serializer)
}

impl AgentFacts {
    fn read(result: &RawValue) -> Result<Self> {
        let bytes = result.get().len();
        if bytes > MAX_FACTS_BYTES {
            let message = format!("the agent's answer to initialize has {bytes} bytes, {MAX_FACTS_BYTES} at most");
            return Err(Error::new(ErrorCode::MalformedResponse, message).in_phase(Phase::Initialize));
        }
        let mut result: Map<String, Value> =
            serde_json::from_str(result.get()).map_err(|_| incompatible(&Value::Null))?;
        let version = result.get("protocolVersion").cloned().unwrap_or(Value::Null);
        // The integer is compared; a string, a date, anything else is another protocol (field case W10).
        if !(exact(&version) || odd(&version)) {
            return Err(incompatible(&version));
        }
        let auth_methods = match result.remove("authMethods") {
            Some(Value::Array(methods)) => {
                methods.into_iter().filter(|m| m.get("id").is_some_and(Value::is_string)).collect()
            }
            _ => Vec::new(),
        };
        Ok(Self {
            protocol_version: PROTOCOL_VERSION,
            odd_version: !exact(&version),
            agent_info: result.remove("agentInfo").filter(Value::is_object).unwrap_or(Value::Null),
            capabilities: AgentCapabilities::new(result.remove("agentCapabilities")),
            auth_methods,
            meta: result.remove("_meta").filter(Value::is_object),
        })
    }

    /// Ids of the advertised methods.
    pub fn auth_method_ids(&self) -> Vec<&str> {
        self.auth_methods.iter().filter_map(|m| m["id"].as_str()).collect()
    }
}

/// Our version as the integer that it is.
fn exact(version: &Value) -> bool {
    version.as_u64() == Some(u64::from(PROTOCOL_VERSION))
}

/// Our version as `1.0` or `1e0`: the same number, from a language without integers.
fn odd(version: &Value) -> bool {
    version.is_f64() && version.as_f64() == Some(f64::from(PROTOCOL_VERSION))
}

fn incompatible(version: &Value) -> Error {
    let shown: String = strip_control_sequences(&version.to_string()).chars().take(100).collect();
    let message =
        format!("ACP agent negotiated incompatible protocol version {shown} (client supports {PROTOCOL_VERSION})");
    Error::new(ErrorCode::IncompatibleProtocol, message)
        .in_phase(Phase::Initialize)
        .with_extra(json!({ "agentProtocolVersion": bounded(version), "expected": PROTOCOL_VERSION }))
}

/// A version as the agent said it, unless that is unreasonably long.
fn bounded(version: &Value) -> Value {
    if version.to_string().len() <= 1000 { version.clone() } else { Value::Null }
}

/// Initialises and, where asked for, signs in.
pub(super) async fn run(
    connection: &Connection,
    tree: &Arc<ProcessTree>,
    options: &LaunchOptions,
) -> Result<AgentFacts> {
    let mut capabilities = options.offers.client_capabilities();
    if let Some(meta) = &options.capabilities_meta {
        capabilities["_meta"] = meta.clone();
    }
    let params = encode::raw(&json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": capabilities,
        "clientInfo": options.client_info,
    }))?;
    let call = connection.call("initialize", Some(params), CallOptions::plain(Phase::Initialize));
    let result = tokio::select! {
        result = call => result.map_err(version_refused)?,
        limit = too_late(connection, tree, &options.handshake) => return Err(timed_out(connection, tree, limit, &options.spec.command)),
    };
    let mut facts = AgentFacts::read(&result)?;
    if facts.odd_version {
        connection.diagnostics().quirk(1);
    }
    facts.capabilities = facts.capabilities.with_unstable(options.offers.unstable);
    connection.set_facts(facts.capabilities.clone(), Value::Array(facts.auth_methods.clone()));
    if let Some(wanted) = &options.authenticate {
        authenticate(connection, &facts, wanted).await?;
    }
    Ok(facts)
}

/// Some agents answer an unknown version with an error that lists theirs.
fn version_refused(error: Error) -> Error {
    let refused = error.details().rpc.as_ref().filter(|rpc| rpc.code == UNSUPPORTED_VERSION);
    let Some(rpc) = refused.cloned() else { return error };
    let supported = rpc.data.as_ref().and_then(|d| serde_json::from_str::<Value>(d.get()).ok()).unwrap_or(Value::Null);
    let mut incompatible = incompatible(&supported["supported"]);
    incompatible.details_mut().rpc = Some(rpc);
    incompatible
}

/// Resolves when the handshake has taken too long, with the limit that was broken.
async fn too_late(connection: &Connection, tree: &Arc<ProcessTree>, options: &HandshakeOptions) -> Duration {
    let start = Instant::now();
    let Some(cap) = options.extend_to else {
        tokio::time::sleep(options.timeout).await;
        return options.timeout;
    };
    let signs = || connection.diagnostics().bytes() + tree.stderr().bytes_seen();
    let (mut seen, mut last_sign) = (signs(), start);
    loop {
        tokio::time::sleep(PROGRESS_POLL.min(options.timeout)).await;
        let (now, signs) = (Instant::now(), signs());
        if signs != seen {
            (seen, last_sign) = (signs, now);
        }
        if now - start >= cap {
            return cap;
        }
        if now - last_sign >= options.timeout {
            return now - start;
        }
    }
}

fn timed_out(connection: &Connection, tree: &Arc<ProcessTree>, limit: Duration, command: &str) -> Error {
    let diagnostics = connection.diagnostics();
    let heard = if !diagnostics.heard_anything() {
        "no bytes received on stdout".to_owned()
    } else if let Some(noise) = diagnostics.first_noise() {
        format!("stdout began with: {noise}")
    } else {
        "stdout had no answer".to_owned()
    };
    let tail = tree.stderr().tail();
    let last = tail.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
    let last: String = last.trim().chars().take(300).collect();
    let stderr = if last.is_empty() { String::new() } else { format!("; last stderr line: {last}") };
    let timeout_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let mut error = Error::new(
        ErrorCode::HandshakeTimeout,
        format!("ACP initialize handshake timed out after {timeout_ms}ms ({heard}{stderr}; command: {command})"),
    )
    .in_phase(Phase::Initialize)
    .with_extra(json!({ "timeoutMs": timeout_ms, "heard": heard, "command": command }));
    error.details_mut().stderr_tail = (!tail.trim().is_empty()).then_some(tail);
    error
}

/// Signs in with the wanted method, else the first preferred one that the agent advertised. Returns its id, or `None` when
/// there is none and none is required.
pub(super) async fn authenticate(
    connection: &Connection,
    facts: &AgentFacts,
    wanted: &Authenticate,
) -> Result<Option<String>> {
    // A terminal method is a command for a person, never a call (rule C16).
    let callable: Vec<&str> =
        facts.auth_methods.iter().filter(|m| m["type"] != "terminal").filter_map(|m| m["id"].as_str()).collect();
    let chosen = wanted.method_id.iter().chain(&wanted.prefer_methods).find(|id| callable.contains(&id.as_str()));
    let Some(method_id) = chosen else {
        if !wanted.require {
            return Ok(None);
        }
        let available = facts.auth_method_ids();
        let message = if available.is_empty() {
            "ACP agent requires authentication but advertised no auth methods".to_owned()
        } else {
            format!(
                "ACP agent requires authentication but no preferred method matched (available: {})",
                shown_methods(&available)
            )
        };
        return Err(Error::new(ErrorCode::AuthRequired, message)
            .in_phase(Phase::Authenticate)
            .with_extra(json!({ "availableMethodIds": available, "authMethods": facts.auth_methods })));
    };
    let mut params = json!({ "methodId": method_id });
    if let Some(meta) = &wanted.meta {
        params["_meta"] = meta.clone();
    }
    let timeout = wanted.timeout_ms.map_or(AUTHENTICATE_TIMEOUT, Duration::from_millis);
    let options = CallOptions::plain(Phase::Authenticate).timeout(Some(timeout).filter(|limit| !limit.is_zero()));
    connection.call("authenticate", Some(encode::raw(&params)?), options).await?;
    Ok(Some(method_id.clone()))
}

/// How many ways to sign in a message names, and how many characters of each.
const MAX_SHOWN_METHODS: usize = 32;
const MAX_SHOWN_METHOD: usize = 64;

/// The ids of ways to sign in, as a message names them.
pub(crate) fn shown_methods(ids: &[impl AsRef<str>]) -> String {
    let shown = |id: &str| strip_control_sequences(id).chars().take(MAX_SHOWN_METHOD).collect::<String>();
    ids.iter().take(MAX_SHOWN_METHODS).map(|id| shown(id.as_ref())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "literals are passed")]
    fn read(json: Value) -> Result<AgentFacts> {
        AgentFacts::read(&encode::raw(&json).unwrap())
    }

    #[test]
    fn only_the_integer_is_compatible_and_what_was_said_is_kept() {
        assert!(!read(json!({ "protocolVersion": 1 })).unwrap().odd_version);
        for same in ["1.0", "1e0", "10E-1", "1.000"] {
            let raw = RawValue::from_string(format!(r#"{{"protocolVersion":{same}}}"#)).unwrap();
            let facts = AgentFacts::read(&raw).unwrap();
            assert_eq!((facts.protocol_version, facts.odd_version), (1, true), "{same}");
        }
        for other in [
            json!(0),
            json!(2),
            json!(7),
            json!(65536),
            json!("1"),
            json!("1.0"),
            json!(1.5),
            json!(-1.0),
            json!(1.000_000_1),
            json!(null),
        ] {
            let error = read(json!({ "protocolVersion": other })).unwrap_err();
            assert_eq!(error.code(), ErrorCode::IncompatibleProtocol);
            assert_eq!(error.details().extra.as_ref().unwrap()["agentProtocolVersion"], other);
            assert!(error.to_string().contains(&other.to_string()), "{error}");
        }
        assert_eq!(read(json!({})).unwrap_err().code(), ErrorCode::IncompatibleProtocol);
        assert_eq!(read(json!([])).unwrap_err().code(), ErrorCode::IncompatibleProtocol);
    }

    #[test]
    fn an_answer_beyond_its_limit_is_not_read() {
        let answer = |bytes| json!({ "protocolVersion": 1, "_meta": { "x": "y".repeat(bytes) } });
        assert!(read(answer(MAX_FACTS_BYTES - 100)).is_ok());
        let error = read(answer(MAX_FACTS_BYTES)).unwrap_err();
        assert_eq!((error.code(), error.details().phase), (ErrorCode::MalformedResponse, Some(Phase::Initialize)));
        assert!(error.to_string().contains("1048576 at most"), "{error}");
    }

    #[test]
    fn wrong_typed_members_count_as_absent() {
        let facts = read(json!({
            "protocolVersion": 1, "agentCapabilities": [], "agentInfo": "x", "authMethods": [{ "id": 1 }, { "id": "a" }],
        }))
        .unwrap();
        assert_eq!(facts.capabilities.raw(), &json!({}));
        assert_eq!((facts.agent_info.clone(), facts.auth_method_ids()), (Value::Null, vec!["a"]));
    }
}
