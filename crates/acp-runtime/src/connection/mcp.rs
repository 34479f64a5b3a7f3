//! MCP servers that the host serves over the connection itself (`mcp/message`, unstable).
//!
//! A server is named by an id that the client chose, and belongs to the session that was opened with it: from the call that
//! opens the session, since the agent may use it before it answers, to the session's end. A request of the agent to it gets
//! one outcome of the server's own, a result or an error, inside a response of the protocol; an error of the protocol means
//! that the server was not reached. While a request is open the server may tell the agent things about it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::inbound::{Handler, Question, guard, is_clean};
use super::state::State;
use crate::error::{Error, Result};
use crate::port::McpRequest;
use crate::wire::encode::{self, Answer, AnswerError, code};

/// Longest id of a server or of a request to one, and longest method, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 1024;

/// Who has a server.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Owner {
    /// The session that a call is about to open.
    Call(u64),
    Session(String),
}

/// The servers of all sessions, by id.
#[derive(Debug, Default)]
pub(super) struct McpServers {
    owners: HashMap<String, Owner>,
}

impl McpServers {
    /// Gives servers to a call, or to the session that it reopens. An id is that of one server.
    pub(super) fn offer(&mut self, ids: Vec<String>, call: u64, session_id: Option<&str>) -> Result<()> {
        let mut fresh = std::collections::HashSet::new();
        if ids.iter().any(|id| self.owners.contains_key(id) || !fresh.insert(id)) {
            return Err(Error::invalid_argument("two MCP servers of type acp have the same serverId"));
        }
        let owner = session_id.map_or(Owner::Call(call), |id| Owner::Session(id.to_owned()));
        self.owners.extend(ids.into_iter().map(|id| (id, owner.clone())));
        Ok(())
    }

    /// The session of a call has its id.
    fn hand_over(&mut self, call: u64, session_id: &str) {
        for owner in self.owners.values_mut().filter(|owner| **owner == Owner::Call(call)) {
            *owner = Owner::Session(session_id.to_owned());
        }
    }

    fn take(&mut self, gone: &Owner) -> Vec<String> {
        self.owners.extract_if(|_, owner| owner == gone).map(|(id, _)| id).collect()
    }
}

/// Which request to which server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct McpKey {
    pub server_id: String,
    pub request_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    server_id: &'a str,
    request_id: &'a str,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
}

impl State {
    /// A request of the agent to a server.
    pub(super) fn mcp_message(&mut self, params: &RawValue) -> std::result::Result<Handler, AnswerError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Message<'a> {
            server_id: String,
            request_id: String,
            method: String,
            #[serde(borrow)]
            params: Option<&'a RawValue>,
        }
        let invalid = |why: &str| AnswerError::new(code::INVALID_PARAMS, why);
        let Message { server_id, request_id, method, params } =
            serde_json::from_str(params.get()).map_err(|error| invalid(&error.to_string()))?;
        let fits = |name: &str| !name.is_empty() && is_clean(name, MAX_NAME_BYTES);
        if !(fits(&request_id) && fits(&method)) {
            return Err(invalid("requestId and method are neither empty nor long, and have no control characters"));
        }
        let params = params.filter(|params| params.get() != "null");
        if params.is_some_and(|params| !params.get().starts_with('{')) {
            return Err(invalid("the params of the message are no object"));
        }
        let (session_id, call) = match self.mcp.owners.get(&server_id) {
            Some(Owner::Session(session_id)) => (Some(session_id.clone()), None),
            Some(Owner::Call(call)) => (None, Some(*call)),
            None => {
                let message = "MCP server not found".to_owned();
                let shown: String = server_id.chars().take(MAX_NAME_BYTES).collect();
                let data = Some(json!({ "serverId": shown }));
                return Err(AnswerError { code: code::RESOURCE_NOT_FOUND, message, data });
            }
        };
        let key = McpKey { server_id: server_id.clone(), request_id };
        if self.asks_mcp(&key) {
            return Err(invalid("a request of this requestId is open"));
        }
        self.flush_for_host(session_id.as_deref());
        let request =
            McpRequest { server_id, request_id: key.request_id.clone(), method, params: params.map(ToOwned::to_owned) };
        let outcome = guard(|| self.host.mcp_message(session_id.as_deref(), request));
        let future = Box::pin(async move {
            match outcome {
                Ok(outcome) => carried(outcome.await),
                Err(error) => carried(Err(error)),
            }
        });
        Ok(Handler::Asked(Question::of_mcp(key, session_id, call), future))
    }

    /// What a server tells of a request that is open; of one that is not, there is nothing to tell any more.
    pub(super) fn notify_mcp(&mut self, key: &McpKey, method: &str, params: Option<&RawValue>) {
        if !self.asks_mcp(key) {
            return;
        }
        let McpKey { server_id, request_id } = key;
        match encode::raw(&Told { server_id, request_id, method, params }) {
            Ok(params) => self.write(|out| encode::notification(out, "mcp/message", Some(&params))),
            Err(error) => tracing::error!(target: "acp::connection", %error, "a message could not be encoded"),
        }
    }

    /// The session that a call opened has its id.
    pub(super) fn hand_over_mcp(&mut self, call: u64, session_id: &str) {
        self.mcp.hand_over(call, session_id);
    }

    /// The servers of a call that opened nothing are gone.
    pub(super) fn forget_mcp_of_call(&mut self, call: u64) {
        self.forget_mcp(&Owner::Call(call));
    }

    /// The servers of a session are gone with it.
    pub(super) fn forget_mcp_of_session(&mut self, session_id: &str) {
        self.forget_mcp(&Owner::Session(session_id.to_owned()));
    }

    fn forget_mcp(&mut self, gone: &Owner) {
        let gone = self.mcp.take(gone);
        if !gone.is_empty() {
            self.take_back_mcp(&gone);
        }
    }
}

/// A server's outcome in the protocol's response.
fn carried(outcome: Answer) -> Answer {
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Carrier<'a> {
        Result(&'a RawValue),
        Error(&'a AnswerError),
    }
    let carrier = match &outcome {
        Ok(result) => Carrier::Result(result),
        Err(error) => Carrier::Error(error),
    };
    encode::raw(&carrier).map_err(|error| AnswerError::new(code::INTERNAL_ERROR, error.to_string()))
}
