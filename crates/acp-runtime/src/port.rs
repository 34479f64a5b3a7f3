//! What the host side implements: the questions that only a host can answer.
//!
//! Every default denies. The connection calls these on its own task and awaits the futures elsewhere, so a slow host
//! stalls nothing but the request it is asked about. A future that is dropped means that the question is moot: the turn was
//! cancelled, the agent took the request back, or the connection ended.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::delivery::Outbox;
use crate::error::ExitFacts;
use crate::services::permission::PermissionOption;
use crate::wire::encode::{Answer, AnswerError};

/// A boxed future, as trait objects need it.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An agent's request for permission (`session/request_permission`), as the host sees it: cleaned and bounded.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// The session that asks, or the one that the child session that asks belongs to.
    pub session_id: String,
    /// The child session that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_session_id: Option<String>,
    /// What is known of the tool call: every `tool_call`, every update and the request itself, merged.
    pub tool_call: Box<RawValue>,
    /// The options, in the agent's order; those of unknown kind included.
    pub options: Vec<PermissionOption>,
}

/// A request of the agent to an MCP server that the host serves over the connection.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct McpRequest {
    /// The server, by the id that the host gave it.
    pub server_id: String,
    /// The agent's name for the request; unique for the server while the request is open.
    pub request_id: String,
    /// The method of MCP.
    pub method: String,
    /// An object, where there is one, as the agent wrote it.
    pub params: Option<Box<RawValue>>,
}

/// The host's decision. The runtime checks that a chosen option was offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionDecision {
    /// Allow this one call: the only `allow_once` option; denied when there is none or more than one.
    AllowOnce,
    /// Choose an option by its id.
    Select(String),
    /// Deny: `reject_once` where offered, else `cancelled`. Never an `*_always` option.
    Deny,
    /// Answer `cancelled`.
    Cancel,
}

/// The host of a connection.
pub trait Host: Send + Sync + 'static {
    /// Whether [`Host::permission`] is to be asked. A host that never decides spares the work of showing it what it would deny.
    fn decides_permissions(&self) -> bool {
        true
    }

    /// Decides a permission request. Absent, late or failing means [`PermissionDecision::Deny`].
    fn permission(&self, request: PermissionRequest) -> BoxFuture<PermissionDecision> {
        let _ = request;
        Box::pin(std::future::ready(PermissionDecision::Deny))
    }

    /// Decides a file write inside the jail, after every check of the jail passed. Asked only where writes are enabled.
    fn allow_write(&self, session_id: &str, path: &str) -> BoxFuture<bool> {
        let _ = (session_id, path);
        Box::pin(std::future::ready(false))
    }

    /// Serves `fs/read_text_file` or `fs/write_text_file` itself, from the buffers of an editor for one, instead of this
    /// crate's own files: then neither the jail nor [`Host::allow_write`] sees the request. `None`: the crate serves it.
    /// Asked only where the method is enabled.
    fn serve_file(&self, session_id: &str, method: &str, params: &RawValue) -> Option<BoxFuture<Answer>> {
        let _ = (session_id, method, params);
        None
    }

    /// Decides a command that the agent wants to run in a terminal. Asked only where terminals are enabled.
    fn allow_command(&self, session_id: &str, params: &RawValue) -> BoxFuture<bool> {
        let _ = (session_id, params);
        Box::pin(std::future::ready(false))
    }

    /// Answers a form or URL elicitation. Asked only where elicitation is enabled.
    fn elicitation(&self, session_id: Option<&str>, params: &RawValue) -> BoxFuture<Answer> {
        let _ = (session_id, params);
        Box::pin(std::future::ready(Ok(cancelled_elicitation())))
    }

    /// Answers an extension request (`_…`). `None`: not known, answered −32601.
    fn extension_request(
        &self,
        session_id: Option<&str>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<BoxFuture<Answer>> {
        let _ = (session_id, method, params);
        None
    }

    /// Answers a request to an MCP server that the host serves over the connection: with the server's result, or its error.
    /// `session_id` is absent while the session is being opened. What the server tells meanwhile goes through
    /// [`crate::connection::Connection::notify_mcp`].
    fn mcp_message(&self, session_id: Option<&str>, request: McpRequest) -> BoxFuture<Answer> {
        let _ = session_id;
        Box::pin(std::future::ready(Err(AnswerError::method_not_found(&request.method))))
    }

    /// A notification that no session owns: extensions, `elicitation/complete`.
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let _ = (method, params);
    }

    /// Where the questions that no session owns are queued for the host. While it is full nothing more is read from the
    /// agent. `None`: they wait nowhere.
    fn outbox(&self) -> Option<Arc<Outbox>> {
        None
    }

    /// The connection ended; nothing follows.
    fn closed(&self, exit: &ExitFacts) {
        let _ = exit;
    }
}

/// The host that denies everything: the read-only posture of a one-shot ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

impl Host for DenyAll {
    fn decides_permissions(&self) -> bool {
        false
    }
}

/// Answers the file and terminal requests that [`Offers`] admits.
pub trait Services: Send + Sync + 'static {
    /// A session opened in this directory. Called before the agent can ask anything of it.
    fn session_opened(&self, session_id: &str, cwd: &Path) {
        let _ = (session_id, cwd);
    }
    /// Answers one request of a session. `None`: not handled.
    fn request(
        &self,
        session_id: &str,
        method: &str,
        params: &RawValue,
        host: &Arc<dyn Host>,
    ) -> Option<BoxFuture<Answer>>;
    /// The connection is about to end: nothing is started from now on, whoever allows it. Must not block; called from any
    /// thread, and more than once.
    fn closing(&self) {}
    /// The session is over.
    fn session_closed(&self, session_id: &str);
    /// The connection is over; everything that the services started ends.
    fn closed(&self) -> BoxFuture<()>;
}

/// Services of a host that offers none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoServices;

impl Services for NoServices {
    fn request(&self, _: &str, _: &str, _: &RawValue, _: &Arc<dyn Host>) -> Option<BoxFuture<Answer>> {
        None
    }

    fn session_closed(&self, _: &str) {}

    fn closed(&self) -> BoxFuture<()> {
        Box::pin(std::future::ready(()))
    }
}

fn cancelled_elicitation() -> Box<RawValue> {
    // The text is a constant and valid JSON; the fallback is never taken.
    RawValue::from_string(r#"{"action":"cancel"}"#.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
