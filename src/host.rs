//! The core's host port, answered by JavaScript.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use acp_runtime::delivery::{Kind, Outbox};
use acp_runtime::port::{BoxFuture, Host, McpRequest, PermissionDecision, PermissionRequest};
use acp_runtime::wire::encode::{Answer, AnswerError, code};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::hub::{Hub, push};

/// What JavaScript wants to be asked; anything else gets the core's denying default.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct Asks {
    /// Permission questions.
    pub permission: bool,
    /// Before a file is written.
    pub write: bool,
    /// Reads, instead of the core's files.
    pub serve_read: bool,
    /// Writes, instead of the core's files.
    pub serve_write: bool,
    /// Before a command runs.
    pub command: bool,
    /// Extension requests.
    pub extension: bool,
}

/// One client's host.
pub struct BindingHost {
    hub: Arc<Hub>,
    asks: Asks,
    /// The client's own channel, for what no session owns.
    control: Arc<Outbox>,
    /// Channels of open sessions, so that a question comes after what led to it.
    sessions: Mutex<HashMap<String, Arc<Outbox>>>,
    /// What the options allow without a question.
    pub allow: OnceLock<Allow>,
}

/// What needs no question because the host enabled it without a gate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allow {
    /// Writes inside the jail.
    pub write: bool,
    /// Commands in terminals.
    pub command: bool,
}

impl BindingHost {
    /// A host that asks through `hub`.
    pub fn new(hub: Arc<Hub>, control: Arc<Outbox>, asks: Asks, allow: Allow) -> Arc<Self> {
        let sessions = Mutex::default();
        Arc::new(Self { hub, asks, control, sessions, allow: OnceLock::from(allow) })
    }

    /// A session's channel became known.
    pub fn add_session(&self, session_id: &str, outbox: &Arc<Outbox>) {
        self.sessions().insert(session_id.to_owned(), Arc::clone(outbox));
    }

    /// A session ended, unless its id belongs to another one by now.
    pub fn remove_session(&self, session_id: &str, outbox: &Arc<Outbox>) {
        let mut sessions = self.sessions();
        if sessions.get(session_id).is_some_and(|of| Arc::ptr_eq(of, outbox)) {
            sessions.remove(session_id);
        }
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Outbox>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn channel(&self, session_id: Option<&str>) -> Arc<Outbox> {
        let session = session_id.and_then(|id| self.sessions().get(id).map(Arc::clone));
        session.unwrap_or_else(|| Arc::clone(&self.control))
    }

    fn ask(&self, session_id: Option<&str>, question: &impl Serialize) -> BoxFuture<Option<String>> {
        let channel = self.channel(session_id);
        self.hub.ask(&channel, question)
    }

    fn ask_allowed(&self, session_id: &str, question: &impl Serialize) -> BoxFuture<bool> {
        let answer = self.ask(Some(session_id), question);
        Box::pin(async move { answer.await.as_deref() == Some("true") })
    }
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Question<'a> {
    Permission {
        permission: &'a PermissionRequest,
    },
    #[serde(rename_all = "camelCase")]
    Write {
        session_id: &'a str,
        path: &'a str,
    },
    File {
        method: &'a str,
        params: &'a RawValue,
    },
    Command {
        params: &'a RawValue,
    },
    Elicitation {
        params: &'a RawValue,
    },
    Extension {
        method: &'a str,
        params: Option<&'a RawValue>,
    },
    Mcp {
        message: &'a McpRequest,
    },
}

/// JavaScript's answer to a permission question.
#[derive(Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
enum Decision {
    Allow,
    Deny,
    Cancel,
    #[serde(rename_all = "camelCase")]
    Select {
        option_id: String,
    },
}

/// JavaScript's answer to a request: a result, or an error, or that it knows no such method.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Result(Box<RawValue>),
    Error { code: i64, message: String, data: Option<serde_json::Value> },
    Unknown {},
}

impl Host for BindingHost {
    fn decides_permissions(&self) -> bool {
        self.asks.permission
    }

    fn permission(&self, request: PermissionRequest) -> BoxFuture<PermissionDecision> {
        let answer = self.ask(Some(&request.session_id), &Question::Permission { permission: &request });
        Box::pin(async move {
            match answer.await.and_then(|json| serde_json::from_str::<Decision>(&json).ok()) {
                Some(Decision::Allow) => PermissionDecision::AllowOnce,
                Some(Decision::Select { option_id }) => PermissionDecision::Select(option_id),
                Some(Decision::Cancel) => PermissionDecision::Cancel,
                Some(Decision::Deny) | None => PermissionDecision::Deny,
            }
        })
    }

    fn allow_write(&self, session_id: &str, path: &str) -> BoxFuture<bool> {
        if self.asks.write {
            return self.ask_allowed(session_id, &Question::Write { session_id, path });
        }
        Box::pin(std::future::ready(self.allow.get().is_some_and(|allow| allow.write)))
    }

    fn serve_file(&self, session_id: &str, method: &str, params: &RawValue) -> Option<BoxFuture<Answer>> {
        let served = if method == "fs/read_text_file" { self.asks.serve_read } else { self.asks.serve_write };
        if !served {
            return None;
        }
        let answer = self.ask(Some(session_id), &Question::File { method, params });
        let method = method.to_owned();
        Some(Box::pin(async move { read_reply(answer.await, &method) }))
    }

    fn allow_command(&self, session_id: &str, params: &RawValue) -> BoxFuture<bool> {
        if self.asks.command {
            return self.ask_allowed(session_id, &Question::Command { params });
        }
        Box::pin(std::future::ready(self.allow.get().is_some_and(|allow| allow.command)))
    }

    fn elicitation(&self, session_id: Option<&str>, params: &RawValue) -> BoxFuture<Answer> {
        let answer = self.ask(session_id, &Question::Elicitation { params });
        Box::pin(async move { read_reply(answer.await, "elicitation/create") })
    }

    fn extension_request(
        &self,
        session_id: Option<&str>,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<BoxFuture<Answer>> {
        if !self.asks.extension {
            return None;
        }
        let answer = self.ask(session_id, &Question::Extension { method, params });
        let method = method.to_owned();
        Some(Box::pin(async move { read_reply(answer.await, &method) }))
    }

    fn mcp_message(&self, session_id: Option<&str>, request: McpRequest) -> BoxFuture<Answer> {
        let answer = self.ask(session_id, &Question::Mcp { message: &request });
        Box::pin(async move { read_reply(answer.await, &request.method) })
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        #[derive(Serialize)]
        struct Notification<'a> {
            method: &'a str,
            params: Option<&'a RawValue>,
        }
        // A flood of notifications that nobody takes must not fill the memory.
        if !self.control.is_full() {
            push(&self.control, Kind::Notification, &Notification { method, params });
        }
    }

    fn outbox(&self) -> Option<Arc<Outbox>> {
        Some(Arc::clone(&self.control))
    }
}

fn read_reply(answer: Option<String>, method: &str) -> Answer {
    let failed = || AnswerError::new(code::INTERNAL_ERROR, "the client failed to handle the request");
    match answer.and_then(|json| serde_json::from_str::<Reply>(&json).ok()) {
        Some(Reply::Result(result)) => Ok(result),
        Some(Reply::Error { code, message, data }) => Err(AnswerError { code, message, data }),
        Some(Reply::Unknown {}) => Err(AnswerError::method_not_found(method)),
        None => Err(failed()),
    }
}
